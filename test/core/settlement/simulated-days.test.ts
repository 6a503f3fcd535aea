/** Settlement files of payments with testMode=INTERNAL, which the simulator writes from the engine's payments. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { FaultPoint } from '../../../core/fault-point.ts'
import { type ClockView, onFaultPoint } from '../../../core/index.ts'
import { settleDays } from '../../../core/settlement/simulated/days.ts'
import { planDays } from '../../../core/settlement/simulated/plan.ts'
import { workOnScope } from '../../../core/settlement/work.ts'
import { advance } from '../../../core/test-clock/advance.ts'
import { card, startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'
import { type OpenEngine, openEngine } from './engines.ts'

describe('simulated business days', () => {
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
      [['simulator-2027-03-01', 'simulator', `${run.channel} of 2027-03-01`]],
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

  test('a posted chargeback does not show the settlement of its payment, and the payment keeps its own', async () => {
    const clock = await tools.clockAt('2028-03-01 10:00:00')
    const sale = await payOn(clock, '60.00')
    await advanceBy(clock, 'P1D')
    const disputed = await run.gateway.payments.followUp(sale.id, { paymentType: 'CB' } as never)
    await advanceBy(clock, 'P3D')
    const { payments, query } = run.gateway
    assert.deepEqual((await payments.get(sale.id)).settlement, {
      date: '2028-03-02',
      amount: '60.00',
    })
    assert.equal((await payments.get(disputed.id)).settlement, undefined)
    assert.equal((await query.get(disputed.id)).settlement, undefined)
    const linked = await query.linked(sale.id)
    assert.equal(linked.find(({ id }) => id === disputed.id)!.settlement, undefined)
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
      [failed.id, 9294n, 'EUR', 'FAILED', 'payment-id', 'STATE'],
      [nameless.id, 9295n, 'EUR', 'SUCCESS', 'composite', ''],
    ])
    assert.ok(!records.some(({ payments }) => payments.includes(none.id)))
  })

  describe('reversals and refunds', () => {
    test('of the whole payment on its day leave no line, and a day without lines has no file', async () => {
      const clock = await tools.clockAt('2027-03-01 10:00:00')
      const whole = await payOn(clock, '92.00')
      await follow(whole.id, 'RV', '92.00')
      await advanceBy(clock, 'P1D')
      assert.deepEqual(await filesOf(clock), [])
      const authorised = await payOn(clock, '50.00', plainCard, { paymentType: 'PA' })
      const undone = await follow(authorised.id, 'CP', '30.00')
      await follow(undone.id, 'RV', '30.00')
      const capture = await follow(authorised.id, 'CP', '20.00')
      await advanceBy(clock, 'P1D')
      const records = await recordsOf(clock)
      assert.deepEqual(
        records.map(({ minor, payments, discrepancies }) => [minor, payments, discrepancies]),
        [[2000n, [capture.id], []]],
      )
    })

    test('of an earlier day reduce the payout, and what it lacks is carried to the next one', async () => {
      const clock = await tools.clockAt('2027-03-01 10:00:00')
      const sale = await payOn(clock, '92.00')
      await advanceBy(clock, 'P1D')
      await assert.rejects(follow(sale.id, 'RV', '92.00'), { code: '700.400.300' })
      await follow(sale.id, 'RF', '92.00')
      await advanceBy(clock, 'P1D')
      await payOn(clock, '200.00')
      await advanceBy(clock, 'P1D')
      assert.equal((await recordsOf(clock)).length, 3)
      const lines = (await batchLinesOf(clock)).map(({ day, kind, cashflow, minor }) => [
        day.slice(-2),
        kind,
        cashflow === 'NEG' ? -minor : minor,
      ])
      assert.deepEqual(lines, [
        ['02', 'opening', 0n],
        ['02', 'payout', 9061n],
        ['02', 'closing', 0n],
        ['03', 'opening', 0n],
        ['03', 'payout', 0n],
        ['03', 'closing', -9200n],
        ['04', 'opening', -9200n],
        ['04', 'payout', 10510n],
        ['04', 'closing', 0n],
      ])
      const balances = await run.sql(
        `select from tollgate.settlement_batch as batch
       join tollgate.settlement_scope as scope on scope.id = batch.scope_id
       where scope.clock_id = $1 and is_balanced`,
        [clock.id],
      )
      assert.equal(balances.length, 3, 'every payout adds up')
    })
  })

  describe('chargebacks', () => {
    const disputes = async (clock: ClockView) =>
      (await recordsOf(clock)).flatMap((record) =>
        record.type.startsWith('SETTLED')
          ? []
          : [[record.day, record.type, record.minor, record.reason, record.payments[0]]],
      )

    test('come two days after settlement, and are reversed three days later, by the card', async () => {
      const clock = await tools.clockAt('2027-03-01 10:00:00')
      const stays = await payOn(clock, '92.00', '4000000000000259')
      const returns = await payOn(clock, '50.00', '4000000000002685')
      await advanceBy(clock, 'P10D')
      assert.deepEqual(await disputes(clock), [
        ['2027-03-05', 'CHARGEBACK DEBIT', 9200n, '000.100.220', stays.id],
        ['2027-03-05', 'CHARGEBACK DEBIT', 5000n, '000.100.221', returns.id],
        ['2027-03-08', 'CHARGEBACK REVERSAL DEBIT', 5000n, null, returns.id],
      ])
      const references = (await recordsOf(clock)).flatMap(({ reference }) => reference ?? [])
      assert.equal(new Set(references).size, 2, 'a reversal has the reference of its chargeback')
      await advanceBy(clock, 'P30D')
      assert.equal((await disputes(clock)).length, 3)
    })

    test('of a captured payment follow the card of its authorisation', async () => {
      const clock = await tools.clockAt('2027-03-01 10:00:00')
      const authorised = await payOn(clock, '92.00', '4000000000000259', { paymentType: 'PA' })
      const capture = await follow(authorised.id, 'CP', '40.00')
      await advanceBy(clock, 'P10D')
      assert.deepEqual(await disputes(clock), [
        ['2027-03-05', 'CHARGEBACK DEBIT', 4000n, '000.100.220', capture.id],
      ])
    })

    test('that a merchant posts have a line with the reference of the chargeback, and no second one comes', async () => {
      const clock = await tools.clockAt('2027-03-01 10:00:00')
      const sale = await payOn(clock, '92.00', '4000000000002685')
      const charged = await follow(sale.id, 'CB', '30.00')
      await follow(charged.id, 'CR', '30.00')
      await advanceBy(clock, 'P10D')
      assert.deepEqual(await disputes(clock), [
        ['2027-03-02', 'CHARGEBACK DEBIT', 3000n, '000.100.200', sale.id],
        ['2027-03-02', 'CHARGEBACK REVERSAL DEBIT', 3000n, null, sale.id],
      ])
      const facts = await run.sql<{ reference: string }>(
        'select reference from tollgate.chargeback where payment_id = $1 order by reference',
        [sale.id],
      )
      const told = (await recordsOf(clock)).flatMap(({ reference }) => reference ?? [])
      assert.deepEqual(
        told.sort(),
        facts.map(({ reference }) => reference),
      )
    })
  })

  test('a payment that is approved after its day settles with the next one', async () => {
    const clock = await tools.clockAt('2027-03-01 22:59:45')
    const sale = await payOn(clock, '92.00')
    const late = await payOn(clock, '92.00', '4000000000000077')
    assert.equal(late.result.code, '000.200.000')
    await advanceBy(clock, 'P3D')
    assert.deepEqual(
      (await recordsOf(clock)).map(({ day, payments }) => [day, payments[0]]),
      [
        ['2027-03-02', sale.id],
        ['2027-03-03', late.id],
      ],
    )
  })

  test('a day ends at midnight of the institute', async () => {
    const clock = await tools.clockAt('2027-03-01 22:59:59')
    const before = await payOn(clock, '92.00')
    await advanceBy(clock, 'PT1S')
    assert.deepEqual(
      (await recordsOf(clock)).map(({ payments }) => payments[0]),
      [before.id],
    )
    const behind = await payOn(clock, '92.00')
    await advanceBy(clock, 'PT23H59M59S')
    assert.equal((await recordsOf(clock)).length, 1)
    await advanceBy(clock, 'PT1S')
    assert.deepEqual(
      (await recordsOf(clock)).map(({ day, payments }) => [day, payments[0]]),
      [
        ['2027-03-02', before.id],
        ['2027-03-03', behind.id],
      ],
    )
  })

  test('channels and test clocks have files of their own', async () => {
    const clock = await tools.clockAt('2027-03-01 10:00:00')
    const other = await tools.clockAt('2027-03-01 10:00:00')
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Second',
      parentId: run.merchant,
    })
    const mine = await payOn(clock, '92.00')
    const beside = await payOn(clock, '92.00', plainCard, { entityId: channel })
    await payOn(other, '92.00')
    await advanceBy(clock, 'P1D')
    const rows = await run.sql<{ reference: string; id: string }>(
      `select file.reference, replace(match.payment_id::text, '-', '') as id
     from tollgate.settlement_file as file
     join tollgate.settlement_record as record on record.file_id = file.id
     join tollgate.settlement_match as match on match.record_id = record.id
     join tollgate.settlement_scope as scope on scope.id = file.scope_id
     where scope.clock_id = any($1::uuid[])`,
      [[clock.id, other.id]],
    )
    assert.deepEqual(
      new Map(rows.map(({ reference, id }) => [reference, id])),
      new Map([
        [`${run.channel} of 2027-03-01`, mine.id],
        [`${channel} of 2027-03-01`, beside.id],
      ]),
    )
  })

  describe('a process that dies', () => {
    const points: readonly FaultPoint[] = [
      'settlement-day-entered',
      'settlement-stored',
      'settlement-day-ended',
      'settlement-staged',
      'settlement-decided',
      'after-clock-step',
    ]
    for (const point of points) {
      test(`at ${point} leaves work that another one ends, and nothing happens twice`, async () => {
        const clock = await tools.clockAt('2027-03-01 10:00:00')
        const sale = await payOn(clock, '92.00', '4000000000000259')
        await run.gateway.testClocks.advance(clock.id, { by: 'P10D' } as never)
        let deaths = 0
        for (;;) {
          let isDead = false
          onFaultPoint((reached) => {
            if (reached !== point || isDead || deaths === 8) return
            isDead = true
            deaths += 1
            throw new Error('the process died')
          })
          const engine = deaths % 2 === 0 ? one.engine : two.engine
          await advance(engine, clock.id).catch(() => {})
          onFaultPoint(undefined)
          if ((await run.gateway.testClocks.get(clock.id)).status === 'READY') break
        }
        assert.ok(deaths > 0)
        await read(clock)
        assert.deepEqual(
          (await recordsOf(clock)).map(({ day, type, minor, payments }) => [
            day,
            type,
            minor,
            payments,
          ]),
          [
            ['2027-03-02', 'SETTLED DEBIT', 9200n, [sale.id]],
            ['2027-03-05', 'CHARGEBACK DEBIT', 9200n, [sale.id]],
          ],
        )
        const taken = (await filesOf(clock)).filter(({ state }) => state !== 'repeated')
        assert.equal(taken.length, 2)
      })
    }
  })

  /** Reads the files of a clock that a death left. */
  async function read({ id }: ClockView): Promise<void> {
    await run.sql('update tollgate.settlement_file set due_at = now() where done_at is null')
    await run.sql('update tollgate.settlement_scope set lease_until = null')
    const scopes = await run.sql<{ id: string }>(
      'select id from tollgate.settlement_scope where clock_id = $1',
      [id],
    )
    for (const scope of scopes) await workOnScope(one.engine, scope.id)
  }

  test('a clock waits for another process that reads its file', async () => {
    const clock = await tools.clockAt('2027-03-01 10:00:00')
    await payOn(clock, '92.00')
    await advanceBy(clock, 'P1D')
    await payOn(clock, '50.00')
    const lease = (until: string) =>
      run.sql(`update tollgate.settlement_scope set lease_until = ${until} where clock_id = $1`, [
        clock.id,
      ])
    await lease("now() + interval '1 hour'")
    const advanced = advanceBy(clock, 'P1D')
    await until(async () => ((await filesOf(clock)).length === 2 ? true : undefined))
    assert.notEqual((await run.gateway.testClocks.get(clock.id)).status, 'READY')
    await lease('null')
    await advanced
    assert.equal((await run.gateway.testClocks.get(clock.id)).status, 'READY')
    assert.deepEqual(
      (await recordsOf(clock)).map(({ minor }) => minor),
      [9200n, 5000n],
    )
  })

  test('two processes at one book enter each payment once', async () => {
    const clock = await tools.clockAt('2027-03-01 10:00:00')
    const sales = [await payOn(clock, '92.00')]
    await run.sql("update tollgate.test_clock set at = '2027-03-02 10:00:00+00' where id = $1", [
      clock.id,
    ])
    sales.push(await payOn(clock, '93.00'))
    await run.sql("update tollgate.test_clock set at = '2027-03-04 10:00:00+00' where id = $1", [
      clock.id,
    ])
    const ref = `simulator ${run.channel} ${clock.id}`
    await Promise.all([
      settleDays(one.engine, ref),
      settleDays(two.engine, ref),
      settleDays(one.engine, ref),
    ])
    await read(clock)
    assert.deepEqual(
      (await recordsOf(clock)).map(({ day, payments }) => [day, payments]),
      [
        ['2027-03-02', [sales[0]!.id]],
        ['2027-03-03', [sales[1]!.id]],
      ],
    )
  })

  test('payments in real time get a timer at the end of their day, which settles them', async () => {
    const sale = await run.pay()
    await planDays(one.engine)
    const timers = () =>
      run.sql<{ due_at: Date; ref: string }>(
        "select due_at, ref from tollgate.timer where kind = 'settlement-day' and clock_id is null",
      )
    const [timer] = await timers()
    const aheadMs = timer!.due_at.getTime() - Date.now()
    assert.ok(aheadMs > -60_000 && aheadMs <= 25 * 60 * 60_000, `in ${aheadMs} ms`)
    assert.equal(timer!.ref, `simulator ${run.channel}`)
    await planDays(two.engine)
    assert.equal((await timers()).length, 1)
    // A day before, by the time of payments.
    await run.sql(
      "update tollgate.payment set created_at = created_at - interval '1 day' where id = $1",
      [sale.id],
    )
    await settleDays(one.engine, timer!.ref)
    assert.deepEqual(await timers(), [])
    const [file] = await run.sql<{ scope_id: string; state: string }>(
      `select file.scope_id, file.state from tollgate.settlement_file as file
     join tollgate.settlement_scope as scope on scope.id = file.scope_id where scope.clock_id is null`,
    )
    assert.equal(file!.state, 'arrived')
    await workOnScope(one.engine, file!.scope_id)
    const matched = await run.sql<{ payment_id: string }>(
      `select match.payment_id from tollgate.settlement_match as match
     join tollgate.settlement_record as record on record.id = match.record_id
     where record.scope_id = $1`,
      [file!.scope_id],
    )
    assert.deepEqual(
      matched.map(({ payment_id: id }) => id),
      [sale.id],
    )
    await planDays(one.engine)
    assert.deepEqual(await timers(), [], 'nothing is left to settle')
  })

  test('a month with a hundred payments a day apart takes a file for each day with payments', async () => {
    const clock = await tools.clockAt('2027-03-01 10:00:00')
    await Promise.all(Array.from({ length: 90 }, () => payOn(clock, '92.00')))
    const registrationId = await tools.store({ testClock: clock.id })
    await tools.schedule(registrationId, { job: { expression: '0 0 9 ? * MON' } })
    await advanceBy(clock, 'P1M')
    const charged = ['08', '15', '22', '29'].map((day) => `simulator-2027-03-${day}`)
    assert.deepEqual(
      (await filesOf(clock)).map(({ name }) => name),
      ['simulator-2027-03-01', ...charged],
    )
    const records = await recordsOf(clock)
    assert.equal(records.length, 94)
    assert.ok(records.every(({ match_status: status }) => status === 'MATCHED'))
  })
})
