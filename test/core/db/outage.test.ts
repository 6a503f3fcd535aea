/** What operators see of a database that is away: at a start, while it is away, and at its end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import { asOfDatabase } from '../../../core/db/failures.ts'
import { OutageLog } from '../../../core/db/outage.ts'
import { type Gateway, localKeys, newId } from '../../../core/index.ts'
import { mayPass } from '../../../core/start-wait.ts'
import { freePort } from '../../rig/free-port.ts'
import { type LogLine, startGateway, testKey, until } from '../../rig/gateway.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'

/** A log that a test reads. */
function kept() {
  const lines: LogLine[] = []
  return {
    lines,
    log: {
      info: (fields: LogLine['fields'], message: string) =>
        void lines.push({ level: 'info', fields, message }),
      warn: (fields: LogLine['fields'], message: string) =>
        void lines.push({ level: 'warn', fields, message }),
    },
  }
}

const refused = () =>
  asOfDatabase(
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' }),
  )

test('an outage has one line with its cause, one every ten seconds with a count, and one at its end', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { lines, log } = kept()
  const outage = new OutageLog(log)
  outage.failed(refused())
  assert.equal(lines.length, 0, 'a start tells of its own wait')
  outage.watch()
  for (let no = 0; no < 500; no += 1) outage.failed(refused())
  t.mock.timers.tick(10_000)
  for (let no = 0; no < 20; no += 1) outage.failed(refused())
  t.mock.timers.tick(10_000)
  outage.failed(refused())
  outage.answered()
  outage.answered()
  t.mock.timers.tick(60_000)
  assert.deepEqual(
    lines.map(({ level, message, fields }) => [level, message, fields.failures, fields.reason]),
    [
      ['warn', 'the database is not available', 1, 'connect ECONNREFUSED 127.0.0.1:5432'],
      ['warn', 'the database is still not available', 499, 'connect ECONNREFUSED 127.0.0.1:5432'],
      ['warn', 'the database is still not available', 20, 'connect ECONNREFUSED 127.0.0.1:5432'],
      ['info', 'the database is available again', 1, undefined],
    ],
  )
  assert.equal(lines[0]!.fields.code, 'ECONNREFUSED')
  // A connection that breaks right after is no outage of its own.
  outage.failed(refused())
  outage.answered()
  assert.equal(lines.length, 4)
})

test('a statement that is refused for its content is no outage', () => {
  const { lines, log } = kept()
  const outage = new OutageLog(log)
  outage.watch()
  outage.failed(asOfDatabase(Object.assign(new Error('twice'), { code: '23505' })))
  outage.failed(asOfDatabase(Object.assign(new Error('locked'), { code: '55P03' })))
  outage.failed(new Error('a fault beside the database'))
  assert.equal(lines.length, 0)
})

test('a worker whose database is away writes one line, and another when it is back', async () => {
  let line: Line | undefined
  const run = await startGateway({
    pool: {},
    through: async (url) => {
      line = await lineTo(url)
      return line.url
    },
  })
  try {
    const warned = () => run.logs.filter(({ level }) => level === 'warn')
    const before = warned().length
    line!.down()
    await assert.rejects(run.pay())
    await until(async () => (warned().length > before ? true : undefined))
    line!.up()
    await until(async () =>
      run.logs.some(({ message }) => message === 'the database is available again')
        ? true
        : undefined,
    )
    const said = new Set(
      warned()
        .slice(before)
        .map(({ message }) => message.replace('still ', '')),
    )
    assert.deepEqual([...said], ['the database is not available'])
    assert.equal((await run.pay()).result.code, '000.100.110')
  } finally {
    line?.up()
    await run.close()
    await line?.close()
  }
})

test('a start waits for its database, says what it waits for, and goes on when it is there', async () => {
  const run = await startGateway({ pool: {}, role: 'api' })
  const line = await lineTo(run.database.url)
  const { lines, log } = kept()
  line.down()
  let gateway: Gateway | undefined
  try {
    const starting = run.another({ database: { url: line.url }, log, startWait: 60 })
    await until(async () => (lines.length > 0 ? true : undefined))
    assert.equal(lines[0]!.message, 'the start waits for the database')
    assert.equal(typeof lines[0]!.fields.reason, 'string')
    line.up()
    gateway = await starting
    assert.equal(await gateway.isReady(), true)
    assert.deepEqual(lines.map(({ message }) => message).slice(0, 2), [
      'the start waits for the database',
      'the database is available: the start goes on',
    ])
  } finally {
    line.up()
    await run.close()
    await line.close()
  }
})

test('a start without time to wait, a wrong password and a missing database fail at once', async () => {
  const run = await startGateway({ pool: {}, role: 'api' })
  const start = (url: string, startWait: number) =>
    run.another({ database: { url }, startWait, keys: localKeys(testKey) })
  const at = (change: (url: URL) => void) => {
    const url = new URL(run.database.url)
    change(url)
    return url.href
  }
  try {
    const port = String(await freePort())
    const away = at((url) => {
      url.port = port
    })
    await assert.rejects(start(away, 0), { code: 'ECONNREFUSED' })
    const wrong = at((url) => {
      url.password = 'wrong'
    })
    await assert.rejects(start(wrong, 3600), { code: '28P01' })
    const missing = at((url) => {
      url.pathname = `/none_${newId()}`
    })
    await assert.rejects(start(missing, 3600), { code: '3D000' })
  } finally {
    await run.close()
  }
})

test('only what can pass by itself is waited for', () => {
  const coded = (code: string, message = code) => Object.assign(new Error(message), { code })
  for (const code of ['ECONNREFUSED', 'EAI_AGAIN', '57P03', '53300', '25006']) {
    assert.equal(mayPass(coded(code)), true, code)
  }
  assert.equal(mayPass(new AggregateError([coded('ECONNREFUSED')])), true)
  assert.equal(mayPass(new Error('Connection terminated unexpectedly')), true)
  assert.equal(mayPass(coded('08P01', 'pgbouncer cannot connect to server')), true)
  for (const code of ['28P01', '28000', '3D000', '42501', 'CERT_HAS_EXPIRED']) {
    assert.equal(mayPass(coded(code)), false, code)
  }
  for (const text of ['no such database: shop', 'unsupported startup parameter: options']) {
    assert.equal(mayPass(coded('08P01', text)), false, text)
  }
  assert.equal(mayPass(new Error('The server does not support SSL connections')), false)
})

test('a process is ready only while its database takes writes', async () => {
  const run = await startGateway({ pool: {}, role: 'api' })
  try {
    assert.equal(await run.gateway.isReady(), true)
    const readOnly = (value: 'on' | 'off') =>
      run.sql(`alter database ${run.database.name} set default_transaction_read_only = ${value}`)
    await readOnly('on')
    // New sessions only read, as on a server that was demoted.
    await run.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
    )
    assert.equal(await run.gateway.isReady(), false)
    await run.sql('set transaction_read_only = off')
    await run.sql('set default_transaction_read_only = off')
    await readOnly('off')
    await until(async () => ((await run.gateway.isReady()) ? true : undefined))
  } finally {
    await run.close()
  }
})

test('a server that hangs makes a process not ready within a second, with one write under way', async () => {
  let line: Line | undefined
  const run = await startGateway({
    pool: {},
    role: 'api',
    through: async (url) => {
      line = await lineTo(url)
      return line.url
    },
  })
  try {
    assert.equal(await run.gateway.isReady(), true)
    line!.stall()
    const answers = await Promise.all(Array.from({ length: 50 }, () => run.gateway.isReady()))
    assert.ok(answers.every((ready) => !ready))
    const found = run.gateway
    assert.equal(await found.isReady(), false)
    line!.resume()
    await until(async () => ((await found.isReady()) ? true : undefined))
  } finally {
    line?.resume()
    await run.close()
    await line?.close()
  }
})

test('a pool closes with no line of an outage', async () => {
  const run = await startGateway({ pool: {}, role: 'api' })
  const { lines, log } = kept()
  const database = new Database({ url: run.database.url }, log)
  database.outage.watch()
  const pool = database.pool(1, 'closing')
  await database.close()
  await assert.rejects(database.run(pool, { strings: ['select 1'], values: [] }))
  assert.equal(lines.length, 0)
  await run.close()
})
