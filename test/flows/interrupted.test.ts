import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type FaultPoint, onFaultPoint } from '../../core/index.ts'
import {
  type AcquirerRun,
  approvedAs,
  type Script,
  scriptedAcquirer,
  startWithAcquirer,
} from '../rig/acquirer.ts'
import { balanceOf, checkBooks } from '../rig/books.ts'
import { until } from '../rig/gateway.ts'

const charged = '000.100.112'
const notCharged = '900.100.400'
const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const found: Script = { enquire: approvedAs }

/**
 * Runs a request up to the `nth` visit of a fault point, where its process "dies" and never
 * continues. Returns the id of its payment.
 */
function dieAt(point: FaultPoint, request: () => Promise<unknown>, nth = 1): Promise<string> {
  return new Promise((resolve, reject) => {
    let left = nth
    onFaultPoint((at, ref) => {
      if (at !== point) return
      left -= 1
      if (left > 0) return
      onFaultPoint(undefined)
      resolve(ref)
      return new Promise<void>(() => {})
    })
    request().then(() => reject(new Error(`the request never reached ${point}`)), reject)
  })
}

/**
 * Every process here dies first; then all leases expire at once, and the jobs of the remaining
 * engine resolve the attempts in parallel.
 */
describe('attempts of a process that died', () => {
  let run: AcquirerRun
  const dead: Record<string, string> = {}
  const alive: Record<string, string> = {}

  before(async () => {
    run = await startWithAcquirer({
      acquirer: scriptedAcquirer({ key: { by: 'key', ttlMs: 24 * 3600_000 } }),
      shutdownGraceMs: 100,
    })
    const { payments } = run.gateway
    const debit =
      (reference: string, script: Script, more = {}) =>
      () =>
        run.debit(reference, script, more)
    const follow =
      (reference: string, script: Script, on: string, fields: Record<string, string>) => () => {
        run.acquirer.tell(reference, script)
        return payments.followUp(on, { ...fields, merchantTransactionId: reference } as never)
      }
    const authorised = async (reference: string) =>
      (await run.debit(reference, {}, { paymentType: 'PA' })).id

    dead.unsent = await dieAt('after-T1', debit('dead-unsent', {}))
    dead.sent = await dieAt('after-send', debit('dead-sent', found))
    dead.answered = await dieAt('before-T2', debit('dead-answered', found))
    dead.held = await dieAt(
      'before-T2',
      debit('dead-held', { reverseByKey: () => ({ is: 'refused', why: 'no' }) }),
    )

    alive.authorisation = await authorised('alive-authorisation')
    dead.capture = await dieAt(
      'before-T2',
      follow('dead-capture', found, alive.authorisation, { paymentType: 'CP', ...eur('60.00') }),
    )
    alive.refunded = (await run.debit('alive-refunded')).id
    dead.refund = await dieAt(
      'after-T1',
      follow('dead-refund', {}, alive.refunded, { paymentType: 'RF', ...eur('30.00') }),
    )
    alive.reversed = await authorised('alive-reversed')
    dead.reversal = await dieAt(
      'after-send',
      follow('dead-reversal', found, alive.reversed, { paymentType: 'RV' }),
    )

    const twoSteps = (reference: string) => debit(reference, {}, { paymentType: 'PA.CP' })
    dead.betweenSteps = await dieAt('after-T2', twoSteps('dead-between'))
    dead.secondStep = await dieAt('before-T2', twoSteps('dead-second'), 2)
    run.acquirer.tell('dead-second', found)
    dead.firstStep = await dieAt('before-T2', twoSteps('dead-first'))
    run.acquirer.tell('dead-first', found)

    dead.leased = await dieAt('after-T1', debit('dead-leased', found))
    await run.sql(
      `update tollgate.attempt set lease_until = now() - interval '1 second', sent_at = now() - interval '1 hour'
        where state = 'sending' and payment_id <> $1`,
      [dead.leased],
    )
    await run.sql(`update tollgate.timer set due_at = now() where kind = 'continue'`)
  })
  after(async () => {
    try {
      await checkBooks(run)
    } finally {
      onFaultPoint(undefined)
      await run.close()
    }
  })

  const code = async (id: string) => (await run.gateway.payments.get(id)).result.code

  test('an attempt interrupted before sending is closed by key and declined as not charged', async () => {
    await run.event(dead.unsent!, 'payment.declined')
    assert.equal(await code(dead.unsent!), notCharged)
    assert.deepEqual(
      run.acquirer.of('dead-unsent'),
      ['enquire', 'reverseByKey'],
      'a shopper is never charged later',
    )
    assert.deepEqual(
      await run.sql('select id from tollgate.instrument where id = $1', [dead.unsent]),
      [],
    )
  })

  test('an attempt interrupted after sending is approved by the enquiry', async () => {
    for (const [id, reference] of [
      [dead.sent!, 'dead-sent'],
      [dead.answered!, 'dead-answered'],
    ] as const) {
      await run.event(id, 'payment.approved')
      assert.equal(await code(id), charged)
      assert.deepEqual(run.acquirer.of(reference), ['debit', 'enquire'])
      const rows = await run.sql(
        'select settled_by, lease from tollgate.attempt where payment_id = $1',
        [id],
      )
      assert.deepEqual(rows, [{ settled_by: 'enquiry', lease: 2 }])
    }
  })

  test('an attempt that cannot be closed stays undecided and is listed', async () => {
    await run.event(dead.held!, 'payment.unknown')
    const listed = await run.gateway.attention()
    assert.deepEqual(
      listed.filter((row) => row.payment_id === dead.held).map((row) => row.kind),
      ['undecided'],
    )
  })

  test('an interrupted capture continues: its reservation becomes a sum', async () => {
    await run.event(dead.capture!, 'payment.approved')
    const { capturing, captured } = await balanceOf(run, alive.authorisation!)
    assert.deepEqual({ capturing, captured }, { capturing: 0n, captured: 6000n })
  })

  test('a refund that was never sent is reversed by key, and its amount can be refunded again', async () => {
    await run.event(dead.refund!, 'payment.declined')
    assert.deepEqual(run.acquirer.of('dead-refund'), ['enquire', 'reverseByKey'])
    const { refunding, refunded } = await balanceOf(run, alive.refunded!)
    assert.deepEqual({ refunding, refunded }, { refunding: 0n, refunded: 0n })
  })

  test('a reversal that reached the acquirer is found and not sent again', async () => {
    await run.event(dead.reversal!, 'payment.approved')
    assert.deepEqual(run.acquirer.of('dead-reversal'), ['reverse', 'enquire'])
    assert.equal((await balanceOf(run, alive.reversed!)).reversed, 9200n)
  })

  /** The capture of a two-step payment, once it is approved. */
  const captureOf = (authorisation: string) =>
    until(async () => {
      const [row] = await run.sql<{ id: string }>(
        `select id from tollgate.payment where referenced_id = $1 and payment_type = 'CP' and state = 'approved'`,
        [authorisation],
      )
      return row?.id
    })

  test('a PA.CP interrupted between its steps is captured', async () => {
    await captureOf(dead.betweenSteps!)
    assert.deepEqual(run.acquirer.of('dead-between'), ['authorize', 'capture'])
    assert.equal((await balanceOf(run, dead.betweenSteps!)).captured, 9200n)
  })

  test('a PA.CP interrupted in its second step is captured once', async () => {
    // The process died in the capture, so the payment under work is the capture.
    await run.event(dead.secondStep!, 'payment.approved')
    assert.deepEqual(run.acquirer.of('dead-second'), ['authorize', 'capture', 'enquire'])
  })

  test('a PA.CP interrupted in its first step is found authorised, then captured', async () => {
    await run.event(dead.firstStep!, 'payment.approved')
    await run.sql(`update tollgate.timer set due_at = now() where kind = 'continue'`)
    await captureOf(dead.firstStep!)
    assert.deepEqual(run.acquirer.of('dead-first'), ['authorize', 'enquire', 'capture'])
  })

  test('a finished two-step payment has no timer left', async () => {
    await captureOf(dead.betweenSteps!)
    await captureOf(dead.firstStep!)
    await until(async () => {
      const rows = await run.sql(
        `select 1 from tollgate.timer where kind = 'continue' and ref = any($1)`,
        [[dead.betweenSteps, dead.firstStep]],
      )
      return rows.length === 0 ? true : undefined
    })
  })

  test('an attempt with a running lease is left alone', async () => {
    await run.event(dead.capture!, 'payment.approved')
    assert.deepEqual(run.acquirer.of('dead-leased'), [])
    await assert.rejects(run.gateway.payments.reverse(dead.leased!), { code: '700.400.570' })
    assert.equal(await code(dead.leased!), '000.200.001')
    await run.sql(`update tollgate.attempt set lease_until = now() where payment_id = $1`, [
      dead.leased,
    ])
    await run.event(dead.leased!, 'payment.approved')
  })
})
