/** Reversals that name no chargeback, and reports of one dispute that come again: none counts twice. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { onFaultPoint } from '../../../core/index.ts'
import { processed } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { chargeback, disputesOf, reversal, waits } from '../../rig/disputes.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  eur,
  type LateRun,
  refuse,
  refusedFor,
  startLate,
  withoutAnyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in the books of the bank' }

describe('disputes in doubt', () => {
  let run: LateRun
  before(async () => {
    run = await startLate({ 'by-nobody': withoutAnyReversal })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  const { debit, charge, giveBack, refund, chargedBack, records, whys, endAll } = disputesOf(
    () => run,
  )
  const nameless = (id: string, minor: string, more: object = {}) =>
    run.tell(id, { outcome: chargeback, minor, ...more })
  const back = (id: string, minor: string, more: object = {}) =>
    run.tell(id, { outcome: reversal, minor, ...more })
  const byHand = (id: string) => run.gateway.operator.reverseChargeback(id, by)
  const recordOf = async (id: string, at = 0) => (await records(id, 'CB'))[at]!.id
  const reversals = async (id: string) => {
    const [row] = await run.sql<{ count: bigint }>(
      `select count(*) from tollgate.chargeback where payment_id = $1 and kind = 'reversal'`,
      [id],
    )
    return row!.count
  }

  describe('a reversal without a reference', () => {
    test('is the one that an operator recorded, also while another chargeback stands', async () => {
      const id = await debit('hand-of-two')
      await nameless(id, '4000')
      await nameless(id, '4000')
      await byHand(await recordOf(id))
      const eventId = 'hand-of-two-back'
      assert.equal(await back(id, '4000', { eventId }), 'known')
      assert.equal(await chargedBack(id), 4000n)
      await assert.rejects(refund(id, '92.00'), waits)
      assert.deepEqual(await whys(id), [
        'it was taken for the reversal by hand, and a chargeback of its amount stands',
      ])
      assert.equal(await back(id, '4000', { eventId: 'hand-of-two-again' }), 'recorded')
      assert.equal(await chargedBack(id), 0n)
    })

    test('is the one that an operator recorded of a chargeback with a reference', async () => {
      const id = await debit('hand-named')
      await charge(id, 'hand-named', '4000')
      await byHand(await recordOf(id))
      assert.equal(await back(id, '4000', { eventId: 'hand-named-back' }), 'known')
      assert.equal(await reversals(id), 1n)
      assert.deepEqual(await whys(id), [])
    })

    test("by an authorisation's key reverses the capture's chargeback of its amount", async () => {
      const id = await debit('of-captures', { paymentType: 'PA' })
      const a = await run.gateway.payments.capture(id, eur('40.00'))
      const b = await run.gateway.payments.capture(id, eur('52.00'))
      await nameless(a.id, '4000')
      await nameless(b.id, '5200')
      assert.equal(await back(id, '5200'), 'recorded')
      await assert.rejects(refund(a.id, '40.00'), waits)
      assert.equal((await refund(b.id, '52.00')).result.code, charged)
    })

    test("by an authorisation's key that several captures fit stops refunds of all of them", async () => {
      const id = await debit('of-both-captures', { paymentType: 'PA' })
      const a = await run.gateway.payments.capture(id, eur('46.00'))
      const b = await run.gateway.payments.capture(id, eur('46.00'))
      for (const one of [a, b]) await nameless(one.id, '4600')
      assert.equal(await back(id, '4600'), 'recorded')
      for (const one of [a, b]) await assert.rejects(refund(one.id), waits)
      assert.deepEqual(await whys(a.id), ['it names no chargeback, and several payments have one'])
      await endAll(a.id)
      assert.equal((await refund(a.id)).result.code, charged)
      await assert.rejects(refund(b.id), waits)
    })

    test('outside of the sums leaves nothing of that chargeback to an operator', async () => {
      const id = await debit('outside-hand')
      const usd = { currency: 'USD' as const }
      await nameless(id, '10000', usd)
      await nameless(id, '10000', usd)
      assert.equal(await back(id, '10000', usd), 'recorded')
      await assert.rejects(
        byHand(await recordOf(id)),
        refusedFor(/the whole chargeback was reversed/),
      )
      await byHand(await recordOf(id, 1))
      assert.equal(await reversals(id), 2n)
      await endAll(id)
    })

    test('of one of two chargebacks of a late success keeps operators from its money until both are reversed', async () => {
      const { id } = await run.debit('outside-late', { debit: refuse }, run.at('by-nobody'))
      await nameless(id, '4600')
      await nameless(id, '4600')
      await run.tell(id, { outcome: approval })
      const keep = () => run.operator.settle(id, 'approved', by)
      await until(async () =>
        (await run.audited(id)).includes('late-success-stands') ? true : undefined,
      )
      assert.equal(await back(id, '4600'), 'recorded')
      await assert.rejects(keep(), refusedFor(/charged back/))
      await assert.rejects(byHand(await recordOf(id)), refusedFor(/the whole chargeback/))
      await assert.rejects(keep(), refusedFor(/charged back/))
      await byHand(await recordOf(id, 1))
      await keep()
      await endAll(id)
    })
  })

  for (const [name, currency] of [
    ['in the sums', 'EUR'],
    ['outside of the sums', 'USD'],
  ] as const) {
    test(`a reversal ${name} that a message and an operator record at one moment counts once`, async () => {
      const id = await debit(`moment-${currency}`)
      await charge(id, `moment-${currency}`, '4000', currency)
      const record = await recordOf(id)
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      onFaultPoint((point) => {
        if (point !== 'before-fact') return undefined
        onFaultPoint(undefined)
        reached.resolve()
        return released.promise
      })
      const told = giveBack(id, `moment-${currency}`, '4000', currency)
      await reached.promise
      await byHand(record)
      released.resolve()
      assert.equal(await told, 'known')
      assert.equal(await reversals(id), 1n)
      await endAll(id)
      assert.equal((await refund(id)).result.code, charged)
    })
  }

  describe('a report that comes again', () => {
    const retried = async (eventId: string, id: string) => {
      const entry = await until(async () =>
        (await run.listed(id)).find(({ kind, open }) => kind === 'event' && open),
      )
      await run.gateway.operator.retry(entry.id, by)
      return until(async () => {
        const [row] = await run.sql<{ outcome: string }>(
          `select outcome from tollgate.inbound_event
            where event_id like $1 || ' says %' and processed_at is not null`,
          [eventId],
        )
        return row?.outcome
      })
    }

    test('under its event id with other references is the same chargeback, also after its reversal', async () => {
      for (const isReversed of [false, true]) {
        const eventId = `retried-${isReversed}`
        const id = await debit(eventId)
        await nameless(id, '4000', { eventId })
        if (isReversed) await back(id, '4000')
        const outcome = { ...chargeback, refs: { dispute: 'd', arn: 'x' } }
        await run.bring(id, { outcome, minor: '4000', eventId })
        assert.equal(await retried(eventId, id), 'known')
        assert.equal(await chargedBack(id), isReversed ? 0n : 4000n)
        assert.deepEqual(await whys(id), [])
      }
    })

    test('under its event id with the reference that it lacked keeps the reference', async () => {
      const id = await debit('retried-named')
      await nameless(id, '4000', { eventId: 'retried-named' })
      const word = { outcome: chargeback, minor: '4000', eventId: 'retried-named' }
      await run.bring(id, { ...word, reference: 'retried-case' })
      assert.equal(await retried('retried-named', id), 'known')
      assert.equal(await giveBack(id, 'retried-case', '4000'), 'recorded')
      assert.equal((await refund(id)).result.code, charged)
    })

    test('under its event id with another amount is listed', async () => {
      const id = await debit('retried-more')
      await nameless(id, '4000', { eventId: 'retried-more' })
      await run.bring(id, { outcome: chargeback, minor: '5000', eventId: 'retried-more' })
      assert.equal(await retried('retried-more', id), 'conflict')
      assert.equal(await chargedBack(id), 4000n)
      await endAll(id)
    })

    test('with a reference like the event id of another one is a chargeback of its own', async () => {
      const id = await debit('same-name')
      assert.equal(await nameless(id, '4000', { eventId: '1001' }), 'recorded')
      assert.equal(await charge(id, '1001', '4000'), 'recorded')
      assert.equal(await chargedBack(id), 8000n)
      const again = await run.bring(id, { outcome: reversal, reference: '1001', minor: '4000' })
      assert.equal(await processed(run, again), 'recorded')
      assert.equal(await chargedBack(id), 4000n)
    })
  })
})
