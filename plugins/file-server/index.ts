import { contractVersion, definePlugin } from '@tollgate/plugin-kit'
import { sftpServer } from './sftp-server.ts'

export { sftpServer } from './sftp-server.ts'

/** An SFTP server from which merchants read their report files. */
export default definePlugin({
  name: 'file-server',
  contract: contractVersion,
  servers: [sftpServer()],
})
