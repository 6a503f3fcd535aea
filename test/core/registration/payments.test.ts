/** Payments that store their account, and payments with a stored account. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, type Operation, pending } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { message, processed, scriptedName } from '../../rig/acquirer.ts'
import { card } from '../../rig/gateway.ts'
import { cardOf } from '../../rig/payment-request.ts'
import {
  done,
  good,
  type RegistrationRun,
  refusal,
  startRegistrations,
} from './registration-run.ts'

describe('payments and registrations', { concurrency: true }, () => {
  let run: RegistrationRun
  before(async () => {
    run = await startRegistrations()
  })
  after(() => run.close())

  test('a payment stores its account if it is approved', async () => {
    const payment = await run.pay({ createRegistration: 'true' })
    const id = payment.registrationId as string
    assert.deepEqual(payment.registration, { id })
    assert.notEqual(id, payment.id)
    assert.equal((await run.gateway.registrations.get(id)).paymentBrand, 'VISA')
    assert.equal((await run.payWith(id)).result.code, done)
    await run.gateway.registrations.remove(id)
    assert.equal(await run.sealedOf(payment.id), 1, 'the payment keeps the number for its refund')

    const declined = await run.pay({ ...card('4000000000000002'), createRegistration: 'true' })
    assert.equal(declined.result.code, '800.100.152')
    assert.equal(declined.registrationId, undefined)
    const [row] = await run.sql<{ registration_id: string }>(
      'select registration_id from tollgate.payment where id = $1',
      [declined.id],
    )
    await assert.rejects(run.payWith(row!.registration_id), refusal('100.150.203', 400))
  })

  test('a pending payment answers its registration at once, usable after the approval', async () => {
    const reference = `pending-${newId()}`
    run.acquirer.tell(reference, {
      debit: (_: Operation, context: Context) => {
        context.sending()
        return pending('event', { refs: { reference } })
      },
    })
    const payment = await run.pay({
      testMode: 'EXTERNAL',
      merchantTransactionId: reference,
      createRegistration: 'true',
    })
    assert.equal(payment.result.code, '000.200.000')
    const id = payment.registrationId as string
    await assert.rejects(run.gateway.registrations.get(id), refusal('100.150.201', 400))
    await assert.rejects(run.payWith(id), refusal('100.150.201', 400))
    const eventId = `paid-${reference}`
    const outcome = { is: 'approved', refs: { reference } }
    const about = { eventId, key: await run.keyOf(payment.id), outcome }
    await run.gateway.inbound(scriptedName, run.account, message(about))
    await processed(run, eventId)
    assert.equal((await run.payWith(id)).result.code, done)
  })

  test('a payment on a registration takes a security code, the same brand and a holder, and no other account field', async () => {
    const { id } = await run.store({ card: { ...cardOf(good), holder: undefined } })
    const paid = await run.payWith(id, {
      paymentBrand: 'VISA',
      card: { cvv: '200', holder: 'Somebody Else' },
    })
    assert.equal(paid.result.cvvResponse, 'N', 'the code went to the acquirer')
    assert.equal((paid.card as { holder?: string }).holder, undefined)
    const filled = await run.payWith(id, {
      overrideHolder: 'true',
      card: { holder: 'Somebody Else' },
    })
    assert.equal((filled.card as { holder?: string }).holder, 'Somebody Else')
    const held = await run.store()
    const kept = await run.payWith(held.id, {
      overrideHolder: 'true',
      card: { holder: 'Somebody Else' },
    })
    assert.equal((kept.card as { holder?: string }).holder, 'Jane Jones')
    await assert.rejects(
      run.payWith(id, { paymentBrand: 'MASTER' }),
      refusal('700.100.400', 400, 'paymentBrand'),
    )
    await assert.rejects(
      run.payWith(id, { card: { number: good } }),
      refusal('200.300.404', 400, 'card.number'),
    )
    await assert.rejects(
      run.payWith(id, { customParameters: { note: `paid with ${good}` } }),
      refusal('200.300.404', 400, 'customParameters[note]'),
    )
  })

  test('a merchant-initiated payment refers to the first one of its agreement by itself', async () => {
    const first = await run.pay({
      paymentType: 'PA',
      createRegistration: 'true',
      standingInstruction: {
        mode: 'INITIAL',
        source: 'CIT',
        type: 'RECURRING',
        agreementId: 'A-1',
      },
    })
    const reference = (first.standingInstruction as Record<string, string>).initialTransactionId
    assert.match(reference ?? '', /\S/)
    const repeated = { mode: 'REPEATED', source: 'MIT', type: 'RECURRING' }
    const id = first.registrationId as string
    const later = await run.payWith(id, { standingInstruction: repeated })
    assert.deepEqual(later.standingInstruction, {
      ...repeated,
      initialTransactionId: reference,
      agreementId: 'A-1',
    })
    const own = await run.payWith(id, {
      standingInstruction: { ...repeated, initialTransactionId: 'of-the-merchant' },
    })
    assert.equal(
      (own.standingInstruction as Record<string, string>).initialTransactionId,
      'of-the-merchant',
    )
    const other = await run.payWith(id, {
      standingInstruction: { ...repeated, agreementId: 'A-2' },
    })
    assert.deepEqual(other.standingInstruction, { ...repeated, agreementId: 'A-2' })
    const moved = await run.store({
      recurringMigration: { paymentType: 'DB', connectorTxId1: 'from-elsewhere' },
    })
    const next = await run.payWith(moved.id, { standingInstruction: repeated })
    assert.equal(
      (next.standingInstruction as Record<string, string>).initialTransactionId,
      'from-elsewhere',
    )
  })
})
