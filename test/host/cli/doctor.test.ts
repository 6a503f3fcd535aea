/** What the doctor says about the rows of payments. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { testCluster } from '../../rig/cluster.ts'
import { createDatabase } from '../../rig/database.ts'
import { startGateway, testKey } from '../../rig/gateway.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

test('the doctor expects an attempt of every payment, but not of chargebacks and their reversals', async () => {
  const run = await startGateway()
  const project = await projectFolder()
  const env = { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey }
  const examined = async () => {
    const { out } = await runTollgate(['doctor'], { folder: project.path, env })
    return out.split('\n').filter((line) => /consistent|without|^\d+ problem/.test(line))
  }
  const withoutAttempt = (ids: readonly string[]) =>
    run.sql('delete from tollgate.attempt where payment_id = any($1::uuid[])', [ids])
  try {
    const [one, two] = [await run.pay(), await run.pay()]
    const { payments } = run.gateway
    const chargeback = await payments.followUp(one.id, { paymentType: 'CB' })
    await payments.followUp(chargeback.id, { paymentType: 'CR' })
    const durability = '1 problem.'
    assert.deepEqual(await examined(), [
      'ok       rows of the last 35 days are consistent',
      durability,
    ])
    await withoutAttempt([one.id])
    assert.deepEqual(await examined(), ['PROBLEM  1 payment without an attempt', '2 problems.'])
    await withoutAttempt([two.id])
    assert.deepEqual(await examined(), ['PROBLEM  2 payments without an attempt', '2 problems.'])
  } finally {
    await run.close()
    await project.remove()
  }
})

test('the doctor examines tables in a schema of another name', async () => {
  const database = await createDatabase()
  const project = await projectFolder()
  const env = {
    DATABASE_URL: database.url,
    TOLLGATE_KEYS: testKey,
    TOLLGATE_DATABASE_SCHEMA: 'pay',
  }
  const run = (...words: string[]) => runTollgate(words, { folder: project.path, env })
  try {
    const absent = await run('doctor')
    assert.match(absent.out, /PROBLEM {2}no tables yet: run tollgate migrate/)
    assert.equal((await run('migrate')).code, 0)
    const made = await run('entity', 'create', '--kind', 'psp', '--name', 'Shop')
    assert.equal(made.code, 0, made.err)
    const { out, err } = await run('doctor')
    assert.equal(err, '')
    for (const found of [/all \d+ migrations have run/, /partitions exist for this month/]) {
      assert.match(out, found)
    }
    assert.match(out, /of the audit trail (is|are) unchanged/)
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class
       where relname = 'payment_' || to_char(now() at time zone 'UTC', 'YYYY_MM')
         and relnamespace = 'pay'::regnamespace`,
    )
    await client.query(`drop table pay.${rows[0]!.name}`)
    await client.end()
    assert.match((await run('doctor')).out, new RegExp(`partitions are missing: ${rows[0]!.name}`))
  } finally {
    await project.remove()
    await database.drop()
  }
})

test('the doctor tells a new installation to make keys', async () => {
  const database = await createDatabase()
  const project = await projectFolder()
  const examined = async (environment: string) => {
    const env = { DATABASE_URL: database.url, TOLLGATE_ENVIRONMENT: environment }
    return (await runTollgate(['doctor'], { folder: project.path, env })).out
  }
  try {
    const makeKeys = /PROBLEM {2}no keys: .*Run "tollgate keys make <id> --out <file>"/
    assert.match(await examined('live'), /no tables yet[\s\S]*PROBLEM {2}no keys: .*keys make/)
    assert.match(await examined('test'), /no tables yet[\s\S]*note {5}no keys yet/)
    const env = { DATABASE_URL: database.url, TOLLGATE_ENVIRONMENT: 'live' }
    assert.equal((await runTollgate(['migrate'], { folder: project.path, env })).code, 0)
    assert.match(await examined('live'), makeKeys)
    assert.doesNotMatch(await examined('live'), /backup/)
  } finally {
    await project.remove()
    await database.drop()
  }
})

test('the doctor refuses plugins and connector settings with which serve would not start', async () => {
  const project = await projectFolder()
  const json = join(import.meta.dirname, '../../../connectors/acquirer-json/index.ts')
  const examined = async (plugins: string) => {
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', TOLLGATE_PLUGINS: plugins }
    return runTollgate(['doctor'], { folder: project.path, env })
  }
  try {
    const typo = await examined('@tollgate/metric')
    assert.equal(typo.code, 1)
    assert.match(
      typo.out,
      /PROBLEM {2}serve would not start: .*"@tollgate\/metric" cannot be loaded/,
    )
    const unset = await examined(json)
    assert.match(unset.out, /PROBLEM {2}serve would not start: .*url/)
  } finally {
    await project.remove()
  }
})

test('the doctor finds rights that a restore lost, and a connector whose URL no request reaches', async () => {
  const database = await createDatabase()
  const project = await projectFolder()
  // Users belong to the whole server, so their names are unique to this test.
  const schema = `doctor_${randomBytes(4).toString('hex')}`
  const env = {
    DATABASE_URL: database.url,
    TOLLGATE_KEYS: testKey,
    TOLLGATE_DATABASE_SCHEMA: schema,
    TOLLGATE_PLUGINS: './bank.ts',
    TOLLGATE_CONNECTORS: '{"acquirer-json":{"url":"http://bank.example"}}',
  }
  const bank = join(import.meta.dirname, '../../../connectors/acquirer-json/index.ts')
  await writeFile(join(project.path, 'bank.ts'), `export { default } from '${bank}'\n`)
  const run = (...words: string[]) => runTollgate(words, { folder: project.path, env })
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    assert.equal((await run('migrate', '--roles')).code, 0)
    assert.doesNotMatch((await run('doctor')).out, /lack rights/)
    await client.query(`revoke create on database ${database.name} from ${schema}_migrating`)
    const { code, out } = await run('doctor')
    assert.equal(code, 1)
    assert.match(
      out,
      new RegExp(`^note .*\\(${schema}_migrating create\\): run tollgate migrate --roles`, 'm'),
    )
    assert.match(
      out,
      /^PROBLEM {2}serve would not start: connectors\.acquirer-json\.url is "http:\/\/bank\.example": must be an https URL$/m,
    )
    assert.equal((await run('migrate', '--roles')).code, 0)
    assert.doesNotMatch((await run('doctor')).out, /lack rights/)
  } finally {
    await client.end()
    await database.drop()
    const cluster = new pg.Client({ connectionString: (await testCluster()).url })
    await cluster.connect()
    await cluster.query(`drop role ${schema}_migrating; drop role ${schema}_running`)
    await cluster.end()
    await project.remove()
  }
})
