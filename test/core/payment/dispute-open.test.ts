/** A chargeback of a payment whose outcome is not known says that its money moved, and went back once. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, type Operation, unknown } from '@tollgate/plugin-kit'
import {
  type AcquirerRun,
  enquire,
  message,
  processed,
  scriptedName,
  sentAgain,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'

const chargeback = { is: 'chargeback', reason: '000.100.220', refs: {} }
const undecided = '000.200.001'
const lost = (_: Operation, context: Context) => {
  context.sending()
  return unknown('the line went dead')
}

describe('a chargeback of an open payment', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  const open = async (reference: string, paymentType = 'DB') => {
    const script = { debit: lost, capture: lost }
    const { id } = await run.debit(reference, script, { paymentType })
    await age(id)
    return id
  }
  const age = (id: string) =>
    run.sql(
      `update tollgate.attempt set sent_at = now() - interval '1 hour' where payment_id = $1`,
      [id],
    )
  const told = async (key: string, eventId: string, headers?: Record<string, string>) => {
    const about = { key, eventId, outcome: chargeback, reference: eventId }
    const bringing = run.gateway.inbound(scriptedName, run.account, message(about, headers))
    await (headers === undefined ? bringing : sentAgain(bringing))
  }
  const waits = (eventId: string) =>
    until(async () => {
      const [row] = await run.sql(
        'select 1 from tollgate.inbound_event where event_id = $1 and waits > 0',
        [eventId],
      )
      return row
    })
  const entries = async (id: string) => {
    const rows = await run.sql<{ entry: string }>(
      `select trim(kind || ' ' || reference) as entry from tollgate.attention
       where payment_id = $1 and resolved_at is null order by 1`,
      [id],
    )
    return rows.map(({ entry }) => entry)
  }

  test('it is not reversed by its key, but listed, and recorded once an operator has decided', async () => {
    const id = await open('charged-back-open')
    await told(await run.keyOf(id), 'case-open')
    await waits('case-open')
    assert.equal((await enquire(run, id)).result.code, undecided)
    assert.ok(!run.acquirer.of('charged-back-open').includes('reverseByKey'))
    assert.deepEqual(await entries(id), ['undecided', 'undecided chargeback'])
    await run.sql(
      `update tollgate.inbound_event set next_at = now() + interval '1 hour' where event_id = 'case-open'`,
    )
    await run.operator.settle(id, 'approved', { by: 'ada', reason: 'it was charged' })
    assert.equal(await processed(run, 'case-open'), 'recorded')
    assert.deepEqual(await entries(id), [])
  })

  test('a capture is not reversed by its key after a chargeback that names its authorisation', async () => {
    const id = await open('charged-back-authorisation', 'PA')
    run.acquirer.tell('charged-back-capture', { capture: lost })
    const capture = await run.gateway.payments.capture(id, {
      amount: '92.00',
      currency: 'EUR',
      merchantTransactionId: 'charged-back-capture',
    })
    await age(capture.id)
    await told(await run.keyOf(id), 'case-authorisation')
    await waits('case-authorisation')
    assert.equal((await enquire(run, capture.id)).result.code, undecided)
    assert.ok(!run.acquirer.of('charged-back-capture').includes('reverseByKey'))
    await run.operator.settle(capture.id, 'approved', { by: 'ada', reason: 'charged' })
  })

  test('a capture is given back neither before nor after the record of a chargeback that names its authorisation', async () => {
    const id = await open('told-authorisation', 'PA')
    run.acquirer.tell('told-capture', { capture: lost })
    const part = { amount: '92.00', currency: 'EUR' } as const
    const capture = await run.gateway.payments.capture(id, {
      ...part,
      merchantTransactionId: 'told-capture',
    })
    await told(await run.keyOf(id), 'case-told')
    await waits('case-told')
    await age(capture.id)
    await enquire(run, capture.id)
    await run.sql(
      `update tollgate.inbound_event set next_at = now() + interval '1 hour' where event_id = 'case-told'`,
    )
    await run.operator.settle(capture.id, 'approved', { by: 'ada', reason: 'charged' })
    await assert.rejects(run.gateway.payments.refund(capture.id, part), { code: '700.300.600' })
    assert.equal(await processed(run, 'case-told'), 'recorded')
    await assert.rejects(run.gateway.payments.refund(capture.id, part), { code: '700.300.600' })
    assert.deepEqual(await entries(capture.id), [])
  })

  test('a refund is refused while a chargeback waits for its record, and one that was made before is repeated', async () => {
    const { id } = await run.debit('told-refunded')
    const part = { amount: '2.00', currency: 'EUR' } as const
    const caller = await run.gateway.payments.refund(id, part, { idempotencyKey: 'told-once' })
    await run.sql(
      `insert into tollgate.inbound_event (connector, account, event_id, claim, next_at)
       select p.connector, $2, 'case-waits', jsonb_build_object('key', p.attempt_key, 'verified', true,
         'outcome', '{"is":"chargeback","reason":"000.100.220","refs":{}}'::jsonb), now() + interval '1 hour'
       from tollgate.payment p where p.id = $1`,
      [id, run.account],
    )
    await assert.rejects(run.gateway.payments.refund(id, part), { code: '700.300.600' })
    const again = await run.gateway.payments.refund(id, part, { idempotencyKey: 'told-once' })
    assert.equal(again.id, caller.id)
    await run.sql(`delete from tollgate.inbound_event where event_id = 'case-waits'`)
  })

  test('an unproven chargeback holds up nothing', async () => {
    const id = await open('charged-back-forged')
    await told(await run.keyOf(id), 'case-forged', {})
    assert.equal(await processed(run, 'case-forged'), 'enquired')
    assert.ok(run.acquirer.of('charged-back-forged').includes('reverseByKey'))
    assert.equal((await run.gateway.payments.get(id)).result.code, '900.100.400')
  })
})
