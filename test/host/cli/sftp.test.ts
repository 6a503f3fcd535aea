/** `tollgate sftp` serves report files in a command of its own. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import ssh2, { type SFTPWrapper } from 'ssh2'
import { fingerprintOf } from '../../../plugins/file-transfer/ssh.ts'
import { startGateway, type TestGateway, testKey } from '../../rig/gateway.ts'
import { publishReport } from '../../rig/report-files.ts'
import { newSshKey } from '../../rig/ssh-keys.ts'
import { projectFolder, runTollgate, startTollgate } from './tollgate.ts'

describe('the command line: sftp', () => {
  const plugin = join(import.meta.dirname, '../../../plugins/file-server/index.ts')
  let run: TestGateway
  let project: Awaited<ReturnType<typeof projectFolder>>

  before(async () => {
    run = await startGateway({ role: 'api' })
    project = await projectFolder()
  })
  after(async () => {
    await run.close()
    await project.remove()
  })

  const where = () => ({
    folder: project.path,
    env: { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey },
  })

  test('without the plugin the command names it', async () => {
    const { code, err } = await runTollgate(['sftp', '--port', '0'], where())
    assert.equal(code, 1)
    assert.match(err, /No plugin brings the server "sftp"\. Load one .*@tollgate\/file-server\.\n$/)
  })

  test('a key reads the files of its entity from a process that ends in order', async () => {
    const settings = `import fileServer from '${plugin}'\nexport default { plugins: [fileServer] }\n`
    await writeFile(join(project.path, 'tollgate.config.ts'), settings)
    const key = newSshKey()
    await run.gateway.servedFiles.createKey({ entityId: run.merchant, publicKey: key.public })
    const file = await publishReport(run, run.merchant, Buffer.from('a;b\r\n'))
    const serving = startTollgate(['sftp', '--port', '0'], where())
    await serving.said(/Listens on/)
    const { out } = serving.text
    const [, port] = /sftp:\/\/127\.0\.0\.1:(\d+)\./.exec(out) ?? []
    const [, fingerprint] = /Host key {2}(SHA256:\S+)/.exec(out) ?? []
    const client = new ssh2.Client()
    client.connect({
      ...{ host: '127.0.0.1', port: Number(port), username: run.merchant, privateKey: key.private },
      hostVerifier: (shown: Buffer) => fingerprintOf(shown) === fingerprint,
    })
    await once(client, 'ready')
    const sftp = await new Promise<SFTPWrapper>((resolve, reject) =>
      client.sftp((error, opened) => (error ? reject(error) : resolve(opened))),
    )
    const bytes = await new Promise<Buffer>((resolve, reject) =>
      sftp.readFile(file.name, (error, read) => (error ? reject(error) : resolve(read))),
    )
    assert.equal(bytes.toString(), 'a;b\r\n')
    const closed = once(client, 'close')
    client.end()
    await closed
    assert.equal((await serving.end()).code, 0)
  })
})
