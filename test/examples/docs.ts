import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createGateway, localKeys, makeKey } from '../../core/index.ts'
import { createDatabase, type TestDatabase } from '../rig/database.ts'
import { packedProject } from '../rig/packed.ts'
import { root } from '../rig/sources.ts'

const run = promisify(execFile)
const keys = makeKey('main')
let packed: string
let database: TestDatabase
let entityId: string

/** The first fenced block of a language in a document. */
function block(document: string, language: string): string {
  const text = readFileSync(path.join(root, document), 'utf8')
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``).exec(text)
  assert.ok(found, `${document} has a block of ${language}`)
  return found[1]!
}

function program(file: string, source: string) {
  writeFileSync(path.join(packed, file), source)
  return run(process.execPath, [file], {
    cwd: packed,
    env: { ...process.env, DATABASE_URL: database.url, TOLLGATE_KEYS: keys, ENTITY_ID: entityId },
  })
}

before(async () => {
  packed = await packedProject([])
  database = await createDatabase()
  await using gateway = await createGateway({
    database: { url: database.url },
    environment: 'test',
    keys: localKeys(keys),
    plugins: [],
  })
  const psp = await gateway.entities.create({ kind: 'psp', name: 'Docs' })
  const division = await gateway.entities.create({ kind: 'division', name: 'Docs', parentId: psp })
  const merchant = await gateway.entities.create({
    kind: 'merchant',
    name: 'Docs',
    parentId: division,
  })
  entityId = await gateway.entities.create({ kind: 'channel', name: 'Docs', parentId: merchant })
})
after(async () => {
  await database.drop()
})

test('the program in the README takes a payment and prints its event', async () => {
  const source = `const entityId = process.env.ENTITY_ID\n${block('README.md', 'js')}\nconsole.log(payment.result.code)`
  const { stdout } = await program('readme.mjs', source)
  assert.match(stdout, /payment\.approved [0-9a-f]{32}\n000\.100\.110\n/)
})

test('the engine accepts the connector in the guide', async () => {
  writeFileSync(path.join(packed, 'acme.mts'), block('docs/connectors.md', 'ts'))
  const { stdout } = await program(
    'guide.mjs',
    `import acme from './acme.mts'
     import { createGateway, localKeys } from '@tollgate/core'
     const gateway = await createGateway({
       database: { url: process.env.DATABASE_URL },
       environment: 'test',
       keys: localKeys(process.env.TOLLGATE_KEYS),
       plugins: [acme],
       connectors: { acme: { url: 'https://acme.example' } },
     })
     const id = await gateway.entities.createAccount({
       channelId: process.env.ENTITY_ID, connector: 'acme', mode: 'EXTERNAL',
       settings: { merchantId: 'M1', secret: 'not told' },
     })
     console.log(id)
     await gateway.close()`,
  )
  assert.match(stdout, /^[0-9a-f]{32}\n$/)
})
