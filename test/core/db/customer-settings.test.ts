/** The engine does the same whatever a customer set for the server, the database, the user or the process. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { databaseClient } from '../../../core/db/prompt-client.ts'
import type { conduct, formats } from '../../../core/db/session-settings.ts'
import { projectFolder, runTollgate } from '../../host/cli/tollgate.ts'
import { testCluster } from '../../rig/cluster.ts'
import { createDatabase } from '../../rig/database.ts'
import { startGateway, testKey } from '../../rig/gateway.ts'
import { startPgBouncer, withoutPgBouncer } from '../../rig/pgbouncer.ts'
import { root } from '../../rig/sources.ts'
import { lifeOf } from './payment-life.ts'

type Shown = { connectionParameters: { password: unknown }; binary: unknown }

/** Values that a customer may have, each another one than that of the engine. */
const theirs: Readonly<Record<keyof typeof formats | keyof typeof conduct, string | null>> = {
  search_path: 'astray, pg_catalog, public',
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'iso_8601',
  TimeZone: 'Pacific/Kiritimati',
  bytea_output: 'escape',
  client_encoding: 'LATIN1',
  extra_float_digits: '-15',
  array_nulls: 'off',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
  row_security: 'off',
  gin_fuzzy_search_limit: '1',
  // The servers of the tests have no other language.
  lc_monetary: null,
  lc_numeric: null,
  lc_time: null,
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  exit_on_error: 'on',
  statement_timeout: '40',
  lock_timeout: '1',
  idle_in_transaction_session_timeout: '10',
  idle_session_timeout: '20',
  transaction_timeout: '50',
  plan_cache_mode: 'force_custom_plan',
  jit: 'on',
}

/** Functions that statements would find by the search path. */
const astray = `
create schema astray;
create function astray.now() returns timestamptz language sql as $$ select '2001-01-01Z'::timestamptz $$;
create function astray.coalesce_text(text) returns text language sql as $$ select 'astray' $$;
create function astray.octet_length(bytea) returns integer language sql as $$ select 7 $$;`

/** A user of its own, whose sessions in this database have all of them. */
async function askew(url: string, rights?: string, values = theirs): Promise<string> {
  const { name, password } = { name: `askew_${randomBytes(4).toString('hex')}`, password: 'x' }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string; db: string }>(
    'select name, current_database() as db from pg_settings where lower(name) = any($1)',
    [Object.keys(theirs).map((one) => one.toLowerCase())],
  )
  await client.query(`${astray}; create role ${name} login password '${password}'`)
  await client.query(`grant create on database ${rows[0]!.db} to ${name}`)
  await client.query(
    `grant usage on schema astray to ${name}; grant create on schema public to ${name}`,
  )
  if (rights !== undefined) await client.query(`grant ${rights} to ${name}`)
  for (const row of rows) {
    const value = values[row.name as keyof typeof theirs]
    // The value of a list is not quoted.
    const text = row.name === 'search_path' ? value : `'${value}'`
    if (value !== null) {
      await client.query(`alter role ${name} in database ${row.db} set ${row.name} = ${text}`)
    }
  }
  await client.end()
  const theirUrl = new URL(url)
  theirUrl.username = name
  theirUrl.password = password
  return theirUrl.href
}

async function forget(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: (await testCluster()).url })
  await admin.connect()
  await admin.query(`drop role ${new URL(url).username}`)
  await admin.end()
}

const plain = startGateway({ cloned: false }).then(async (run) => {
  try {
    return await lifeOf(run)
  } finally {
    await run.close()
  }
})

test('settings of a user or a database change nothing, from the first migration on', async () => {
  let url = ''
  const run = await startGateway({
    cloned: false,
    through: async (own) => {
      url = await askew(own)
      return url
    },
  })
  try {
    assert.deepEqual(await lifeOf(run, url), await plain)
    await run.sql(
      `insert into tollgate.attention (id, kind, alarm_at, detail, reference)
       values (gen_random_uuid(), 'event', now(), '{}', 'x')`,
    )
    const project = await projectFolder()
    const env = { DATABASE_URL: url, TOLLGATE_KEYS: testKey }
    const doctor = await runTollgate(['doctor'], { folder: project.path, env })
    await project.remove()
    assert.match(doctor.out, /ok {7}partitions exist/)
    assert.match(doctor.out, /of the kind event, the oldest since 20\d\d-\d\d-\d\dT[\d:.]+Z/)
  } finally {
    await run.close()
    await forget(url)
  }
})

test('nor behind a pooler in transaction mode', { skip: withoutPgBouncer }, async () => {
  let url = ''
  const run = await startGateway({ cloned: false, role: 'api' })
  // PgBouncer's own statements run under these.
  const patient = { ...theirs, statement_timeout: '5000', transaction_timeout: '5000' }
  url = await askew(run.database.url, 'pg_read_all_data, pg_write_all_data', patient)
  const pooler = await startPgBouncer(url, { mode: 'transaction' })
  try {
    const database = { url: pooler.url, prepare: false }
    const gateway = await run.another({ database, role: 'all' })
    const pay: typeof run.pay = (more, options) => run.pay(more, { ...options, on: gateway })
    assert.deepEqual(await lifeOf({ ...run, gateway, pay }, url), await plain)
  } finally {
    await run.close()
    await pooler.close()
    await forget(url)
  }
})

test('a database or a user that only reads is told by the name of the setting, and so is one without triggers', async () => {
  for (const [name, value] of [
    ['default_transaction_read_only', 'on'],
    ['session_replication_role', 'replica'],
  ] as const) {
    const database = await createDatabase()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(`alter database ${database.name} set ${name} = ${value}`)
    await client.end()
    const opened = startGateway({
      startWait: 0,
      through: async () => database.url,
    })
    await assert.rejects(opened, new RegExp(`${name} is ${value} for the server, this database`))
    await database.drop()
  }
})

test('what a library makes of pg.defaults reaches no connection', () => {
  const url = 'postgres:///'
  const shown = () => {
    const { connectionParameters, binary } = databaseClient({ url }) as never as Shown
    return { ...connectionParameters, password: connectionParameters.password, binary }
  }
  const before = shown()
  const defaults = pg.defaults as Record<string, unknown>
  const names = Object.keys(defaults).filter((name) => name !== 'parseInt8')
  const given = names.map((name) => [name, defaults[name]] as const)
  try {
    for (const name of names) defaults[name] = name === 'sslnegotiation' ? 'direct' : 17
    assert.deepEqual(shown(), before)
    assert.deepEqual(
      names.filter((name) => defaults[name] !== 17),
      ['sslnegotiation'],
      'the program keeps what it set',
    )
  } finally {
    Object.assign(defaults, Object.fromEntries(given))
  }
})

test('libraries that change how pg reads values change nothing', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@tollgate/source', join(root, 'test/core/db/changed-globals.ts')],
    { env: { ...process.env }, timeout: 120_000 },
  )
  assert.deepEqual(JSON.parse(stdout), await plain)
})
