/** A connector fetches the files of its acquirer from an SFTP folder, through the engine. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sftp } from '@tollgate/file-transfer'
import { type Context, type RemoteFile, Sensitive } from '@tollgate/plugin-kit'
import { fetchFiles } from '../../../core/settlement/fetch.ts'
import {
  type SettlingRun,
  settled,
  settlementFile,
  settlingAcquirer,
  startSettling,
} from '../../rig/settlement.ts'
import { type SftpFolder, startSftpFolder } from '../../rig/sftp-folder.ts'
import { type OpenEngine, openEngine } from './engines.ts'

describe('a fetch by SFTP', () => {
  let folder: SftpFolder
  let run: SettlingRun
  let engine: OpenEngine

  async function* fetch(cursor = '', context: Context): AsyncGenerator<RemoteFile> {
    const session = await context.transfer('sftp', {
      ...{ host: '127.0.0.1', port: folder.port, folder: '.', user: folder.user },
      password: new Sensitive(folder.password),
      hostKeys: [folder.hostKey],
    })
    const names = (await session.list()).map(({ name }) => name).filter((name) => name > cursor)
    for (const name of names.sort()) {
      yield { name, cursor: name, open: async () => session.get(name) }
    }
  }

  before(async () => {
    folder = await startSftpFolder()
    const acquirer = settlingAcquirer({ fetch })
    run = await startSettling({
      role: 'api',
      acquirer: { ...acquirer, plugin: { ...acquirer.plugin, transfers: [sftp] } },
    })
    engine = await openEngine(run)
  })
  after(async () => {
    await engine.close()
    await run.close()
    await folder.close()
  })

  const names = async () => (await run.gateway.settlement.files()).map(({ name }) => name).reverse()
  const put = (name: string) =>
    writeFileSync(join(folder.path, name), settlementFile([settled({ id: name })]))

  test('stores new files, and a connection that ends in the middle leaves the rest to the next fetch', async () => {
    put('2026-03-30.csv')
    put('2026-03-31.csv')
    await fetchFiles(engine.engine, run.account)
    assert.deepEqual(await names(), ['2026-03-30.csv', '2026-03-31.csv'])
    put('2026-04-01.csv')
    folder.fail('write', 'cut')
    await fetchFiles(engine.engine, run.account)
    assert.equal((await names()).length, 2)
    folder.heal()
    await fetchFiles(engine.engine, run.account)
    assert.deepEqual((await names()).at(-1), '2026-04-01.csv')
  })
})
