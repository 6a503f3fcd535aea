/** The running user can take payments and cannot change audit rows. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import {
  createGateway,
  type Gateway,
  localKeys,
  makeRoles,
  migrateDatabase,
} from '../../../core/index.ts'
import { testCluster } from '../../rig/cluster.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { card, freshSimulator, testKey, until } from '../../rig/gateway.ts'

/** Users belong to the whole server, so the names are unique to this test. */
const schema = `roles_${randomBytes(4).toString('hex')}`
const migrating = `${schema}_migrating`
const running = `${schema}_running`

const noop = () => {}

async function dropRoles(names: readonly string[]): Promise<void> {
  const { url } = await testCluster()
  const owner = new pg.Client({ connectionString: url })
  await owner.connect()
  for (const name of names) await owner.query(`drop role if exists ${name}`)
  await owner.end()
}

/** The server of the tests logs no errors; of this database it does. */
async function showErrors({ url, name }: TestDatabase): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `alter database ${name} set log_min_messages = 'error'; alter database ${name} set log_min_error_statement = 'error'`,
  )
  await client.end()
}

describe('separate database users for migration and operation', () => {
  let database: TestDatabase
  let client: pg.Client
  let gateway: Gateway
  const urls: Record<string, string> = {}
  const alarms: unknown[] = []
  before(async () => {
    database = await createDatabase()
    await showErrors(database)
    // Tables as an older installation has them: created by its only user.
    await migrateDatabase({ url: database.url, schema })
    for (const { name, password } of await makeRoles({ url: database.url, schema })) {
      const url = new URL(database.url)
      url.username = name
      url.password = password!
      urls[name] = url.href
    }
    client = new pg.Client({ connectionString: urls[running]! })
    await client.connect()
    gateway = await createGateway({
      database: { url: urls[running]!, schema },
      plugins: [freshSimulator()],
      environment: 'test',
      keys: localKeys(testKey),
      migrate: false,
      log: { info() {}, warn: (fields) => void alarms.push(fields.alarm) },
    })
  })
  after(async () => {
    await gateway.close()
    await client.end()
    await database.drop()
    await dropRoles([migrating, running])
  })

  const query = async (text: string) =>
    (await client.query(text.replaceAll('tollgate.', `${schema}.`))).rows

  /** Errors in the server's log about this schema, while the work runs. */
  const serverErrors = async (work: () => Promise<void>): Promise<string[]> => {
    const own = new pg.Client({ connectionString: database.url })
    await own.connect()
    const { rows } = await own.query<{ data_directory: string }>('show data_directory')
    await own.end()
    const log = join(rows[0]!.data_directory, '../postgres.log')
    const before = (await stat(log)).size
    await work()
    const added = (await readFile(log)).subarray(before).toString()
    return added.split('\n').filter((line) => /ERROR|STATEMENT/.test(line) && line.includes(schema))
  }

  test('an engine starts, pays, writes its audit trail and links it', async () => {
    const { entities } = gateway
    const psp = await entities.create({ kind: 'psp', name: 'Demo' })
    const division = await entities.create({ kind: 'division', name: 'Demo', parentId: psp })
    const merchant = await entities.create({ kind: 'merchant', name: 'Demo', parentId: division })
    const channel = await entities.create({ kind: 'channel', name: 'Demo', parentId: merchant })
    const paid = await gateway.payments.create({
      ...card('4200000000000000'),
      entityId: channel,
    } as never)
    assert.equal(paid.result.code, '000.100.110')
    await gateway.payments.refund(paid.id, { amount: '1.00', currency: 'EUR' })
    await until(async () =>
      (await query('select audit_id from tollgate.audit_pending')).length === 0 ? true : undefined,
    )
    const { links, problems } = await gateway.audit.verify()
    assert.deepEqual(problems, [])
    assert.ok(links >= 4n)
  })

  test('the running user changes neither a row of the audit trail nor a table', async () => {
    const denied = /permission denied|must be owner/
    for (const statement of [
      `update tollgate.audit set actor = 'nobody'`,
      'delete from tollgate.audit',
      'truncate tollgate.audit',
      'update tollgate.audit_link set no = 0',
      'delete from tollgate.audit_link',
      `insert into tollgate.audit_link (no, audit_id, key_id, mac)
       select last_no + 1, gen_random_uuid(), key_id, mac from tollgate.audit_head`,
      'update tollgate.audit_head set last_no = 0',
      'delete from tollgate.audit_head',
      'select tollgate.forget_audit(1)',
      'alter table tollgate.audit disable trigger all',
      'drop table tollgate.audit',
      'alter table tollgate.payment add column more text',
      'create table tollgate.more (id integer)',
      `insert into tollgate.migration (name, checksum) values ('9999.sql', '')`,
      `set session_replication_role = replica`,
    ]) {
      await assert.rejects(query(statement), denied, statement)
    }
  })

  test('the running user adds links only at the end of the trail', async () => {
    const add = (no: string) =>
      query(`select tollgate.add_audit_links(${no}, key_id, array[gen_random_uuid()], array['\\x00'::bytea], mac)
        from tollgate.audit_head`)
    for (const no of ['last_no', 'last_no + 2', '-1', 'null']) {
      await assert.rejects(add(no), /does not follow the last link/, no)
    }
    await assert.rejects(
      query(
        `select tollgate.add_audit_links(last_no + 1, key_id, '{}', '{}', mac) from tollgate.audit_head`,
      ),
      /does not follow the last link/,
    )
    assert.deepEqual((await gateway.audit.verify()).problems, [])
  })

  test('the running user creates and drops months through functions of the owner alone', async () => {
    const ahead = `now() + interval '1 year'`
    await query(`select tollgate.create_partitions(${ahead}, 1)`)
    const [made] = await query(
      `select tollgate.create_partition('payment', ${ahead} + interval '1 month') as made`,
    )
    assert.equal(made.made, 'made')
    await query(`select tollgate.drop_steps('2000-01-01'), tollgate.drop_deliveries('2000-01-01')`)
  })

  test('the migrating user migrates, its tables are usable at once, and the running user cannot migrate', async () => {
    const owner = new pg.Client({ connectionString: urls[migrating]! })
    await owner.connect()
    await owner.query(`create table ${schema}.later (id integer)`)
    await owner.end()
    assert.deepEqual(await query('select id from tollgate.later'), [])
    assert.deepEqual(await migrateDatabase({ url: urls[migrating]!, schema }), [])
    assert.deepEqual(await migrateDatabase({ url: urls[running]!, schema }), [])
    const own = new pg.Client({ connectionString: database.url })
    await own.connect()
    const newest = `(select max(name) from ${schema}.migration)`
    const { rows } = await own.query(
      `delete from ${schema}.migration where name = ${newest} returning *`,
    )
    await assert.rejects(
      migrateDatabase({ url: urls[running]!, schema }),
      new RegExp(
        `the user ${running} may not change .* as its owner ${migrating}.* TOLLGATE_MIGRATE=false`,
      ),
    )
    const { name, checksum, at } = rows[0]
    await own.query(`insert into ${schema}.migration (name, checksum, at) values ($1, $2, $3)`, [
      name,
      checksum,
      at,
    ])
    await own.end()
    assert.equal((await gateway.audit.verify()).problems.length, 0)
  })

  test('a start of the running user with the usual settings asks the server for nothing that it refuses', async () => {
    const errors = await serverErrors(async () => {
      const second = await createGateway({
        database: { url: urls[running]!, schema },
        plugins: [freshSimulator()],
        environment: 'test',
        keys: localKeys(testKey),
      })
      await second.close()
    })
    assert.deepEqual(errors, [])
    const control = await serverErrors(() => query('drop table tollgate.audit').then(noop, noop))
    assert.match(control.join(), /must be owner of table audit|drop table/)
  })

  test('the migrating user needs no rights to a database that has its schemas, as after a restore', async () => {
    const own = new pg.Client({ connectionString: database.url })
    await own.connect()
    try {
      const revoke = (what: string) =>
        own.query(
          `do $$ begin execute format('revoke ${what} on database %I from ${migrating}', current_database()); end $$`,
        )
      await revoke('create, connect')
      assert.deepEqual(await migrateDatabase({ url: urls[migrating]!, schema }), [])
      await own.query(`alter schema ${schema}_boss rename to ${schema}_other`)
      await assert.rejects(
        migrateDatabase({ url: urls[migrating]!, schema }),
        new RegExp(
          `The schema ${schema}_boss is missing, and the user ${migrating} lacks the right CREATE on this database.* "tollgate migrate --roles"`,
        ),
      )
      await own.query(`alter schema ${schema}_other rename to ${schema}_boss`)
    } finally {
      await own.end()
    }
  })

  test('users that are created again keep their passwords and rights, and lock no table that an engine uses', async () => {
    await client.query(`begin; select from ${schema}.payment`)
    const again = await makeRoles({ url: database.url, schema })
    await client.query('commit')
    assert.deepEqual(again, [
      { name: migrating, does: 'migrates', password: undefined },
      { name: running, does: 'runs', password: undefined },
    ])
    await assert.rejects(query('delete from tollgate.audit'), /permission denied/)
  })

  test('a running user with more rights than its task is refused, and nothing is changed', async () => {
    const own = new pg.Client({ connectionString: database.url })
    await own.connect()
    try {
      for (const [give, take, why] of [
        [`alter role ${running} createdb`, `alter role ${running} nocreatedb`, 'createdb'],
        [`grant ${migrating} to ${running}`, `revoke ${migrating} from ${running}`, migrating],
        [
          `grant pg_read_all_data to ${running}`,
          `revoke pg_read_all_data from ${running}`,
          'pg_read_all_data',
        ],
      ] as const) {
        await own.query(give)
        await assert.rejects(
          makeRoles({ url: database.url, schema }),
          new RegExp(`${running} .*${why}`),
        )
        await own.query(take)
      }
      await own.query(`grant truncate on ${schema}.audit to ${running}`)
      await makeRoles({ url: database.url, schema })
      await assert.rejects(query('truncate tollgate.audit'), /permission denied/)
    } finally {
      await own.end()
    }
  })

  test('users are created with all their rights or not at all, by several administrators at once, too', async () => {
    const fresh = await createDatabase()
    const own = new pg.Client({ connectionString: fresh.url })
    await own.connect()
    const other = `${schema}_b`
    const names = [`${other}_migrating`, `${other}_running`]
    const made = async () =>
      (await own.query('select from pg_roles where rolname = any($1)', [names])).rowCount
    try {
      await migrateDatabase({ url: fresh.url, schema: other })
      await own.query(
        `create function ${other}.refuse() returns event_trigger language plpgsql as $$ begin raise 'not now'; end $$;
         create event trigger ${other}_refuse on ddl_command_start when tag in ('ALTER VIEW', 'ALTER TABLE') execute function ${other}.refuse()`,
      )
      await assert.rejects(makeRoles({ url: fresh.url, schema: other }), /not now/)
      assert.equal(await made(), 0)
      await own.query(`drop event trigger ${other}_refuse`)
      const all = await Promise.all(
        [1, 2, 3].map(() => makeRoles({ url: fresh.url, schema: other })),
      )
      const passwords = all.flat().filter(({ password }) => password !== undefined)
      assert.deepEqual(passwords.map(({ name }) => name).toSorted(), names)
    } finally {
      await own.end()
      await fresh.drop()
      await dropRoles(names)
    }
  })

  test('a false link of the running user is noticed: nothing is chained to it, and an alarm is raised', async () => {
    await query(`select tollgate.add_audit_links(last_no + 1, key_id, array[gen_random_uuid()],
      array['\\x00'::bytea], mac) from tollgate.audit_head`)
    // Adds a row that waits for its link.
    await gateway.entities.create({ kind: 'psp', name: 'Later' })
    await until(async () => (alarms.includes('audit-trail') ? true : undefined))
    const { problems } = await gateway.audit.verify()
    assert.match(problems.join(), /head of the chain.* was changed/)
  })
})
