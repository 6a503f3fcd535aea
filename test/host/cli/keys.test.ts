/** The keys of an installation in operation: a running server, and commands beside it. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { startTransitServer, type TransitServer } from '../../rig/transit-server.ts'
import { ask, debit } from '../http/hosted.ts'
import {
  projectFolder,
  type Ran,
  readCredentials,
  runTollgate,
  type Started,
  startTollgate,
} from './tollgate.ts'

describe('the command line: keys', () => {
  let database: TestDatabase
  let project: Awaited<ReturnType<typeof projectFolder>>
  let server: TransitServer
  let keyFile: string
  let env: Record<string, string>
  const running: Started[] = []

  before(async () => {
    database = await createDatabase()
    project = await projectFolder()
    server = await startTransitServer()
    keyFile = join(project.path, 'kek')
    env = { DATABASE_URL: database.url, TOLLGATE_KEY_FILE: keyFile }
  })
  afterEach(async () => {
    for (const one of running.splice(0)) await end(one)
  })
  after(async () => {
    await server.stop()
    await database.drop()
    await project.remove()
  })

  const run = (line: string, more: Record<string, string> = {}): Promise<Ran> =>
    runTollgate(line.split(' '), { folder: project.path, env: { ...env, ...more } })

  async function done(line: string, more: Record<string, string> = {}): Promise<string> {
    const { code, out, err } = await run(line, more)
    assert.equal(code, 0, `${line}: ${out}${err}`)
    return out.trim()
  }

  /** Refused in sentences, without a stack or any part of a key. */
  async function refused(line: string, expected: RegExp, more: Record<string, string> = {}) {
    const { code, out, err } = await run(line, more)
    assert.equal(code, 1, `${line}: ${out}${err}`)
    assert.match(err + out, expected)
    assert.doesNotMatch(err, /^\s+at /m)
    assert.doesNotMatch(err + out, /[0-9a-f]{64}|hvs\./)
  }

  async function serve(more: Record<string, string> = {}): Promise<Started> {
    const started = startTollgate(['serve'], {
      folder: project.path,
      env: { ...env, PORT: '0', ...more },
    })
    running.push(started)
    await started.said(/A first payment/)
    return started
  }

  async function end(started: Started): Promise<void> {
    assert.equal((await started.end()).code, 0)
  }

  async function send(path: string, form: Record<string, string>) {
    const { baseUrl, accessToken, entityId } = await readCredentials(
      join(project.path, '.tollgate'),
    )
    return ask(baseUrl, path, { token: accessToken, form: { ...form, entityId } })
  }
  const pay = () => send('/v1/payments', debit)
  const rebill = (id: string) =>
    send(`/v1/payments/${id}`, { paymentType: 'RB', amount: '1.00', currency: 'EUR' })

  const write = (...keys: string[]) => writeFile(keyFile, `${keys.join('\n')}\n`, { mode: 0o600 })

  async function sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  let first: string
  let second: string
  let payment: string

  test('a command makes a key-encryption key, and no start works without one', async () => {
    await refused('keys make a:b', /the id of a key must have 1 to 40 letters/)
    first = await done('keys make first')
    second = await done('keys make second')
    assert.match(first, /^first:[0-9a-f]{64}$/)
    await refused('keys status', /the keys of the database are missing/)
    await write(first)
    await refused('keys status', /run "tollgate migrate"/)
    await done('migrate')
    await refused('keys rotate', /nothing to rotate: this database has no data key yet/)
  })

  test('data keys are rotated beside a server that takes payments', async () => {
    await serve()
    payment = (await pay()).body.id
    const before = await done('keys status')
    // The secrets of the demo shop's webhook endpoint are one row, however often the server starts.
    assert.match(before, /seal +current +0 days +first +2$/m)
    assert.match(before, /mac +current +0 days +first$/m)
    const seals = /^process \S+ \d+ seals with ([0-9a-f]{32})$/m
    const [, old] = seals.exec(before) ?? []

    const rotated = await done('keys rotate')
    assert.match(rotated, /^made data key [0-9a-f]{32}, wrapped by key "first"$/m)
    assert.match(rotated, /^2 of 2 rows sealed anew$/m)
    assert.match(
      rotated,
      new RegExp(`^data key ${old} seals nothing any more and is retired$`, 'm'),
    )

    const afterwards = await done('keys status')
    assert.match(afterwards, new RegExp(`^${old} +seal +retired +0 days +first +0$`, 'm'))
    assert.notEqual(seals.exec(afterwards)?.[1], old)
    assert.equal((await rebill(payment)).status, 200)

    await refused(`keys retire ${old} --destroy`, /was retired less than 60 seconds ago/)
    await sql(
      `update tollgate.data_key set retired_at = now() - interval '2 minutes' where state = 'retired'`,
    )
    assert.match(await done(`keys retire ${old} --destroy`), /is destroyed$/)
    assert.match(
      await done('doctor').catch(String),
      /the key-encryption keys of this machine open all data keys/,
    )
    await refused('keys retire nothing', /There is no data key nothing/)
  })

  test('a key-encryption key is replaced: both are given, data keys move, the old one is removed', async () => {
    await write(second, first)
    await serve()
    assert.equal((await rebill(payment)).status, 200)
    const moved = await done('keys rewrap')
    assert.match(moved, /all data keys are under key "second"/)
    assert.equal(await done('keys rewrap'), 'all data keys are under key "second"')
    await write(second)
    assert.match(await done('keys status'), /mac +current +0 days +second/)
    assert.equal((await rebill(payment)).status, 200)
  })

  test('a wrong or missing key stops the start, and the message names key and setting', async () => {
    await write(first)
    for (const command of ['serve', 'doctor', 'keys rotate']) {
      await refused(
        command,
        /key "second", which is not among the given keys \(first\)\. Add it to .*kek, or name the file/,
      )
    }
    const wrong = `second:${'abcd'.repeat(16)}`
    await write(wrong)
    await refused('serve', /given key "second" is not the one this database was sealed with/)
    await refused('doctor', /^PROBLEM +The given key "second" is not the one/m)
    await refused('keys rotate', /Nothing was changed\. Only if that key is lost for good/)
    const status = await run('keys status')
    assert.equal(status.code, 1)
    assert.match(
      status.out,
      /PROBLEM data key [0-9a-f]{32} does not open: .*"second" is not the one/,
    )
    await write(second)
  })

  test('keys move to a key server, and its outage stops every start', async () => {
    const tokenFile = join(project.path, 'token')
    await writeFile(tokenFile, `${server.token}\n`, { mode: 0o600 })
    const remote = {
      TOLLGATE_KEY_SERVER_URL: server.url,
      TOLLGATE_KEY_SERVER_KEY: 'payments',
      TOLLGATE_KEY_SERVER_TOKEN_FILE: 'token',
      TOLLGATE_KEY_SERVER_ALLOW: 'loopback',
      TOLLGATE_KEY_SERVER_TIMEOUT_MS: '500',
    }
    await refused('keys rewrap', /does not answer: The URL must be an https URL/, {
      ...remote,
      TOLLGATE_KEY_SERVER_ALLOW: '10.0.0.0/8',
    })
    await refused('serve', /needs either TOLLGATE_KEY_SERVER_TOKEN_FILE/, {
      TOLLGATE_KEY_SERVER_URL: server.url,
    })
    assert.match(
      await done('keys rewrap', remote),
      /all data keys are under key "transit:transit\/payments:v1"/,
    )
    const alone = { ...remote, TOLLGATE_KEY_FILE: 'none' }
    const paying = await serve(alone)
    assert.equal((await rebill(payment)).status, 200)
    await server.stop()
    assert.equal((await rebill(payment)).status, 200)
    assert.equal((await pay()).status, 200)
    await end(paying)
    await refused(
      'serve',
      /^the key server http:\/\/127\.0\.0\.1:\d+ \(TOLLGATE_KEY_SERVER_URL\) does not answer: .* Data key [0-9a-f]{32} is wrapped by key "transit:transit\/payments:v1"\.$/m,
      alone,
    )
    await server.resume()
    server.revokeToken()
    await refused('serve', /\(TOLLGATE_KEY_SERVER_URL\) refused: 403, .*permission denied/s, alone)
  })

  test('a key-encryption key lost for good loses the values under it and nothing else', async () => {
    const lost = await done('keys make third')
    await write(lost)
    await refused('serve', /"transit:transit\/payments:v1", which is not among the given keys/)
    await refused('keys rotate', /Nothing was changed\./)
    await refused('keys renew-mac', /nothing was changed/)
    const { code, out } = await run('keys rotate --lost')
    assert.equal(code, 1)
    assert.match(out, /PROBLEM data key [0-9a-f]{32} stays: 5 rows under it cannot be opened/)
    await serve()
    const reply = await rebill(payment)
    assert.equal(reply.status, 500)
    assert.equal(reply.body.result.code, '600.100.100')
    assert.match(reply.body.result.description, /stored account of this payment cannot be opened/)
    const refund = { paymentType: 'RF', amount: '5.00', currency: 'EUR' }
    assert.equal((await send(`/v1/payments/${payment}`, refund)).status, 200)
    const fresh = await pay()
    assert.equal(fresh.status, 200)
    assert.equal((await rebill(fresh.body.id)).status, 200)
    await refused('keys renew-mac --confirm', /only while no process runs/)
  })
})
