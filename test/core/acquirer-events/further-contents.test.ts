/** Contents under one event id beyond those that are kept: counted for operators, and chargebacks hold refunds back. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { approvedOf, chargeback, type SharedRun, startShared, undecided } from './shared-number.ts'

const waits = { code: '700.300.600' }
const done = '000.100.112'
const by = { by: 'alice', reason: 'looked' }
const why = 'it came again with further contents, which are not kept'

describe('contents of an event beyond those that are kept', () => {
  let run: SharedRun
  before(async () => {
    run = await startShared()
  })
  after(() => closeChecked(run))

  const made = async (reference: string, script = {}, more = {}) => {
    const { id } = await run.debit(reference, script, more)
    return { id, key: await run.keyOf(id) }
  }
  const refund = (id: string) =>
    run.gateway.payments.refund(id, { amount: '5.00', currency: 'EUR' })
  const nothingOpen = (keys: readonly string[]) =>
    until(async () => {
      const open = await run.sql(
        `select 1 from tollgate.inbound_event where claim ->> 'key' = any($1) and processed_at is null`,
        [keys],
      )
      return open.length === 0 || undefined
    })
  /** The entries that count what is not kept. */
  const furtherOf = (eventId: string) =>
    run.sql<{ id: string; payment_id: string | null; is: string | null; notKept: number }>(
      `select id, payment_id, detail #>> '{now,outcome,is}' as is, (detail -> 'notKept')::integer as "notKept"
       from tollgate.attention
       where detail ->> 'event' = $1 and detail ->> 'why' = $2 and resolved_at is null order by at, id`,
      [eventId, why],
    )
  /** An event id with as many contents as are kept. */
  const filled = async (eventId: string) => {
    const kept = []
    for (let no = 0; no <= limits.eventContents; no += 1) {
      const one = await made(`${eventId}-${no}`)
      if (no > 0) kept.push(one)
      await run.bring(run.other, { eventId, key: one.key, outcome: chargeback })
      await nothingOpen([one.key])
    }
    return kept
  }
  const told = async (eventId: string, key: string, outcome: object = chargeback) => {
    await run.bring(run.other, { eventId, key, outcome })
    await nothingOpen([key])
  }

  test('a chargeback that is not kept is counted for its payment and holds refunds back, until an operator ends the entry', async () => {
    const eventId = 'many-contents'
    const kept = await filled(eventId)
    const lost = [await made('not-kept-1'), await made('not-kept-2')]
    for (const { key } of lost) await told(eventId, key)
    // What is known is no further content.
    await told(eventId, kept[0]!.key)
    const entries = await furtherOf(eventId)
    assert.deepEqual(
      entries.map(({ payment_id, is, notKept }) => [payment_id, is, notKept]),
      lost.map(({ id }) => [id, 'chargeback', 1]),
    )
    await told(eventId, lost[0]!.key)
    await told(eventId, lost[0]!.key, { is: 'reversed', refs: {} })
    const [counted] = await furtherOf(eventId)
    assert.deepEqual([counted?.is, counted?.notKept], ['chargeback', 3], 'the chargeback stays')
    for (const { id } of [...kept, ...lost]) await assert.rejects(refund(id), waits)
    for (const { id } of entries) {
      await assert.rejects(run.gateway.operator.retry(id, by), /nothing to retry/)
      await run.gateway.operator.resolve(id, by)
    }
    for (const { id } of lost) assert.equal((await refund(id)).result.code, done)
    await told(eventId, lost[0]!.key)
    assert.deepEqual((await furtherOf(eventId))[0]?.notKept, 1)
  })

  test('a chargeback that is not kept holds refunds back although its payment was undecided', async () => {
    const eventId = 'many-then-open'
    await filled(eventId)
    const { id, key } = await made('lost-while-open', undecided)
    await told(eventId, key)
    await told('lost-decided', key, approvedOf(key))
    await assert.rejects(refund(id), waits)
    const [entry] = await furtherOf(eventId)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await refund(id)).result.code, done)
  })

  test('a chargeback of an authorisation that is not kept holds back its captures', async () => {
    const eventId = 'many-then-captures'
    await filled(eventId)
    const { id, key } = await made('lost-authorised', {}, { paymentType: 'PA' })
    const capture = () => run.gateway.payments.capture(id, { amount: '10.00', currency: 'EUR' })
    const captured = await capture()
    await told(eventId, key)
    await assert.rejects(refund(captured.id), waits)
    await assert.rejects(capture(), waits)
    const [entry] = await furtherOf(eventId)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await refund(captured.id)).result.code, done)
    assert.equal((await capture()).result.code, done)
  })

  test('what is not kept and holds nothing back is counted in one entry of the event', async () => {
    const eventId = 'many-approvals'
    await filled(eventId)
    const approvals = [await made('approved-1'), await made('approved-2')]
    for (const { key } of approvals) await told(eventId, key, approvedOf(key))
    await run.bring(run.other, { eventId, key: 'nobody-has-it', outcome: chargeback })
    const entries = await furtherOf(eventId)
    assert.deepEqual(
      entries.map(({ payment_id, is, notKept }) => [payment_id, is, notKept]),
      [[null, null, 3]],
    )
    for (const { id } of approvals) assert.equal((await refund(id)).result.code, done)
  })
})
