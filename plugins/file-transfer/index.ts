import { contractVersion, definePlugin } from '@tollgate/plugin-kit'
import { ftps } from './ftps.ts'
import { sftp } from './sftp.ts'

export { ftps } from './ftps.ts'
export { sftp } from './sftp.ts'

/** Report files to the SFTP and FTPS servers of merchants, and files from those of acquirers. */
export default definePlugin({
  name: 'file-transfer',
  contract: contractVersion,
  transfers: [sftp, ftps],
})
