import assert from 'node:assert/strict'
import { hostname, userInfo } from 'node:os'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { testCluster } from '../../rig/cluster.ts'
import { startGateway, type TestGateway, testKey, until } from '../../rig/gateway.ts'
import { projectFolder, type Ran, runTollgate } from './tollgate.ts'

describe('the command line: audit', () => {
  let run: TestGateway
  let project: Awaited<ReturnType<typeof projectFolder>>
  let env: Record<string, string>

  before(async () => {
    run = await startGateway()
    project = await projectFolder()
    env = { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey }
  })
  after(async () => {
    await run.close()
    await project.remove()
  })

  const tollgate = (...words: string[]): Promise<Ran> =>
    runTollgate(words, {
      folder: project.path,
      env: { ...env, USER: 'mallory', LOGNAME: 'mallory' },
    })
  const well = async (...words: string[]) => {
    const { code, out, err } = await tollgate(...words)
    assert.equal(code, 0, out + err)
    return out
  }
  const linked = () =>
    until(async () => {
      const rows = await run.sql('select audit_id from tollgate.audit_pending')
      return rows.length === 0 ? true : undefined
    })

  test("the audit trail names the system's user of a command, not a claimed name", async () => {
    const made = await well('token', 'create', '--entity', run.channel, '--name', 'shop')
    const token = /^id +(\w+)/m.exec(made)?.[1] ?? ''
    await well('token', 'revoke', token)
    await well('entity', 'set', run.channel, '--settings', '{"cvvRequired":true}')
    await well('entity', 'close', run.channel)
    await well('keys', 'rotate')
    const rows = await run.sql<Record<string, string>>(
      `select action, actor_kind, actor, actor_id, host from tollgate.audit
       where actor_kind = 'system-user' order by at, id`,
    )
    const { username, uid } = userInfo()
    assert.deepEqual(
      rows.map(({ action }) => action),
      [
        'token.created',
        'token.revoked',
        'entity.configured',
        'entity.closed',
        'data-key-announced',
        'data-key-promoted',
        'data-key-retired',
      ],
    )
    for (const { actor, actor_id, host } of rows) {
      assert.deepEqual([actor, actor_id, host], [username, String(uid), hostname()])
    }
    const shown = await well('audit', 'list', '--entity', run.merchant, '--action', 'token')
    assert.match(
      shown,
      new RegExp(`system-user ${username} +${hostname()} +token\\.revoked +${token}`),
    )
    assert.doesNotMatch(shown, /entity\.closed/)
  })

  test('a copy as JSON lines ends with the end of the chain, and the reading is recorded', async () => {
    await linked()
    const lines = (await well('audit', 'list', '--json', '--since', '1d')).trim().split('\n')
    const last = JSON.parse(lines.pop()!)
    const rows = lines.map((line) => JSON.parse(line))
    assert.equal(last.rows, rows.length)
    assert.match(last.anchor, /^[0-9]+:[0-9a-f]{64}$/)
    assert.deepEqual(
      [rows[0].actor_kind, typeof rows[0].link, rows[0].mac.length],
      ['engine', 'number', 64],
    )
    const { username } = userInfo()
    const [read] = await run.gateway.audit.list({ action: 'audit.exported' })
    assert.equal(read?.actor, username)
    assert.ok(read?.detail.since)

    assert.match(await well('audit', 'verify', '--anchor', last.anchor), /rows are unchanged/)
    const wrong = await tollgate('audit', 'verify', '--anchor', `3:${'0'.repeat(64)}`)
    assert.equal(wrong.code, 1)
    assert.match(wrong.out, /PROBLEM link 3 is not as the anchor has it/)
    const bad = await tollgate('audit', 'verify', '--anchor', 'three')
    assert.match(bad.err, /anchor is the number of a link, a colon and 64 hex digits/)
    const none = await tollgate('audit', 'list', '--entity', 'x')
    assert.match(none.err, /entity is 32 lower-case hex characters/)
  })

  test('without the key of the database, the doctor says that the trail cannot be checked, and not that it was changed', async () => {
    await linked()
    const other = { ...env, TOLLGATE_KEYS: `other:${'cdef'.repeat(16)}` }
    const { code, out } = await runTollgate(['doctor'], { folder: project.path, env: other })
    assert.equal(code, 1)
    assert.match(
      out,
      /^PROBLEM +the audit trail: links under data key [0-9a-f]+ cannot be checked: .*"test"/m,
    )
    assert.doesNotMatch(out, /tampered/)
  })

  test('the doctor and audit verify report a changed row', async () => {
    await linked()
    const { out: healthy } = await tollgate('doctor')
    assert.match(healthy, /ok +[0-9]+ rows of the audit trail are unchanged/)
    await run.sql('set session_replication_role = replica')
    await run.sql(`update tollgate.audit set actor = 'mallory' where action = 'token.revoked'`)
    await run.sql('set session_replication_role = origin')
    for (const words of [['doctor'], ['audit', 'verify']]) {
      const { code, out } = await tollgate(...words)
      assert.equal(code, 1)
      assert.match(out, /PROBLEM .*the row of link [0-9]+ .* was changed/)
    }
  })

  test('migrate --roles shows two users once, and the embedded server has none', async () => {
    const schema = `cli_${run.database.name.slice(-8)}`
    const more = { ...env, TOLLGATE_DATABASE_SCHEMA: schema }
    const roles = () => runTollgate(['migrate', '--roles'], { folder: project.path, env: more })
    const first = await roles()
    assert.equal(first.code, 0, first.err)
    const url = /^runs +(postgres\S+)/m.exec(first.out)?.[1] ?? ''
    assert.match(
      first.out,
      new RegExp(`^migrates +postgres://${schema}_migrating:[\\w-]{43}@`, 'm'),
    )
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await assert.rejects(client.query(`delete from ${schema}.audit`), /permission denied/)
    await client.end()
    assert.match((await roles()).out, new RegExp(`${schema}_running \\(exists already`))

    await run.sql(`drop owned by ${schema}_running; drop owned by ${schema}_migrating`)
    const owner = new pg.Client({ connectionString: (await testCluster()).url })
    await owner.connect()
    await owner.query(`drop role ${schema}_running; drop role ${schema}_migrating`)
    await owner.end()
    const embedded = await runTollgate(['migrate', '--roles'], { folder: project.path, env: {} })
    assert.match(embedded.err, /--roles needs a PostgreSQL server of your own/)
  })
})
