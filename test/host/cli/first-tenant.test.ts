/** The steps of docs/deployment.md to a first payment channel, as they stand there. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeKey } from '../../../core/index.ts'
import { tellWithoutAcquirer } from '../../../host/serve/serve.ts'
import { createDatabase } from '../../rig/database.ts'
import { root } from '../../rig/sources.ts'
import { runLines } from './on-path.ts'
import { projectFolder } from './tollgate.ts'

test('the commands of the page make a tenant with an account and a token', async () => {
  const page = readFileSync(join(root, 'docs/deployment.md'), 'utf8')
  const section = page.split('\n## ').find((part) => part.startsWith('The first live tenant'))!
  const [, script = ''] = /```sh\n(.*?)```/s.exec(section)!
  const database = await createDatabase()
  const project = await projectFolder()
  const secrets = { apiKey: 'a key of 16 characters', eventSecret: 'a secret of 16 characters' }
  await writeFile(join(project.path, 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 })
  const config = `export { default } from '${join(root, 'connectors/acquirer-json/index.ts')}'\n`
  await writeFile(join(project.path, 'bank.ts'), config)
  try {
    const out = await runLines(`${script}\ntollgate account list`, {
      folder: project.path,
      env: {
        DATABASE_URL: database.url,
        TOLLGATE_KEYS: makeKey('main'),
        TOLLGATE_PLUGINS: './bank.ts',
        TOLLGATE_CONNECTORS: '{"acquirer-json":{"url":"https://bank.example"}}',
      },
    })
    assert.match(out, /^token +\S{20,}$/m)
    assert.match(out, /acquirer-json +EXTERNAL .* enabled$/m)
  } finally {
    await database.drop()
    await project.remove()
  }
})

test('a live start without a connector for live accounts is told in the log', () => {
  const told = (environment: 'test' | 'live', modes: readonly string[]) => {
    const lines: string[] = []
    const gateway = { environment, accounts: { connectors: () => [{ modes }] } }
    const log = { info() {}, warn: (_: object, text: string) => void lines.push(text) }
    tellWithoutAcquirer(gateway as never, { log: log as never })
    return lines
  }
  assert.match(told('live', ['INTERNAL']).join(), /^no plugin brings a connector for live accounts/)
  assert.deepEqual([told('live', ['EXTERNAL', 'LIVE']), told('test', ['INTERNAL'])], [[], []])
})
