/** The payment and the round of a chargeback, and the follow-ups that wait in case of doubt. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { unknown } from '@tollgate/plugin-kit'
import { standingOf } from '../../../core/payment/store-dispute-read.ts'
import { processed } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { chargeback, disputesOf, reversal, waits } from '../../rig/disputes.ts'
import {
  accept,
  approval,
  charged,
  eur,
  failure,
  type LateRun,
  lose,
  refuse,
  startLate,
} from '../../rig/late-words.ts'

describe('chargebacks by reference', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const {
    debit,
    charge,
    giveBack,
    refund,
    chargedBack,
    records,
    whys,
    endAll,
    hasWaited,
    turnNow,
  } = disputesOf(() => run)
  const left = async (id: string) => {
    const { strings, values } = standingOf(id)
    const text = strings.reduce((before, after, at) => `${before}$${at}${after}`)
    const rows = await run.sql<{ currency: string; minor: bigint }>(text, [...values])
    return rows.find(({ currency }) => currency === 'EUR')?.minor ?? 0n
  }
  const facts = async (id: string) =>
    (await records(id, 'CB')).length + (await records(id, 'CR')).length

  test('a reference known from another payment is listed, and refunds wait for an operator', async () => {
    const [one, other] = [await debit('case-one'), await debit('case-other')]
    assert.equal(await charge(one, 'shared-case'), 'recorded')
    assert.equal(await charge(other, 'shared-case'), 'conflict')
    assert.deepEqual(await whys(other), ['the reference is known of another payment'])
    assert.equal(await chargedBack(other), 0n)
    await assert.rejects(refund(other), waits)
    await endAll(other)
    assert.equal((await refund(other)).result.code, charged)
    assert.equal(await chargedBack(one), 9200n)
  })

  test('one reference reported for an authorisation and its capture is one chargeback', async () => {
    const id = await debit('case-both', { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('92.00'))
    assert.equal(await charge(id, 'case-both'), 'recorded')
    assert.equal(await charge(capture.id, 'case-both'), 'known')
    assert.equal(await giveBack(id, 'case-both'), 'recorded')
    assert.equal(await giveBack(capture.id, 'case-both'), 'known')
    assert.equal((await refund(capture.id)).result.code, charged)
  })

  test('another message with the reference of a standing chargeback counts no second one', async () => {
    const id = await debit('case-halves')
    assert.equal(await charge(id, 'case-halves', '4600'), 'recorded')
    assert.equal(await charge(id, 'case-halves', '4600'), 'known')
    assert.equal(await chargedBack(id), 4600n)
    assert.deepEqual(await run.kinds(id), [])
  })

  test('a chargeback of a declined payment, repeated after its reversal, is listed as both', async () => {
    const { id } = await run.debit('case-declined', { debit: refuse })
    const first = { outcome: chargeback, reference: 'case-declined', minor: '9200' }
    assert.equal(await run.tell(id, { ...first, eventId: 'case-declined-1' }), 'recorded')
    assert.equal(await giveBack(id, 'case-declined'), 'recorded')
    assert.equal(await charge(id, 'case-declined'), 'recorded')
    const misfit = 'a chargeback of a payment that is declined'
    const about = (await whys(id)).filter((why) => String(why).includes('a chargeback'))
    assert.deepEqual(about, [misfit, `a chargeback that was reversed came again, ${misfit}`])
  })

  test('a chargeback repeated after its reversal is a new round with its own reversal', async () => {
    const id = await debit('case-rounds')
    const first = { outcome: chargeback, reference: 'case-rounds', minor: '9200' }
    assert.equal(await run.tell(id, { ...first, eventId: 'case-rounds-1' }), 'recorded')
    const back = { outcome: reversal, reference: 'case-rounds', minor: '9200' }
    assert.equal(await run.tell(id, { ...back, eventId: 'case-rounds-2' }), 'recorded')
    assert.equal(await charge(id, 'case-rounds'), 'recorded')
    assert.equal(await chargedBack(id), 9200n)
    assert.equal(await left(id), 9200n)
    assert.deepEqual(await whys(id), ['a chargeback that was reversed came again'])
    await endAll(id)
    await assert.rejects(refund(id), waits)
    assert.equal(await charge(id, 'case-rounds'), 'known')

    // A process that died before it closed the first messages processes them again.
    for (const eventId of ['case-rounds-1', 'case-rounds-2']) {
      await run.sql(
        `update tollgate.inbound_event set processed_at = null, outcome = null, next_at = now()
          where event_id = $1`,
        [eventId],
      )
      assert.equal(await processed(run, eventId), 'known')
    }
    assert.equal(await chargedBack(id), 9200n)

    assert.equal(await giveBack(id, 'case-rounds'), 'recorded')
    assert.equal(await giveBack(id, 'case-rounds'), 'known')
    assert.equal(await chargedBack(id), 0n)
    assert.equal(await left(id), 0n)
    await assert.rejects(refund(id), waits, 'it may be the first reversal, told again')
    await endAll(id)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('another amount after the reversal is listed, and refunds wait for an operator', async () => {
    const id = await debit('case-more')
    await charge(id, 'case-more', '3000')
    await giveBack(id, 'case-more', '3000')
    assert.equal(await charge(id, 'case-more', '4000'), 'conflict')
    await assert.rejects(refund(id), waits)
    await endAll(id)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('another amount while the first stands is listed, and refunds wait also after the reversal of the first', async () => {
    const id = await debit('case-larger')
    await charge(id, 'case-larger', '4000')
    assert.equal(await charge(id, 'case-larger', '9200'), 'conflict')
    await giveBack(id, 'case-larger', '4000')
    await assert.rejects(refund(id, '92.00'), waits)
    await endAll(id)
    assert.equal((await refund(id, '92.00')).result.code, charged)
  })

  test('another amount of a chargeback of an authorisation stops refunds of all its captures', async () => {
    const id = await debit('case-captures', { paymentType: 'PA' })
    const one = await run.gateway.payments.capture(id, eur('50.00'))
    const other = await run.gateway.payments.capture(id, eur('42.00'))
    await charge(id, 'case-captures', '5000')
    await endAll(id)
    assert.equal(await charge(id, 'case-captures', '4200'), 'conflict')
    for (const capture of [one, other]) await assert.rejects(refund(capture.id), waits)
  })

  test("a chargeback in another currency by an authorisation's key stops refunds of its captures", async () => {
    const id = await debit('dollars-captures', { paymentType: 'PA' })
    const one = await run.gateway.payments.capture(id, eur('50.00'))
    const other = await run.gateway.payments.capture(id, eur('42.00'))
    assert.equal(await charge(id, 'dollars-captures', '5000', 'USD'), 'recorded')
    for (const capture of [one, other]) await assert.rejects(refund(capture.id), waits)
    await endAll(id)
    for (const capture of [one, other])
      assert.equal((await refund(capture.id)).result.code, charged)
  })

  test('a chargeback in another currency has rounds as well', async () => {
    const id = await debit('case-dollars')
    assert.equal(await charge(id, 'case-dollars', '9900', 'USD'), 'recorded')
    assert.equal(await charge(id, 'case-dollars', '9900', 'USD'), 'known')
    assert.equal(await giveBack(id, 'case-dollars', '9900', 'USD'), 'recorded')
    await endAll(id)
    assert.equal(await charge(id, 'case-dollars', '9900', 'USD'), 'recorded')
    await assert.rejects(refund(id), waits)
    assert.equal(await left(id), 0n, 'nothing in its own currency')
  })

  test("a reversal for another payment's chargeback is listed and moves nothing", async () => {
    const [one, other] = [await debit('back-one'), await debit('back-other')]
    await charge(one, 'back-case')
    assert.equal(await giveBack(other, 'back-case'), 'conflict')
    assert.deepEqual(await whys(other), ['its chargeback is of another payment'])
    assert.deepEqual([await chargedBack(one), await chargedBack(other)], [9200n, 0n])
    await assert.rejects(refund(one), waits)
    assert.equal(await giveBack(one, 'back-case'), 'recorded')
    assert.equal((await refund(one)).result.code, charged)
  })

  test('a reversal in another currency is recorded outside the sums, listed, and counts for nothing', async () => {
    const id = await debit('back-yen')
    await charge(id, 'back-yen')
    assert.equal(await giveBack(id, 'back-yen', '9200', 'JPY'), 'recorded')
    assert.deepEqual(await whys(id), ['a reversal in another currency than its chargeback'])
    assert.equal(await chargedBack(id), 9200n)
    assert.equal(await left(id), 9200n)
    await endAll(id)
    await assert.rejects(refund(id), waits)
  })

  test('reversals without references apply to the standing chargeback in their own currency', async () => {
    const id = await debit('nameless-two')
    assert.equal(await run.tell(id, { outcome: chargeback, minor: '5000' }), 'recorded')
    const dollars = { minor: '5000', currency: 'USD' as const }
    assert.equal(await run.tell(id, { outcome: chargeback, ...dollars }), 'recorded')
    assert.equal(await run.tell(id, { outcome: reversal, ...dollars }), 'recorded')
    assert.equal(await chargedBack(id), 5000n)
    assert.equal(await run.tell(id, { outcome: reversal, minor: '5000' }), 'recorded')
    assert.equal(await chargedBack(id), 0n)
  })

  for (const [name, decision] of [
    ['approved', approval],
    ['declined', failure],
  ] as const) {
    test(`a chargeback by an authorisation's key waits for an open capture, which is ${name}`, async () => {
      const id = await debit(`open-${name}`, { paymentType: 'PA' })
      const unsure = { capture: lose, enquire: () => unknown('later') }
      const capture = await run.follow(id, 'CP', `open-${name}-cp`, eur('92.00'), unsure)
      const word = { outcome: chargeback, reference: `open-${name}`, minor: '9200' }
      const early = await run.bring(id, word)
      await hasWaited(early)
      assert.equal((await facts(id)) + (await facts(capture.id)), 0)
      assert.equal(await run.tell(capture.id, { outcome: decision }), 'settled')
      await turnNow(early)
      assert.equal(await processed(run, early), 'recorded')
      const isApproved = name === 'approved'
      assert.deepEqual([await facts(id), await facts(capture.id)], isApproved ? [0, 1] : [1, 0])
      const next = isApproved ? refund(capture.id) : run.gateway.payments.capture(id, eur('92.00'))
      await assert.rejects(next, waits)
    })
  }

  test('a chargeback of an authorisation without a capture, and its reversal, wait for an operator', async () => {
    const id = await debit('no-capture', { paymentType: 'PA' })
    assert.equal(await charge(id, 'no-capture'), 'recorded')
    assert.equal(await facts(id), 1)
    assert.deepEqual(await whys(id), ['a chargeback of an authorisation with no capture'])
    await assert.rejects(run.gateway.payments.capture(id, eur('50.00')), waits)
    await assert.rejects(run.gateway.payments.reverse(id), waits)
    await endAll(id)
    const capture = await run.gateway.payments.capture(id, eur('50.00'))
    assert.equal((await refund(capture.id)).result.code, charged)
    assert.equal(await left(id), 9200n)
    assert.equal((await run.gateway.payments.reverse(id)).amount, '42.00')
  })

  test('a chargeback of a refund or a credit is recorded outside the sums and listed', async () => {
    const sale = await debit('of-refund')
    const refunded = await run.gateway.payments.refund(sale, eur('40.00'))
    const credit = await debit('of-credit', { paymentType: 'CD' })
    for (const id of [refunded.id, credit]) {
      assert.equal(await charge(id, `case of ${id}`, '4000'), 'recorded')
      assert.deepEqual(await whys(id), ['a chargeback of what took no money'])
      assert.equal(await facts(id), 1)
      assert.equal(await left(id), 4000n)
    }
    assert.equal(await chargedBack(sale), 0n)
    assert.equal((await refund(sale)).result.code, charged)
  })

  test('the standing amount is known for a payment without sums, too', async () => {
    const { id } = await run.debit('of-declined', { debit: refuse })
    const { id: accepted } = await run.debit('of-accepted', { debit: accept })
    assert.equal(await left(id), 0n)
    await charge(id, 'of-declined-a', '5000')
    await charge(id, 'of-declined-b', '2000')
    assert.equal(await left(id), 7000n)
    await giveBack(id, 'of-declined-a', '5000')
    assert.equal(await left(id), 2000n)
    await charge(id, 'of-declined-c', '900', 'USD')
    await giveBack(id, 'of-declined-c', '900', 'EUR')
    assert.equal(await left(id), 2000n, 'a report about other money returns nothing')
    await giveBack(id, 'of-declined-b', '9000')
    assert.equal(await left(id), 0n)
    assert.equal(await run.tell(id, { outcome: chargeback, minor: '700' }), 'recorded')
    assert.equal(await left(id), 700n)
    assert.equal(await run.tell(id, { outcome: reversal, minor: '700' }), 'recorded')
    assert.equal(await left(id), 0n)
    assert.equal(await left(accepted), 0n)
  })
})
