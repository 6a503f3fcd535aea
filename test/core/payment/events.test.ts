import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accepted, type Context, type Operation, pending, unknown } from '@tollgate/plugin-kit'
import {
  type AcquirerRun,
  approvedAs,
  message,
  processed,
  scriptedName,
  sentAgain,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'

const undecided = '000.200.001'
const charged = '000.100.112'
const eur = (amount: string) => ({ amount, currency: 'EUR' as const })

const lost = (_: Operation, context: Context) => {
  context.sending()
  return unknown('the line went dead')
}
const acceptedAs = (operation: Operation, context: Context) => {
  context.sending()
  return accepted({ reference: `at-${operation.key}` }, 'event')
}
const approval = { is: 'approved', refs: { reference: 'by-event' } }
const failure = { is: 'declined', reason: '800.100.203', refs: {} }

describe('events of acquirers', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  /** Delivers an event and waits until it is processed. */
  const tell = async (
    id: string,
    eventId: string,
    outcome: unknown,
    more: { minor?: string; currency?: string } = {},
    headers?: Record<string, string>,
  ) => {
    const about = { eventId, key: await run.keyOf(id), outcome, ...more }
    const bringing = run.gateway.inbound(scriptedName, run.account, message(about, headers))
    await (headers === undefined ? bringing : sentAgain(bringing))
    return processed(run, eventId)
  }
  const code = async (id: string) => (await run.gateway.payments.get(id)).result.code
  const attention = async (id: string) =>
    (await run.gateway.attention()).filter((row) => row.payment_id === id).map((row) => row.kind)
  const eventsOf = async (id: string) =>
    (
      await run.sql<{ type: string }>(
        'select type from tollgate.event where resource = $1 order by seq',
        [id],
      )
    ).map((row) => row.type)

  test('a proven event about the same amount settles an undecided payment without an enquiry', async () => {
    const { id } = await run.debit('event-settles', { debit: lost })
    assert.equal(await tell(id, 'settles-1', approval), 'settled')
    assert.equal(await code(id), charged)
    assert.deepEqual(run.acquirer.of('event-settles'), ['debit'])
    assert.deepEqual(await eventsOf(id), ['payment.unknown', 'payment.approved'])
  })

  test('an event repeated under the same or another id changes nothing', async () => {
    const { id } = await run.debit('event-again', { debit: lost })
    await tell(id, 'again-1', approval)
    await tell(id, 'again-1', failure)
    assert.equal(await tell(id, 'again-2', approval), 'known')
    assert.equal(await code(id), charged)
    assert.deepEqual(await eventsOf(id), ['payment.unknown', 'payment.approved'])
  })

  test('a forged event settles nothing and makes the engine ask the acquirer', async () => {
    const { id } = await run.debit('event-forged', { debit: lost })
    assert.equal(await tell(id, 'forged-1', approval, {}, {}), 'enquired')
    assert.equal(await code(id), undecided)
    assert.deepEqual(run.acquirer.of('event-forged'), ['debit', 'enquire'])
    assert.equal(await tell(id, 'forged-2', failure, {}, { 'x-proof': 'stolen' }), 'enquired')
    assert.equal(await code(id), undecided)
  })

  test('an event about another amount or currency settles nothing', async () => {
    const { id } = await run.debit('event-other', { debit: lost })
    assert.equal(await tell(id, 'other-1', approval, { minor: '9199' }), 'enquired')
    assert.equal(await tell(id, 'other-2', approval, { currency: 'USD' }), 'enquired')
    assert.equal(await code(id), undecided)
  })

  test('an event through the account of another channel leaves this payment alone', async () => {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: run.merchant,
    })
    const account = await run.gateway.entities.createAccount({
      channelId: channel,
      connector: scriptedName,
      mode: 'EXTERNAL',
      settings: {},
    })
    const { id } = await run.debit('event-stranger', { debit: lost })
    const about = { eventId: 'stranger-1', key: await run.keyOf(id), outcome: approval }
    await run.gateway.inbound(scriptedName, account, message(about))
    assert.equal(await processed(run, 'stranger-1'), 'other-account')
    assert.equal(await code(id), undecided)
  })

  test('an event about an unknown key is kept, waits, and does nothing', async () => {
    const listed = await run.gateway.attention()
    const about = { eventId: 'nobody-1', key: 'f'.repeat(32), outcome: failure }
    await run.gateway.inbound(scriptedName, run.account, message(about))
    await until(async () => {
      const [row] = await run.sql<{ waits: number }>(
        "select waits from tollgate.inbound_event where event_id = 'nobody-1'",
      )
      return row!.waits > 0 ? true : undefined
    })
    assert.deepEqual(await run.gateway.attention(), listed)
  })

  test('an unreadable message, or one for an unknown account, is refused and not stored', async () => {
    const garbled = { body: Buffer.from('<xml/>'), headers: {}, query: {} }
    await sentAgain(run.gateway.inbound(scriptedName, run.account, garbled))
    const some = message({ eventId: 'lost-1', key: 'k', outcome: approval })
    await assert.rejects(run.gateway.inbound('nobody', run.account, some), { status: 404 })
    await assert.rejects(run.gateway.inbound(scriptedName, 'f'.repeat(32), some), { status: 404 })
    assert.deepEqual(
      await run.sql(`select 1 from tollgate.inbound_event where event_id = 'lost-1'`),
      [],
    )
  })

  test('an event that precedes the answer waits for it, and the answer settles', async () => {
    const early =
      (outcome: unknown, eventId: string) => async (operation: Operation, context: Context) => {
        context.sending()
        const about = { eventId, key: operation.key, outcome }
        await run.gateway.inbound(scriptedName, run.account, message(about))
        return approvedAs(operation)
      }
    const same = await run.debit('event-first', { debit: early(approval, 'first-1') })
    assert.equal(same.result.code, charged)
    const against = await run.debit('event-against', { debit: early(failure, 'against-1') })
    assert.equal(against.result.code, charged)
    assert.equal(await processed(run, 'first-1'), 'known')
    assert.equal(await processed(run, 'against-1'), 'conflict')
    assert.deepEqual(await eventsOf(same.id), ['payment.approved'])
    assert.equal(await code(against.id), charged)
    assert.deepEqual(await attention(against.id), ['return'])
  })

  test('an event ends a pending payment', async () => {
    const waits = (_: Operation, context: Context) => {
      context.sending()
      return pending('event', { refs: { reference: 'open' } })
    }
    const approved = await run.debit('event-ends', { debit: waits })
    assert.equal(approved.result.code, '000.200.000')
    assert.equal(await tell(approved.id, 'ends-1', approval), 'settled')
    assert.equal(await code(approved.id), charged)
    const declined = await run.debit('event-ends-declined', { debit: waits })
    await tell(declined.id, 'ends-2', failure)
    assert.equal(await code(declined.id), '800.100.203')
    assert.deepEqual(
      await run.sql('select kind from tollgate.timer where ref = $1', [
        await run.keyOf(declined.id),
      ]),
      [],
    )
    assert.deepEqual(
      await run.sql('select id from tollgate.instrument where id = $1', [declined.id]),
      [],
    )
  })

  test('an event that does not say what happened makes the engine ask about a pending payment', async () => {
    const waits = (_: Operation, context: Context) => {
      context.sending()
      return pending('event', { refs: { reference: 'open' } })
    }
    const unclear = { is: 'unknown', why: 'the code 96 says nothing', refs: {} }
    const still = await run.debit('event-unclear', {
      debit: waits,
      enquire: () => pending('event', { refs: { reference: 'open' } }),
    })
    assert.equal(await tell(still.id, 'unclear-1', unclear, {}, {}), 'enquired')
    assert.equal(await tell(still.id, 'unclear-2', unclear), 'enquired')
    assert.equal(await code(still.id), '000.200.000')
    assert.deepEqual(run.acquirer.of('event-unclear'), ['debit', 'enquire', 'enquire'])
    run.acquirer.tell('event-unclear', { enquire: approvedAs })
    assert.equal(await tell(still.id, 'unclear-3', unclear), 'enquired')
    assert.equal(await code(still.id), charged)
  })

  test('events that contradict a decided payment are listed for operators and change no state', async () => {
    const { id } = await run.debit('event-contradicts')
    assert.equal(await tell(id, 'contradicts-1', failure), 'conflict')
    assert.equal(await code(id), charged, 'a plain approval cannot fail later')
    assert.deepEqual(await attention(id), ['return'])
    assert.equal((await balanceOf(run, id)).captured, 9200n)
    assert.equal(
      await tell(id, 'contradicts-2', failure, {}, {}),
      'known',
      'a forged event is no contradiction',
    )
  })

  test('an accepted refund counts as done and returns its amount when it fails later', async () => {
    const { id } = await run.debit('accepted-debit')
    run.acquirer.tell('accepted-refund', { refund: acceptedAs })
    const refund = await run.gateway.payments.refund(id, {
      ...eur('92.00'),
      merchantTransactionId: 'accepted-refund',
    })
    assert.equal(refund.result.code, charged)
    await assert.rejects(run.gateway.payments.refund(id, eur('0.01')), { code: '700.400.200' })
    assert.equal(await tell(refund.id, 'fails-1', failure), 'settled')
    assert.equal(await code(refund.id), '800.100.203')
    assert.equal((await balanceOf(run, id)).refunded, 0n)
    assert.equal((await run.gateway.payments.refund(id, eur('92.00'))).result.code, charged)
    await tell(refund.id, 'fails-again', failure)
    assert.equal((await balanceOf(run, id)).refunded, 9200n, 'the amount returns once')
    assert.deepEqual(await eventsOf(refund.id), ['payment.approved', 'payment.declined'])
  })

  test('an accepted FINAL refund that fails leaves refunds open', async () => {
    const { id } = await run.debit('final-debit')
    run.acquirer.tell('final-refund', { refund: acceptedAs })
    const refund = await run.gateway.payments.refund(id, {
      ...eur('10.00'),
      sequence: 'FINAL',
      merchantTransactionId: 'final-refund',
    })
    await tell(refund.id, 'final-fails', failure, { minor: '1000' })
    assert.equal((await run.gateway.payments.refund(id, eur('92.00'))).result.code, charged)
  })

  test('an accepted capture that fails returns amount, count and final mark to its authorisation', async () => {
    const { id } = await run.debit(
      'accepted-hold',
      {},
      { paymentType: 'PA', numberOfCaptures: '1' },
    )
    run.acquirer.tell('accepted-capture', { capture: acceptedAs })
    const capture = await run.gateway.payments.capture(id, {
      ...eur('92.00'),
      sequence: 'FINAL',
      merchantTransactionId: 'accepted-capture',
    })
    await tell(capture.id, 'capture-fails', { ...failure })
    await assert.rejects(run.gateway.payments.refund(capture.id, eur('1.00')), {
      code: '700.400.520',
    })
    const { captured, captures } = await balanceOf(run, id)
    assert.deepEqual({ captured, captures }, { captured: 0n, captures: 0 })
    assert.equal((await run.gateway.payments.capture(id, eur('92.00'))).result.code, charged)
  })

  test('an accepted reversal that fails returns the rest to the authorisation', async () => {
    const { id } = await run.debit('accepted-rest', {}, { paymentType: 'PA' })
    run.acquirer.tell('accepted-reversal', { reverse: acceptedAs })
    const reversal = await run.gateway.payments.reverse(id, {
      merchantTransactionId: 'accepted-reversal',
    })
    await tell(reversal.id, 'reversal-fails', failure)
    assert.equal((await balanceOf(run, id)).reversed, 0n)
    assert.equal((await run.gateway.payments.capture(id, eur('92.00'))).result.code, charged)
  })

  test('an accepted debit that fails is declined, takes no follow-up, and its number is erased', async () => {
    const { id } = await run.debit('accepted-fails', { debit: acceptedAs })
    assert.equal(await code(id), charged)
    await tell(id, 'debit-fails', failure)
    assert.equal(await code(id), '800.100.203')
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.400.520' })
    assert.deepEqual(await run.sql('select id from tollgate.instrument where id = $1', [id]), [])
  })
})
