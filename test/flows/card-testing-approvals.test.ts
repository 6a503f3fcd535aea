/**
 * The cost of counting failures for an approved payment: no statement, no row, a few microseconds.
 */
import assert from 'node:assert/strict'
import { createServer, connect as open } from 'node:net'
import { test } from 'node:test'
import type { Trial } from '../../core/card-testing/attempt.ts'
import { CardTesting, TooManyFailures } from '../../core/card-testing/card-testing.ts'
import { systemClock } from '../../core/clock.ts'
import { Database } from '../../core/db/database.ts'
import { Lanes } from '../../core/db/lanes.ts'
import { Directory } from '../../core/entity/directory.ts'
import type { Gateway } from '../../core/index.ts'
import { concludeTrial } from '../../core/payment/trial.ts'
import type { Payment } from '../../core/payment/types.ts'
import { closeChecked } from '../rig/books.ts'
import { startGateway } from '../rig/gateway.ts'

const on = { number: 10, address: 30, bin: 300, channel: 1000, token: 1000 }
const payments = 40

/** A line to Postgres that counts the executions of each prepared statement by name. */
async function countingLine(url: string) {
  const target = new URL(url)
  const counts = new Map<string, number>()
  const server = createServer((client) => {
    const upstream = open(Number(target.port), target.hostname)
    let rest: Buffer = Buffer.alloc(0)
    let isGreeted = false
    client.on('data', (chunk: Buffer) => {
      upstream.write(chunk)
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        // The first message of a connection has no type byte.
        const at = isGreeted ? 1 : 0
        if (rest.length < at + 4) return
        const length = at + rest.readUInt32BE(at)
        if (rest.length < length) return
        if (isGreeted && rest[0] === 0x42) {
          // Bind: the portal's name, then the statement's.
          const [, name = ''] = rest.toString('latin1', 5, length).split('\0')
          counts.set(name, (counts.get(name) ?? 0) + 1)
        }
        rest = rest.subarray(length)
        isGreeted = true
      }
    })
    upstream.pipe(client)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const own = new URL(url)
  own.hostname = '127.0.0.1'
  own.port = String(address.port)
  return { url: own.href, counts, close: () => void server.close() }
}

test('approved payments run the same statements with and without counting, and the count writes nothing', async () => {
  let line: Awaited<ReturnType<typeof countingLine>> | undefined
  const run = await startGateway({
    role: 'api',
    // Steps are written beside the payments at irregular times.
    stepDays: 0,
    through: async (url) => {
      line = await countingLine(url)
      return line.url
    },
  })
  try {
    const { counts } = line!
    const pay = (gateway: Gateway) => run.pay({ customer: { ip: '8.8.4.4' } }, { on: gateway })
    /** Statements of the payments themselves, without less frequent background work. */
    const ofPayments = async (gateway: Gateway) => {
      await pay(gateway)
      const before = new Map(counts)
      for (let no = 0; no < payments; no += 1) {
        assert.equal((await pay(gateway)).result.code, '000.100.110')
      }
      return new Map(
        [...counts]
          .map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
          .filter(([, count]) => count >= payments)
          .sort(),
      )
    }
    const without = await ofPayments(run.gateway)
    const counting = await run.another({ cardTesting: on })
    // An earlier failure makes the counting of approvals active.
    await run.pay({ card: { ...cardThatFails } }, { on: counting })
    const within = await ofPayments(counting)
    assert.deepEqual(within, without)
    assert.equal(
      [...within.values()].every((count) => count === payments),
      true,
    )
    assert.ok(within.size >= 2)
    const texts = new Map(counting.statements().map(({ name, text }) => [name, text]))
    for (const name of within.keys()) assert.doesNotMatch(texts.get(name) ?? '', /card_testing/)
    await counting.close()
    const rows = await run.sql<{ dimension: string; failures: number }>(
      'select dimension, sum(failures)::integer as failures from tollgate.card_testing group by dimension order by dimension',
    )
    assert.deepEqual(
      rows,
      ['bin', 'channel', 'number', 'token'].map((dimension) => ({ dimension, failures: 1 })),
    )
  } finally {
    line?.close()
    await closeChecked(run)
  }
})

const cardThatFails = {
  number: '4000000000000127',
  holder: 'Jane Jones',
  expiryMonth: '05',
  expiryYear: '2034',
  cvv: '123',
}

test('the check and the count of an approval take microseconds and no database', async () => {
  // The address refuses connections, so any use of the database would fail.
  const database = new Database({ url: 'postgres://nobody@127.0.0.1:1/none' })
  const lanes = new Lanes(database, { single: 1, read: 1 })
  const log = { info() {}, warn() {} }
  const directory = new Directory(lanes, 'live', systemClock)
  const quiet = { lanes, clock: systemClock, log, alarm() {}, directory }
  const cards = new CardTesting({ ...quiet, thresholds: on })
  const amount = { minor: 100n, currency: 'EUR' }
  const approved = { id: 'p', state: 'approved', resultCode: '000.000.000', amount } as Payment
  const failed = { ...approved, state: 'declined', resultCode: '800.100.153' } as Payment
  const fingerprint = Buffer.alloc(32, 7)
  const attempt = {
    paymentId: 'p',
    channelId: 'c',
    merchantId: 'm',
    tokenId: 't',
    fields: { customer: { ip: '8.8.4.4' } },
    number: '4200000000000000',
    fingerprint,
  }
  const whole = (payment: Payment) => {
    const trial: Trial | undefined = cards.begin(attempt, {})
    concludeTrial({ cardTesting: cards }, trial, payment, 'answer', null)
    cards.end(trial)
  }
  whole(failed)
  for (let no = 0; no < 20_000; no += 1) whole(approved)
  const many = 50_000
  const before = process.cpuUsage()
  for (let no = 0; no < many; no += 1) whole(approved)
  const { user, system } = process.cpuUsage(before)
  // About 4 on a quiet machine, where a payment takes several hundred.
  assert.ok((user + system) / many < 60, `${((user + system) / many).toFixed(1)} µs`)
  // Without a database each process counts its own failures.
  for (let no = 1; no < on.number; no += 1) whole(failed)
  assert.throws(() => whole(failed), TooManyFailures)
  await cards.close()
  await database.close()
})
