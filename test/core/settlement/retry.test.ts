/** Undecided records are compared with payments again, on a timer and when an operator asks. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { onFaultPoint } from '../../../core/fault-point.ts'
import { ScopeLeases } from '../../../core/settlement/leases.ts'
import { retryOf, retryScope } from '../../../core/settlement/retry.ts'
import { renewLeases } from '../../../core/settlement/store-scope.ts'
import { until } from '../../rig/gateway.ts'
import { type SettlingRun, settled, settlementFile, startSettling } from '../../rig/settlement.ts'
import { type OpenEngine, openEngine } from './engines.ts'

const decided = { by: 'alice', reason: 'the account was missing' }

describe('undecided settlement records', () => {
  let run: SettlingRun
  let one: OpenEngine
  before(async () => {
    run = await startSettling()
    one = await openEngine(run)
  })
  afterEach(() => onFaultPoint(undefined))
  after(async () => {
    await one.close()
    await run.close()
  })

  /** A record that came before its payment. */
  async function early(reference: string) {
    const fileId = await run.taken(
      settlementFile([settled({ id: reference, mtid: reference, date: today() })]),
    )
    const scopeId = await scopeOf(fileId)
    const payment = await run.pay({ testMode: 'EXTERNAL', merchantTransactionId: reference })
    return { fileId, scopeId, paymentId: payment.id }
  }

  const today = () => new Date().toISOString().slice(0, 10)
  const scopeOf = async (fileId: string) => {
    const [row] = await run.sql<{ scope_id: string }>(
      'select scope_id from tollgate.settlement_file where id = $1',
      [fileId],
    )
    return row!.scope_id
  }
  const statusOf = async (reference: string) => {
    const [row] = await run.sql<{ match_status: string; version: number }>(
      'select match_status, version from tollgate.settlement_record where settlement_id = $1',
      [reference],
    )
    return row!
  }
  const timers = () =>
    run.sql<{ ref: string; minutes: number }>(
      `select ref, round(extract(epoch from due_at - now()) / 60)::integer as minutes
       from tollgate.timer where kind = 'settlement-retry' order by ref`,
    )
  const makeDue = () =>
    run.sql("update tollgate.timer set due_at = now() where kind = 'settlement-retry'")

  test('are tried within the hour, until none is left', async () => {
    const { scopeId, paymentId } = await early('order-RETRY-1')
    assert.equal((await statusOf('order-RETRY-1')).match_status, 'NOT_MATCHED')
    const [timer] = await timers()
    assert.equal(timer!.ref, scopeId)
    assert.ok(timer!.minutes >= 59 && timer!.minutes <= 60, String(timer!.minutes))
    await makeDue()
    await until(
      async () => (await statusOf('order-RETRY-1')).match_status === 'MATCHED' || undefined,
    )
    await until(async () => (await timers()).length === 0 || undefined)
    const [match] = await run.sql<{ payment_id: string }>(
      `select payment_id from tollgate.settlement_match as match
       join tollgate.settlement_record as record on record.id = match.record_id
       where record.settlement_id = 'order-RETRY-1'`,
    )
    assert.equal(match!.payment_id, paymentId)
  })

  test('keep their version and their timer while nothing fits', async () => {
    await run.taken(settlementFile([settled({ id: 'order-RETRY-2', mtid: 'order-RETRY-NONE' })]))
    const before = await statusOf('order-RETRY-2')
    await makeDue()
    await until(async () => ((await timers())[0]?.minutes ?? 0) > 30 || undefined)
    assert.deepEqual(await statusOf('order-RETRY-2'), before)
  })

  test('wait while another process holds the scope', async () => {
    const { scopeId } = await early('order-RETRY-3')
    const busy = await ScopeLeases.take(one.engine, [scopeId])
    // The host claims a timer that fires, so that it would come back two minutes later.
    await run.sql(
      "update tollgate.timer set step = 1, due_at = now() + interval '2 minutes' where ref = $1",
      [scopeId],
    )
    await retryScope(one.engine, scopeId, 'near')
    assert.equal((await statusOf('order-RETRY-3')).match_status, 'NOT_MATCHED')
    assert.equal((await timers())[0]!.minutes, 0, 'the retry comes back at once')
    await busy!.end()
    await until(
      async () => (await statusOf('order-RETRY-3')).match_status === 'MATCHED' || undefined,
    )
  })

  test('leave their scope free when a late renewal meets an ended lease', async () => {
    const { scopeId } = await early('order-RETRY-7')
    const leases = await ScopeLeases.take(one.engine, [scopeId])
    const held = leases!.held
    await leases!.end()
    await one.engine.lanes.upkeep(renewLeases(held, 60_000))
    const next = await ScopeLeases.take(one.engine, [scopeId])
    assert.ok(next !== undefined)
    await next.end()
  })

  for (const point of ['settlement-matched', 'settlement-recorded'] as const) {
    test(`are decided once after a death at ${point}`, async () => {
      const reference = `order-RETRY-${point}`
      const { scopeId } = await early(reference)
      onFaultPoint((reached) => {
        if (reached === point) throw new Error('interrupted')
      })
      await assert.rejects(retryScope(one.engine, scopeId, 'near'), /interrupted/)
      onFaultPoint(undefined)
      await retryScope(one.engine, scopeId, 'near')
      assert.deepEqual(await statusOf(reference), { match_status: 'MATCHED', version: 2 })
      const left = await run.sql(
        'select from tollgate.settlement_stage where file_id = $1 union all select from tollgate.settlement_work where run_id = $1',
        [scopeId],
      )
      assert.equal(left.length, 0)
    })
  }

  test('of a file that an operator runs again are compared with all payments', async () => {
    const { fileId } = await early('order-RETRY-4')
    await run.gateway.settlement.rerun(fileId, decided)
    await until(
      async () => (await statusOf('order-RETRY-4')).match_status === 'MATCHED' || undefined,
    )
    assert.equal((await run.read(fileId)).state, 'done')
    await until(async () => {
      const left = await timers()
      return left.every(({ ref }) => retryOf(ref).reach === 'near') || undefined
    })
  })

  test('are listed with their candidates, and given to a payment by an operator', async () => {
    const { fileId, paymentId } = await early('order-RETRY-5')
    const [record] = await run.gateway.settlement.exceptions({ fileId })
    assert.deepEqual(
      { status: record!.matchStatus, amount: record!.amount, line: record!.line },
      { status: 'NOT_MATCHED', amount: '92.00', line: 2 },
    )
    await run.gateway.settlement.assign(record!.id, [paymentId], decided)
    assert.deepEqual(await run.gateway.settlement.exceptions({ fileId }), [])
    await assert.rejects(run.gateway.settlement.assign(record!.id, [paymentId], decided), {
      code: '700.100.100',
    })
    const [audit] = await run.sql<{ actor: string; detail: object }>(
      `select actor, detail from tollgate.audit
       where action = 'settlement-record.assigned' and resource = $1`,
      [record!.id],
    )
    assert.deepEqual(
      [audit!.actor, audit!.detail],
      ['alice', { reason: 'the account was missing' }],
    )
  })

  test('stay hidden from other entities, and their decisions need a right', async () => {
    const { fileId } = await early('order-RETRY-6')
    const [record] = await run.gateway.settlement.exceptions({ fileId })
    const { channel } = await run.addAccount('MID-FOREIGN')
    const foreign = { id: 'foreign', entityId: channel, rights: 2 ** 20 - 1 }
    const { settlement } = run.gateway
    assert.deepEqual(await settlement.exceptions({ caller: foreign }), [])
    const missing = { status: 404, code: '700.400.580' }
    await assert.rejects(settlement.exceptions({ caller: foreign, fileId }), missing)
    await assert.rejects(
      settlement.assign(record!.id, [record!.id], { ...decided, caller: foreign }),
      missing,
    )
    await assert.rejects(settlement.rerun(fileId, { ...decided, caller: foreign }), missing)
    const powerless = { ...foreign, rights: 0 }
    for (const call of [
      () => settlement.exceptions({ caller: powerless }),
      () => settlement.assign(record!.id, [], { ...decided, caller: powerless }),
      () => settlement.rerun(fileId, { ...decided, caller: powerless }),
    ]) {
      await assert.rejects(call(), { status: 403 })
    }
    await assert.rejects(settlement.rerun(fileId, { reason: ' ' }), {
      parameterErrors: [{ name: 'reason', message: 'must be 1 to 1000 characters' }],
    })
  })
})
