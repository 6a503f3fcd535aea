/** Tries of jobs, and what the log says of them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import pg from 'pg'
import { GatewayError, OptionsError } from '../../../core/index.ts'
import { tellQueueError } from '../../../core/queue/queue-errors.ts'
import { type LogLine, startGateway, until } from '../../rig/gateway.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'
import { inScope } from '../../rig/scope.ts'

test('a job that fails for the last time says so, with the message of the program and the causes without their texts', async () => {
  const thrown = () =>
    new Error('a text with 4200000000000000', {
      cause: Object.assign(new TypeError('another text'), { code: 'ECONNRESET' }),
    })
  const run = await startGateway({
    jobs: [
      {
        name: 'failing',
        retry: { limit: 1, delaySeconds: 0 },
        run: async () => {
          throw thrown()
        },
      },
    ],
  })
  try {
    await run.gateway.sendJob('failing', { order: 1 }, { key: '1' })
    const lines = () => run.logs.filter(({ fields }) => fields.job === 'failing')
    await until(async () => (lines().length === 2 ? true : undefined))
    const [first, last] = lines()
    assert.equal(first!.message, 'a job failed and will be tried again')
    assert.equal(
      last!.message,
      'a job failed for the last time: it is kept in the queue failing-dead',
    )
    assert.equal(first!.fields.attempt, 1)
    assert.equal(last!.fields.tries, 2)
    for (const { fields } of lines()) {
      assert.equal(fields.error, 'Error')
      assert.equal(fields.cause, 'TypeError ECONNRESET')
      assert.match(String(fields.place), /queue\.test\.ts/)
      assert.equal(fields.reason, 'a text with ************0000')
      assert.doesNotMatch(JSON.stringify(fields), /another text|42000/)
    }
  } finally {
    await run.close()
  }
})

test('a changed rule for tries applies to a queue that exists, for jobs from then on', async () => {
  const job = (limit: number, delaySeconds: number) => ({
    name: 'changing',
    retry: { limit, delaySeconds },
    run: async () => {},
  })
  const run = await startGateway({ role: 'api', jobs: [job(2, 4)] })
  try {
    await run.gateway.sendJob('changing', {}, '1')
    const later = await run.another({ role: 'api', jobs: [job(5, 1)] })
    await later.sendJob('changing', {}, '2')
    const jobs = await run.sql<{ retry_limit: number; retry_delay: number }>(
      "select retry_limit, retry_delay from tollgate_boss.job where name = 'changing' order by created_on, retry_limit",
    )
    assert.deepEqual(jobs, [
      { retry_limit: 2, retry_delay: 4 },
      { retry_limit: 5, retry_delay: 1 },
    ])
    const never = await run.another({ role: 'api', jobs: [job(0, 1)] })
    await never.sendJob('changing', {}, '3')
    const [queue] = await run.sql<{ limit: number; backoff: boolean }>(
      `select retry_limit as limit, retry_backoff as backoff from tollgate_boss.queue where name = 'changing'`,
    )
    assert.deepEqual(queue, { limit: 0, backoff: false })
  } finally {
    await run.close()
  }
})

test('jobs without a key are as many as were sent, alone and in transactions at once', async () => {
  const ran: string[] = []
  const together = Promise.withResolvers<void>()
  const job = {
    name: 'mail',
    concurrency: 4,
    run: async (payload: object) => {
      ran.push((payload as { to: string }).to)
      if (ran.length === 4) together.resolve()
      await together.promise
    },
  }
  const run = await startGateway({ jobs: [job] })
  const pool = new pg.Pool({ connectionString: run.database.url })
  try {
    const [one, other] = [await pool.connect(), await pool.connect()]
    await one.query('begin')
    await other.query('begin')
    await run.gateway.sendJob('mail', { to: 'a' }, { client: one })
    await run.gateway.sendJob('mail', { to: 'b' }, { client: other })
    await one.query('commit')
    await other.query('commit')
    one.release()
    other.release()
    await run.gateway.sendJob('mail', { to: 'c' })
    await run.gateway.sendJob('mail', { to: 'd' }, {})
    await until(async () => (ran.length === 4 ? true : undefined))
    assert.deepEqual(ran.toSorted(), ['a', 'b', 'c', 'd'])
  } finally {
    together.resolve()
    await pool.end()
    await run.close()
  }
})

/** What a busy machine adds. */
const toleratedMs = inScope(20_000, 700)

test('a job is sent or refused within the time of other calls, and an unknown one is named', async () => {
  let line: Line | undefined
  const run = await startGateway({
    role: 'api',
    shutdownGraceMs: 100,
    jobs: [{ name: 'mail', run: async () => {} }],
    through: async (url) => {
      line = await lineTo(url)
      return line.url
    },
  })
  try {
    await assert.rejects(run.gateway.sendJob('male', {}), (error: unknown) => {
      assert.ok(error instanceof GatewayError, String(error))
      assert.equal(error.parameterErrors[0]?.name, 'name')
      return true
    })
    await run.gateway.sendJob('mail', {})
    line!.stall()
    const since = performance.now()
    await assert.rejects(run.gateway.sendJob('mail', {}), { code: '999.999.888' })
    assert.ok(performance.now() - since < limits.flushBudgetMs + toleratedMs)
  } finally {
    line?.resume()
    await run.close()
    await line?.close()
  }
})

describe("pg-boss' own errors", () => {
  const told = (error: object) => {
    const lines: LogLine[] = []
    const log = {
      info: () => {},
      warn: (fields: LogLine['fields'], message: string) =>
        void lines.push({ level: 'warn', fields, message }),
    }
    tellQueueError(log, error)
    assert.equal(lines[0]!.message, 'the job queue had an error')
    return lines[0]!.fields
  }

  test('keep their reason, of which card numbers are masked before it is cut', () => {
    const message = 'queue charge does not exist for 4200000000000000'
    assert.deepEqual(told({ ...new Error('x'), message, queue: 'charge' }), {
      error: 'error',
      job: 'charge',
      reason: `queue charge does not exist for ${'*'.repeat(12)}0000`,
    })
    const start = 'x'.repeat(285)
    assert.deepEqual(told(new Error(`${start}4111111111111111`)), {
      error: 'Error',
      reason: `${start}${'*'.repeat(12)}111`,
    })
  })

  test('of a statement have its code alone, because the message may hold values of a job', () => {
    const message = 'duplicate key value: Key (data)=({"email": "anna@example.com"}) already exists'
    assert.deepEqual(told(Object.assign(new Error(message), { code: '23505', queue: 'charge' })), {
      error: 'Error',
      code: '23505',
      job: 'charge',
    })
  })
})

test('no queue of the engine takes a job of the program, neither listed nor sent', async () => {
  const run = await startGateway({})
  try {
    const queues = await run.sql<{ name: string }>('select name from tollgate_boss.queue')
    const names = queues.map(({ name }) => name)
    assert.ok(names.includes('charge') && names.includes('charge-dead'), names.join())
    const jobs = names.map((name) => ({ name, run: async () => {} }))
    await assert.rejects(run.another({ jobs }), (error) => {
      assert.ok(error instanceof OptionsError, String(error))
      for (const name of names) assert.ok(error.message.includes(`"${name}"`), name)
      return true
    })
    for (const name of names) {
      await assert.rejects(run.gateway.sendJob(name, { a: 1 }), (error) => {
        assert.ok(error instanceof GatewayError, String(error))
        assert.match(error.parameterErrors[0]!.message, /is no job/)
        return true
      })
    }
  } finally {
    await run.close()
  }
})
