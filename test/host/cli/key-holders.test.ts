/** Who has which keys: processes without a key-encryption key, and the two users of a database. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import {
  createGateway,
  type Gateway,
  KeyAdministration,
  localKeys,
  makeRoles,
  onFaultPoint,
} from '../../../core/index.ts'
import { testCluster } from '../../rig/cluster.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { freshSimulator, testKey, until } from '../../rig/gateway.ts'
import { ask, type Hosted, startHost } from '../http/hosted.ts'
import { projectFolder, type Ran, runTollgate } from './tollgate.ts'

const newerKey = `newer:${'abcd'.repeat(16)}`

test('a process that lacks a key-encryption key is not ready, and the doctor and the status name it', async () => {
  const project = await projectFolder()
  let host: Hosted | undefined
  try {
    host = await startHost()
    const env = { DATABASE_URL: host.database.url, TOLLGATE_KEYS: `${newerKey},${testKey}` }
    const run = (...words: string[]) => runTollgate(words, { folder: project.path, env })
    assert.equal((await ask(host.url, '/readyz')).status, 200)
    assert.match((await run('doctor')).out, /keys of this machine open all data keys$/m)

    const refused = await run('keys', 'rewrap', '--wait', '1')
    assert.equal(refused.code, 1, refused.out)
    const name = `\\S+ ${process.pid}`
    assert.match(
      refused.err,
      new RegExp(`1 process cannot open what key "newer" wraps: "${name}". Nothing was changed`),
    )
    assert.doesNotMatch(refused.err, /abcd|^\s+at /m)

    // As a command of an earlier version wraps it.
    const [mac] = await host.sql<{ id: string; wrapped: Buffer }>(
      "select id, wrapped from tollgate.data_key where purpose = 'mac'",
    )
    const signal = AbortSignal.timeout(60_000)
    const bytes = await localKeys(testKey).unwrap('test', mac!.wrapped, signal)
    const { wrapped } = await localKeys(newerKey).wrap(bytes, signal)
    await host.sql(
      "update tollgate.data_key set key_encryption_key_id = 'newer', wrapped = $2 where id = $1",
      [mac!.id, wrapped],
    )
    const answer = await until(async () => {
      const { status, body } = await ask(host!.url, '/readyz')
      return status === 503 ? body.result : undefined
    })
    assert.equal(answer.code, '800.800.801')
    assert.equal(
      answer.description,
      'This process cannot open a current data key: "tollgate keys status" names it.',
      'a stranger learns no id of a key',
    )
    const told = host.logs.find(({ fields }) => fields.dataKey === mac!.id)
    assert.equal(told?.message, 'a data key does not open')
    assert.equal(told.fields.keyEncryptionKey, 'newer', 'the log names both')
    await until(
      async () =>
        (
          await host!.sql('select from tollgate.data_key_use where $1 = any(shut_key_ids)', [
            mac!.id,
          ])
        )[0],
    )
    const doctor = await run('doctor')
    assert.equal(doctor.code, 1)
    assert.match(doctor.out, /^ok +the key-encryption keys of this machine open all data keys$/m)
    assert.match(
      doctor.out,
      new RegExp(
        `^PROBLEM +the process ${name} cannot open data key ${mac!.id} \\(mac, current\\): it lacks key "newer"$`,
        'm',
      ),
    )
    const status = await run('keys', 'status')
    assert.equal(status.code, 1)
    assert.match(
      status.out,
      new RegExp(
        `^PROBLEM process ${name} cannot open data key ${mac!.id}: it lacks key "newer"$`,
        'm',
      ),
    )
  } finally {
    await host?.close()
    await project.remove()
  }
})

describe('keys with two users of the database', () => {
  // Users belong to the whole server, so their names are unique to this test.
  const schema = `keys_${randomBytes(4).toString('hex')}`
  const urls = new Map<string, string>()
  let database: TestDatabase
  let project: Awaited<ReturnType<typeof projectFolder>>
  let gateway: Gateway

  before(async () => {
    database = await createDatabase()
    project = await projectFolder()
    for (const { does, name, password } of await makeRoles({ url: database.url, schema })) {
      const url = new URL(database.url)
      url.username = name
      url.password = password!
      urls.set(does, url.href)
    }
    gateway = await createGateway({
      database: { url: urls.get('runs')!, schema },
      plugins: [freshSimulator()],
      environment: 'test',
      keys: localKeys(testKey),
      migrate: false,
    })
  })
  afterEach(() => onFaultPoint(undefined))
  after(async () => {
    await gateway.close()
    await database.drop()
    await project.remove()
    const cluster = new pg.Client({ connectionString: (await testCluster()).url })
    await cluster.connect()
    await cluster.query(`drop role ${schema}_migrating; drop role ${schema}_running`)
    await cluster.end()
  })

  const run = (does: 'runs' | 'migrates', line: string): Promise<Ran> => {
    const env = {
      ...{ DATABASE_URL: urls.get(does)!, TOLLGATE_DATABASE_SCHEMA: schema },
      ...{ TOLLGATE_KEYS: testKey, TOLLGATE_MIGRATE: 'false' },
    }
    return runTollgate(line.split(' '), { folder: project.path, env })
  }
  const asOwner = `with the database URL of the user ${schema}_migrating`
  /** The command that the running user is told to have carried out, by the owner. */
  const advised = async (): Promise<string> => {
    const { out } = await run('runs', 'keys status')
    const [, command] = new RegExp(`run "tollgate (keys [^"]+)" ${asOwner}`).exec(out) ?? []
    assert.ok(command !== undefined, out)
    return command
  }
  const finishes = async (command: string) => {
    const { code, out, err } = await run('migrates', command)
    assert.equal(code, 0, out + err)
    const { out: status } = await run('runs', 'keys status')
    assert.doesNotMatch(status, /run "tollgate| previous | announced /)
  }

  test('a rotation of the running user ends with a command for the owner, which works', async () => {
    const rotated = await run('runs', 'keys rotate')
    assert.equal(rotated.code, 1)
    const [, old] = /run "tollgate keys retire ([0-9a-f]{32})" with/.exec(rotated.out) ?? []
    const command = await advised()
    assert.equal(command, `keys retire ${old}`)
    // That is no command for the running user.
    assert.match((await run('runs', command)).err, /only the owner of the tables can retire it/)
    await finishes(command)
  })

  test('an interrupted rotation of the running user is finished by a command of the owner', async () => {
    onFaultPoint((at) => {
      if (at === 'key-announced') throw new Error('interrupted')
    })
    await using keys = await KeyAdministration.open({
      database: { url: urls.get('runs')!, schema },
      keys: localKeys(testKey),
    })
    await assert.rejects(keys.rotate(), /interrupted/)
    onFaultPoint(undefined)
    const command = await advised()
    assert.equal(command, 'keys rotate')
    await finishes(command)
  })

  test('the doctor tells the running user who migrates', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const last = `(select max(name) from ${schema}.migration)`
    await client.query(
      `create table kept as select * from ${schema}.migration where name = ${last}`,
    )
    await client.query(`delete from ${schema}.migration where name = ${last}`)
    try {
      const { out } = await run('runs', 'doctor')
      assert.match(out, new RegExp(`^PROBLEM .*; run tollgate migrate ${asOwner}$`, 'm'))
    } finally {
      await client.query(`insert into ${schema}.migration select * from kept`)
      await client.end()
    }
    assert.match((await run('runs', 'doctor')).out, /migrations have run$/m)
  })
})
