/** Settlement files of payments with testMode=INTERNAL, which the simulator writes from the engine's payments. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { FaultPoint } from '../../../core/fault-point.ts'
import { type ClockView, onFaultPoint } from '../../../core/index.ts'
import { settleDays } from '../../../core/settlement/simulated/days.ts'
import { planDays } from '../../../core/settlement/simulated/plan.ts'
import { workOnScope } from '../../../core/settlement/work.ts'
import { advance } from '../../../core/test-clock/advance.ts'
import { card, startGateway, type TestGateway } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'
import { type OpenEngine, openEngine } from './engines.ts'

let run: TestGateway
let tools: Scheduling
let one: OpenEngine
let two: OpenEngine
before(async () => {
  // Its process only takes requests: the engines here do the work.
  run = await startGateway({ role: 'api' })
  tools = scheduling(run)
  one = await openEngine(run)
  two = await openEngine(run)
})
after(async () => {
  await one.close()
  await two.close()
  await run.close()
})
afterEach(() => onFaultPoint(undefined))

const plainCard = '4200000000000000'

const payOn = (clock: ClockView, amount: string, number = plainCard, more: object = {}) =>
  run.pay({ ...card(number), amount, testClock: clock.id, ...more })

const follow = (id: string, paymentType: string, amount: string) =>
  run.gateway.payments.followUp(id, { paymentType, amount, currency: 'EUR' } as never)

async function advanceBy(clock: ClockView, by: string): Promise<void> {
  await run.gateway.testClocks.advance(clock.id, { by } as never)
  await advance(one.engine, clock.id)
}

type RecordRow = {
  day: string
  type: string
  minor: bigint
  currency: string
  settled_currency: string
  status: string
  match_status: string | null
  tier: string | null
  reason: string | null
  reference: string | null
  discrepancies: string[]
  payments: string[]
}

/** Records of a clock in the order of files and lines. */
const recordsOf = ({ id }: Pick<ClockView, 'id'>) =>
  run.sql<RecordRow>(
    `select record.settlement_date::text as day, record.record_type || ' ' || record.transaction_type as type,
       record.amount_minor as minor, record.currency, record.settled_currency, record.status, record.match_status,
       record.tier, record.reason, record.reference, record.discrepancies,
       array(select replace(payment_id::text, '-', '') from tollgate.settlement_match as match
         where match.record_id = record.id order by payment_id) as payments
     from tollgate.settlement_record as record
     join tollgate.settlement_scope as scope on scope.id = record.scope_id
     where scope.clock_id = $1
     order by record.settlement_date, record.file_id, record.line`,
    [id],
  )

const filesOf = ({ id }: Pick<ClockView, 'id'>) =>
  run.sql<{ name: string; state: string; reference: string | null; source: string }>(
    `select file.name, file.state, file.reference, file.source from tollgate.settlement_file as file
     join tollgate.settlement_scope as scope on scope.id = file.scope_id
     where scope.clock_id = $1 order by file.id`,
    [id],
  )

const batchLinesOf = ({ id }: Pick<ClockView, 'id'>) =>
  run.sql<{ kind: string; minor: bigint; cashflow: string; day: string }>(
    `select line.kind, line.minor, line.cashflow, line.settlement_date::text as day
     from tollgate.settlement_batch_line as line
     join tollgate.settlement_scope as scope on scope.id = line.scope_id
     where scope.clock_id = $1 order by line.settlement_date, line.line`,
    [id],
  )

test('a day of payments becomes a file when the day is over, and its records name the payments', async () => {
  const clock = await tools.clockAt('2027-03-01 10:00:00')
  const sale = await payOn(clock, '92.00', plainCard, { merchantTransactionId: 'order; 7' })
  const authorised = await payOn(clock, '50.00', plainCard, { paymentType: 'PA' })
  const capture = await follow(authorised.id, 'CP', '30.00')
  const refund = await follow(sale.id, 'RF', '12.00')
  const credit = await payOn(clock, '5.00', plainCard, { paymentType: 'CD' })
  await payOn(clock, '20.00', '4000000000000002').catch(() => {})
  await advanceBy(clock, 'PT12H')
  assert.deepEqual(await filesOf(clock), [])
  await advanceBy(clock, 'PT1H')
  const files = await filesOf(clock)
  assert.deepEqual(
    files.map(({ name, source, reference }) => [name, source, reference]),
    [['simulator-2027-03-01', 'simulator', `${run.channel}/2027-03-01`]],
  )
  const records = await recordsOf(clock)
  assert.deepEqual(
    records.map(({ type, minor, match_status, tier, payments, discrepancies, day }) => [
      ...[day, type, minor, match_status, tier, payments[0], discrepancies.join()],
    ]),
    [
      ['2027-03-02', 'SETTLED DEBIT', 9200n, 'MATCHED', 'payment-id', sale.id, ''],
      ['2027-03-02', 'SETTLED DEBIT', 3000n, 'MATCHED', 'payment-id', capture.id, ''],
      ['2027-03-02', 'SETTLED REFUND', 1200n, 'MATCHED', 'payment-id', refund.id, ''],
      ['2027-03-02', 'SETTLED CREDIT', 500n, 'MATCHED', 'payment-id', credit.id, ''],
    ],
  )
})

test('errors that tests ask for become discrepancies', async () => {
  const clock = await tools.clockAt('2027-03-01 10:00:00')
  const low = await payOn(clock, '92.00', '4000000000005423')
  const none = await payOn(clock, '92.91')
  const twice = await payOn(clock, '92.92')
  const foreign = await payOn(clock, '92.93')
  const failed = await payOn(clock, '92.94')
  const nameless = await payOn(clock, '92.95')
  await advanceBy(clock, 'P1D')
  const records = await recordsOf(clock)
  const shown = records.map((record) => [
    record.payments[0],
    record.minor,
    record.settled_currency,
    record.status,
    record.tier,
    record.discrepancies.join(),
  ])
  assert.deepEqual(shown, [
    [low.id, 9199n, 'EUR', 'SUCCESS', 'payment-id', 'AMOUNT'],
    [twice.id, 9292n, 'EUR', 'SUCCESS', 'payment-id', 'DUPLICATE_SETTLEMENT'],
    [twice.id, 9292n, 'EUR', 'SUCCESS', 'payment-id', 'DUPLICATE_SETTLEMENT'],
    [foreign.id, 9293n, 'USD', 'SUCCESS', 'payment-id', ''],
    [failed.id, 9294n, 'EUR', 'FAILED', 'payment-id', ''],
    [nameless.id, 9295n, 'EUR', 'SUCCESS', 'composite', ''],
  ])
  assert.ok(!records.some(({ payments }) => payments.includes(none.id)))
})
