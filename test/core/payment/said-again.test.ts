/** Repeated or changed reports about settled money: no amount is returned twice. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Found, pending, type Reversed } from '@tollgate/plugin-kit'
import { approvedAs } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  eur,
  failure,
  heldCall,
  type LateRun,
  lose,
  refuse,
  startLate,
  undecided,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const chargeback = { is: 'chargeback', reason: '000.100.220', refs: {} }

describe('repeated reports about settled money', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate(
      {
        'by-reversal': withoutKeyReversal,
        'by-repeat': (connector) => ({
          ...withoutKeyReversal(connector),
          supports: { ...connector.supports, key: { by: 'key', ttlMs: 24 * 3_600_000 } },
        }),
      },
      { connectorTimeoutMs: 5_000 },
    )
  })
  after(() => closeChecked(run))

  const times = (reference: string, what: string) =>
    run.acquirer.of(reference).filter((call) => call === what).length
  const isUndone = (id: string) =>
    until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))

  test('money returned by hand is not returned again when the acquirer repeats its report', async () => {
    const { id } = await run.debit('again-by-hand', {
      debit: refuse,
      reverseByKey: (): Reversed => ({ is: 'refused', why: 'too late' }),
      reverse: refuse,
    })
    await run.tell(id, { outcome: approval })
    await until(async () =>
      (await run.audited(id)).includes('late-success-stands') ? true : undefined,
    )
    await run.operator.settle(id, 'declined', by)
    const before = times('again-by-hand', 'reverseByKey')
    assert.equal(await run.tell(id, { outcome: approval }), 'conflict')
    assert.equal(times('again-by-hand', 'reverseByKey'), before)
    assert.deepEqual(await run.kinds(id), ['(conflict)', 'conflict'])
  })

  test('money reversed for 50.00 and then reported as 92.00 is left to operators', async () => {
    const { id } = await run.debit('again-more', { debit: refuse }, run.at('by-reversal'))
    await run.tell(id, { outcome: approval, minor: '5000' })
    await isUndone(id)
    assert.equal(await run.tell(id, { outcome: approval }), 'conflict')
    assert.equal(times('again-more', 'reverse'), 1)
    assert.deepEqual(await run.kinds(id), ['(conflict)', 'conflict'])
  })

  test('a second amount of a late success that is not undone yet is listed beside the first', async () => {
    const { id } = await run.debit('again-open', {
      debit: refuse,
      reverseByKey: (): Reversed => ({ is: 'unknown', why: 'no answer' }),
    })
    await run.tell(id, { outcome: approval, minor: '5000' })
    assert.equal(await run.tell(id, { outcome: approval }), 'conflict')
    assert.deepEqual(await run.kinds(id), ['conflict', 'conflict'])
    run.acquirer.tell('again-open', { reverseByKey: (): Reversed => ({ is: 'reversed' }) })
    await run.dueNow(id)
    await isUndone(id)
  })

  test('a failure of a late success after its reversal is left to operators', async () => {
    const { id } = await run.debit('again-failed', { debit: refuse })
    await run.tell(id, { outcome: { ...approval, is: 'accepted', finalBy: 'event' } })
    await isUndone(id)
    assert.equal(await run.tell(id, { outcome: failure }), 'conflict')
    assert.deepEqual(await run.kinds(id), ['(conflict)', 'conflict'])
  })

  test('a late success that was charged back is not reversed as well', async () => {
    const { id } = await run.debit('again-charged-back', { debit: refuse })
    await run.tell(id, { outcome: chargeback, reference: 'dispute-of-declined' })
    await run.tell(id, { outcome: approval })
    await until(async () =>
      (await run.audited(id)).includes('late-success-stands') ? true : undefined,
    )
    assert.deepEqual(run.acquirer.of('again-charged-back'), ['debit'])
    assert.ok((await run.kinds(id)).includes('conflict'))
    await run.operator.settle(id, 'declined', by)
  })

  test("an answer that arrives during another process's enquiry is kept, whatever the enquiry finds", async () => {
    const call = heldCall()
    const asked = heldCall<Found>()
    const { id, result } = await run.debit('again-asked', {
      debit: call.handler,
      enquire: (operation, context) => asked.handler(operation, context),
    })
    assert.equal(result.code, undecided)
    const enquiry = run.operator.enquire(id, by)
    await asked.begun
    call.answer(approvedAs(await call.begun))
    asked.answer({ is: 'declined', reason: '800.100.155' })
    await enquiry
    await isUndone(id)
    assert.equal(times('again-asked', 'reverseByKey'), 1)
  })

  test('refunds wait for an operator once two amounts of a refund were reported', async () => {
    const { id } = await run.debit('again-refund')
    const refund = await run.follow(id, 'RF', 'again-refund-10', eur('10.00'))
    assert.equal(await run.tell(refund.id, { outcome: approval, minor: '9200' }), 'conflict')
    const more = () => run.gateway.payments.refund(id, eur('82.00'))
    await assert.rejects(more(), { code: '700.300.600' })
    const [entry] = await run.listed(refund.id)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await more()).result.code, charged)
  })

  test('a refund that may have been sent is not sent again after a chargeback', async () => {
    const { id } = await run.debit('again-sent', {}, run.at('by-repeat'))
    const refund = await run.follow(id, 'RF', 'again-sent-refund', eur('92.00'), { refund: lose })
    await run.tell(id, { outcome: chargeback, reference: 'dispute-of-refunded' })
    await run.age(refund.id)
    await run.gateway.operator.redrive(refund.id, by)
    await until(async () => ((await run.kinds(refund.id)).includes('undecided') ? true : undefined))
    assert.equal(times('again-sent-refund', 'refund'), 1)
    run.acquirer.tell('again-sent-refund', { enquire: approvedAs })
    await run.age(refund.id)
    await run.operator.enquire(refund.id, by)
    assert.equal((await balanceOf(run, id)).refunded, 9200n)
  })

  test('an event does not make an expired payment pending again', async () => {
    const waits = pending('event', { refs: { reference: 'open' } })
    const { id } = await run.debit('again-pending', {
      debit: () => waits,
      enquire: () => waits,
      reverseByKey: (): Reversed => ({ is: 'refused', why: 'too late' }),
    })
    await run.sql(
      `update tollgate.timer set due_at = now() where kind = 'expire'
        and ref = (select attempt_key from tollgate.payment where id = $1)`,
      [id],
    )
    await run.event(id, 'payment.unknown')
    assert.equal(await run.tell(id, { outcome: { is: 'pending', next: 'event' } }), 'known')
    assert.equal(await run.stateOf(id), 'unknown')
    run.acquirer.tell('again-pending', { enquire: approvedAs })
    await until(async () => {
      await run.operator.enquire(id, by).catch(() => undefined)
      return (await run.stateOf(id)) === 'approved' ? true : undefined
    })
  })
})
