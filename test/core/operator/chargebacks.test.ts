/** Chargebacks reversed without a message of the acquirer. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { processed } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { chargeback, disputesOf, reversal, waits } from '../../rig/disputes.ts'
import { until } from '../../rig/gateway.ts'
import {
  charged,
  type LateRun,
  refuse,
  refusedFor,
  startLateThroughLine,
} from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'

const alice = { by: 'alice', reason: 'seen in the acquirer’s file of the 21st' }

describe('chargebacks that an operator reverses', () => {
  let run: LateRun
  let line: Line
  before(async () => {
    ;({ run, line } = await startLateThroughLine())
  })
  after(async () => {
    await closeChecked(run)
    await line.close()
  })

  const { charge, giveBack, refund, endAll } = disputesOf(() => run)
  const records = (id: string, type: string) =>
    run.sql<{ id: string; referenced_id: string; minor: number }>(
      `select fact.id, fact.referenced_id, fact.amount_minor::integer as minor
         from tollgate.payment fact
         join tollgate.chargeback on chargeback.record_id = fact.id
        where chargeback.payment_id = $1 and fact.payment_type = $2 order by fact.id`,
      [id, type],
    )
  const lastOf = async (id: string) => (await records(id, 'CB')).at(-1)!.id
  const byHand = (id: string) => run.gateway.operator.reverseChargeback(id, alice)

  test('an operator reverses the standing part of a chargeback on record, and refunds continue', async () => {
    const { id } = await run.debit('back-halves')
    await charge(id, 'back-halves')
    assert.equal(await giveBack(id, 'back-halves', '4600'), 'recorded')
    assert.equal(
      await giveBack(id, 'back-halves', '4600'),
      'known',
      'the acquirer did not report the other half',
    )
    await assert.rejects(refund(id), waits)
    const record = await lastOf(id)
    const { text } = await byHand(record)
    assert.match(text, /^46\.00 EUR of chargeback/)
    const back = (await records(id, 'CR')).at(-1)!
    assert.deepEqual([back.minor, back.referenced_id], [4600, record])
    assert.ok(text.endsWith(back.id))
    assert.deepEqual(await run.audited(id), ['chargeback.reversed'])
    assert.deepEqual(await run.kinds(id), [])
    assert.equal((await refund(id)).result.code, charged)
    const view = await run.gateway.payments.get(back.id)
    assert.deepEqual([view.paymentType, view.amount], ['CR', '46.00'])
    await assert.rejects(byHand(record), refusedFor(/the whole chargeback was reversed already/))
  })

  test('an operator reverses a chargeback without a reference whose reversal has one', async () => {
    const { id } = await run.debit('back-nameless')
    await run.tell(id, { outcome: chargeback })
    const event = await run.bring(id, { outcome: reversal, reference: 'back-nameless' })
    await until(async () => {
      const [row] = await run.sql<{ waits: number }>(
        `update tollgate.inbound_event set received_at = now() - interval '73 hours',
           next_at = now() where event_id = $1 and waits > 0 returning waits`,
        [event],
      )
      return row
    })
    assert.equal(await processed(run, event), 'conflict')
    await endAll(id)
    await assert.rejects(refund(id), waits)
    await byHand(await lastOf(id))
    assert.equal((await refund(id)).result.code, charged)
  })

  test('a reversed repetition that counted as another round leaves the next one a round again', async () => {
    const { id } = await run.debit('back-repeated')
    await charge(id, 'back-repeated')
    await giveBack(id, 'back-repeated')
    await charge(id, 'back-repeated')
    await byHand(await lastOf(id))
    assert.equal((await refund(id)).result.code, charged)
    assert.equal(await charge(id, 'back-repeated'), 'recorded')
    assert.equal((await records(id, 'CB')).length, 3)
    await assert.rejects(refund(id), waits)
  })

  const told = (id: string) =>
    run.sql<{ type: string }>(
      `select event.type
         from tollgate.event
         join tollgate.payment fact on fact.id = event.resource
         join tollgate.chargeback on chargeback.record_id = fact.id
        where chargeback.payment_id = $1 and chargeback.kind = 'reversal'`,
      [id],
    )

  test("an acquirer's reversal that arrives afterwards is the same fact, told once", async () => {
    const { id } = await run.debit('back-after-all')
    await charge(id, 'back-after-all')
    await byHand(await lastOf(id))
    assert.equal(await giveBack(id, 'back-after-all'), 'known')
    assert.equal(await giveBack(id, 'back-after-all'), 'known', 'told again')
    assert.deepEqual(await run.kinds(id), [])
    assert.equal((await records(id, 'CR')).length, 1)
    assert.equal((await told(id)).length, 1)
    const [kept] = await run.sql<{ told_as: string; hasSource: boolean }>(
      `select told_as, source is not null as "hasSource" from tollgate.chargeback
        where payment_id = $1 and kind = 'reversal'`,
      [id],
    )
    assert.deepEqual(kept, { told_as: 'back-after-all', hasSource: true })
    assert.equal((await refund(id)).result.code, charged)
    assert.equal(await giveBack(id, 'back-after-all', '9300'), 'conflict')
    assert.deepEqual(await run.kinds(id), ['beyond-sums'])
    await endAll(id)
    assert.equal(await charge(id, 'back-after-all'), 'recorded', 'a round of its own')
    assert.equal(await giveBack(id, 'back-after-all'), 'recorded')
    await endAll(id)
  })

  test("an acquirer's reversal of another amount than the one by hand is recorded and listed", async () => {
    const { id } = await run.debit('back-more')
    await charge(id, 'back-more')
    await byHand(await lastOf(id))
    assert.equal(await giveBack(id, 'back-more', '9300'), 'recorded')
    assert.deepEqual(await run.kinds(id), ['beyond-sums'])
    await endAll(id)
  })

  test("an acquirer's reversal without a reference confirms the one by hand, once", async () => {
    const { id } = await run.debit('back-without-names')
    await run.tell(id, { outcome: chargeback })
    await byHand(await lastOf(id))
    assert.equal(await run.tell(id, { outcome: reversal, minor: '9200' }), 'known')
    assert.equal((await told(id)).length, 1)
    assert.deepEqual(await run.kinds(id), [])
  })

  test('a chargeback outside the sums that was reversed by hand is confirmed alike', async () => {
    const { id } = await run.debit('back-outside')
    await charge(id, 'back-outside', '10000', 'USD')
    await byHand(await lastOf(id))
    const usd = { outcome: reversal, reference: 'back-outside', minor: '10000', currency: 'USD' }
    assert.equal(await run.tell(id, usd), 'known')
    assert.equal((await told(id)).length, 1)
    await endAll(id)
  })

  test('a reversed chargeback in another currency, or of a declined payment, no longer stands', async () => {
    const { id } = await run.debit('back-dollars')
    await charge(id, 'back-dollars', '10000', 'USD')
    const { text } = await byHand(await lastOf(id))
    assert.match(text, /^100\.00 USD/)
    assert.deepEqual(await run.kinds(id), ['beyond-sums'], 'the chargeback itself is still listed')
    await endAll(id)
    assert.equal((await refund(id)).result.code, charged)
    const declined = await run.debit('back-declined', { debit: refuse })
    await charge(declined.id, 'back-declined')
    await byHand(await lastOf(declined.id))
    await assert.rejects(byHand(await lastOf(declined.id)), refusedFor(/the whole chargeback/))
  })

  test('two simultaneous reversals of one chargeback count once', async () => {
    const { id } = await run.debit('back-twice')
    await charge(id, 'back-twice', '100', 'USD')
    const record = await lastOf(id)
    const both = await Promise.allSettled([byHand(record), byHand(record)])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    assert.equal((await records(id, 'CR')).length, 1)
    await endAll(id)
  })

  test('a reversal whose answer was lost is reported as made', async () => {
    const { id } = await run.debit('back-lost')
    await charge(id, 'back-lost')
    const carol = { by: 'Carol of the night', reason: 'as above' }
    const cut = line.cut(carol.by, 'after')
    const record = await lastOf(id)
    const { text } = await run.gateway.operator.reverseChargeback(record, carol)
    await cut
    const backs = await records(id, 'CR')
    assert.equal(backs.length, 1)
    assert.ok(text.endsWith(backs[0]!.id))
    assert.deepEqual(await run.audited(id), ['chargeback.reversed'])
    const [told] = await run.sql(
      `select actor_kind as kind, actor, entity_id, detail ->> 'chargeback' as chargeback,
         detail ->> 'reversal' as reversal from tollgate.audit where resource = $1`,
      [id],
    )
    const by = { kind: 'embedder', actor: carol.by, entity_id: run.channel }
    assert.deepEqual(told, { ...by, chargeback: record, reversal: backs[0]!.id })
    assert.equal((await refund(id)).result.code, charged)
  })

  test("a payment's id is answered with its standing chargebacks, an unknown id with 404", async () => {
    const { id } = await run.debit('back-payment')
    await assert.rejects(
      byHand(id),
      refusedFor(/is not a chargeback.*this payment has no open chargeback/),
    )
    await charge(id, 'back-payment')
    const record = await lastOf(id)
    await assert.rejects(
      byHand(id),
      refusedFor(new RegExp(`open chargebacks of this payment: ${record}`)),
    )
    await assert.rejects(byHand('0'.repeat(32)), { status: 404 })
    await assert.rejects(byHand('nothing'), { status: 404 })
    await byHand(record)
  })
})
