/** A refused follow-up says why: what is left, or what stands in the way. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GatewayError } from '../../../core/index.ts'
import { type AcquirerRun, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'

describe('the reason of a refused follow-up', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  const followUp = (id: string, paymentType: string, amount?: string, more = {}) =>
    run.gateway.payments.followUp(id, {
      paymentType,
      ...(amount === undefined ? {} : { amount, currency: 'EUR' }),
      ...more,
    } as never)
  const why = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof GatewayError, String(error))
    return [error.code, ...error.parameterErrors.map(({ name, message }) => `${name} ${message}`)]
  }

  test('of a debit: its whole amount, and its rest', async () => {
    const sale = await run.debit('why-sale')
    assert.deepEqual(await why(followUp(sale.id, 'RV', '10.00')), [
      '700.400.300',
      'amount must be 92.00 EUR, the whole amount, or be left out; a part is given back by a refund',
    ])
    assert.deepEqual(await why(followUp(sale.id, 'CP', '10.00')), [
      '700.300.100',
      'paymentType CP follows PA, and this payment is a DB',
    ])
    await followUp(sale.id, 'RF', '50.00')
    assert.deepEqual(await why(followUp(sale.id, 'RF', '50.00')), [
      '700.400.200',
      'amount must be at most 42.00 EUR, which is left of the payment',
    ])
    assert.deepEqual(await why(followUp(sale.id, 'RV')), [
      '700.400.300',
      'paymentType is not possible: a part was refunded; refund the rest',
    ])
    await followUp(sale.id, 'RF', '42.00')
    assert.deepEqual(await why(followUp(sale.id, 'RF', '0.01')), [
      '700.400.200',
      'paymentType is not possible: the whole amount is refunded',
    ])
  })

  test('of an authorisation: its captures, and its rest', async () => {
    const held = await run.debit('why-held', {}, { paymentType: 'PA' })
    assert.deepEqual(await why(followUp(held.id, 'RF', '1.00')), [
      '700.300.100',
      'paymentType RF follows DB, RB, CP, RC, CD, and this payment is a PA: name one of its captures',
    ])
    await followUp(held.id, 'CP', '40.00')
    assert.deepEqual(await why(followUp(held.id, 'CP', '60.00')), [
      '700.400.100',
      'amount must be at most 52.00 EUR, which is left of the payment',
    ])
    await followUp(held.id, 'CP', '52.00')
    assert.deepEqual(await why(followUp(held.id, 'RV')), [
      '700.400.300',
      'paymentType is not possible: the rest is captured; refund or reverse the captures',
    ])
    const unknown = held.id.replace(/^./, 'f')
    assert.deepEqual(await why(followUp(unknown, 'RF', '1.00')), [
      '700.400.520',
      'id in the path is that of no payment of this entity',
    ])
  })
})
