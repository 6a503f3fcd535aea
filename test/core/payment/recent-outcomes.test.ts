/** What a process keeps for a failover has a bounded size, and no merchant takes the room of another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { RecentOutcomes } from '../../../core/payment/recent-outcomes.ts'

const { recentOutcomeBytes, recentOutcomeBytesPerMerchant } = limits

/** A payment whose request has the largest parameters of its own, each with a character of two bytes. */
function keep(kept: RecentOutcomes, merchant: string, id: string, parameters = 60): void {
  const request = {
    customParameters: Object.fromEntries(
      Array.from({ length: parameters }, (_, no) => [`par${no}`, `€${'z'.repeat(999)}`]),
    ),
  }
  const payment = { id, channelId: merchant, request }
  const begun = { is: 'first', row: { id, request: JSON.stringify(request) } }
  const work = { payment, lease: 1, begun, returns: null }
  kept.keep(work as never, { is: 'approved', refs: { id } }, 'answer', merchant, `event of ${id}`)
}
const idsOf = (kept: RecentOutcomes, merchant: string) =>
  kept
    .all()
    .filter(({ work }) => work.payment.channelId === merchant)
    .map(({ work }) => work.payment.id)

test('an outcome comes back as it was, and takes little more than its request', () => {
  const kept = new RecentOutcomes()
  keep(kept, 'one', 'a')
  const [{ work, outcome, source, eventId } = assert.fail()] = kept.all()
  const { request } = work.payment
  assert.equal(Object.keys(request.customParameters as object).length, 60)
  assert.ok(work.begun?.is === 'first')
  assert.equal(work.begun.row.request, JSON.stringify(request))
  assert.deepEqual(
    { outcome, source, eventId },
    {
      outcome: { is: 'approved', refs: { id: 'a' } },
      source: 'answer',
      eventId: 'event of a',
    },
  )
  assert.ok(kept.bytes < Buffer.byteLength(JSON.stringify(request)) + 1024)
})

test('one merchant never takes the room of another', () => {
  const kept = new RecentOutcomes()
  keep(kept, 'small', 'first', 1)
  for (let no = 0; no < 300; no += 1) keep(kept, 'large', `${no}`)
  assert.ok(kept.bytes <= recentOutcomeBytesPerMerchant + 10_000)
  assert.deepEqual(idsOf(kept, 'small'), ['first'])
  assert.equal(idsOf(kept, 'large').at(-1), '299')
  for (let merchant = 0; merchant < 5; merchant += 1) {
    for (let no = 0; no < 150; no += 1) keep(kept, `many-${merchant}`, `${no}`)
    assert.ok(kept.bytes <= recentOutcomeBytes)
  }
  assert.deepEqual(idsOf(kept, 'small'), ['first'])
  assert.equal(idsOf(kept, 'many-4').at(-1), '149')
})

test('the number of outcomes is bounded, and the last ones stay', () => {
  const kept = new RecentOutcomes()
  for (let no = 0; no < limits.recentOutcomes + 5; no += 1) keep(kept, `${no % 7}`, `${no}`, 0)
  const ids = kept.all().map(({ work }) => work.payment.id)
  assert.equal(ids.length, limits.recentOutcomes)
  assert.equal(ids[0], '5')
})
