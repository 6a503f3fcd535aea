import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RequestFields } from '@tollgate/plugin-kit'
import { checkAmount } from '../../../core/request/amount.ts'
import { pay, refused } from '../../rig/payment-request.ts'

const now = new Date('2026-11-20T10:00:00Z')

describe('amounts of a request', () => {
  const first = { now, followUp: false }
  const of = (amount: string, currency: string, more: RequestFields = {}) => ({
    ...pay('VISA', more),
    amount,
    currency,
  })

  test('an amount is read in minor units', () => {
    assert.deepEqual(checkAmount(of('92.00', 'EUR'), first), { minor: 9200n, currency: 'EUR' })
    assert.deepEqual(checkAmount(of('92', 'JPY'), first), { minor: 92n, currency: 'JPY' })
  })

  test('an amount of 0 is for a preauthorisation that creates a registration only', () => {
    const stores = { paymentType: 'PA', createRegistration: 'true' }
    assert.equal(checkAmount(of('0.00', 'EUR', stores), first).minor, 0n)
    const refusedZero: RequestFields[] = [
      {},
      { paymentType: 'PA' },
      { paymentType: 'DB', createRegistration: 'true' },
      { paymentType: 'PA', createRegistration: 'false' },
    ]
    for (const more of refusedZero) {
      for (const zero of ['0', '0.00', '00']) {
        refused(() => checkAmount(of(zero, 'EUR', more), first), '100.550.300', 'amount')
      }
    }
    refused(
      () => checkAmount(of('0', 'EUR', stores), { now, followUp: true }),
      '100.550.300',
      'amount',
    )
  })

  test('an amount without currency, or a currency without amount, is refused by name', () => {
    refused(() => checkAmount({ currency: 'EUR' }, first), '100.550.300', 'amount')
    refused(() => checkAmount({ amount: '1.00' }, first), '100.550.400', 'currency')
  })

  test('decimals that the currency lacks are refused in every amount', () => {
    refused(() => checkAmount(of('92.50', 'JPY'), first), '100.550.303', 'amount')
    refused(
      () => checkAmount(of('92', 'JPY', { taxAmount: '1.50' }), first),
      '100.550.303',
      'taxAmount',
    )
    refused(
      () => checkAmount(of('92', 'JPY', { risk: { amount: '1.50' } }), first),
      '100.550.303',
      'risk.amount',
    )
    const forex = { forex: { amount: '10.50', currency: 'KRW' } }
    refused(() => checkAmount(of('92', 'EUR', forex), first), '100.550.303', 'forex.amount')
    const euros = { forex: { amount: '10.50', currency: 'EUR' } }
    assert.equal(checkAmount(of('92', 'JPY', euros), first).minor, 92n)
  })

  test('unknown currencies are refused by name, in every field', () => {
    for (const code of ['EUX', 'XTS', 'XAU']) {
      refused(() => checkAmount(of('92.00', code), first), '100.550.401', 'currency')
    }
    const forex = { forex: { amount: '1.00', currency: 'EUX' } }
    refused(() => checkAmount(of('92', 'EUR', forex), first), '100.550.401', 'forex.currency')
    const authentication = { threeDSecure: { currency: 'EUX' } }
    refused(
      () => checkAmount(of('92', 'EUR', authentication), first),
      '100.550.401',
      'threeDSecure.currency',
    )
  })

  test('a withdrawn currency starts no payment, but earlier ones can be refunded', () => {
    const lev = of('19.56', 'BGN')
    refused(() => checkAmount(lev, first), '100.550.401', 'currency')
    assert.equal(
      checkAmount(lev, { now: new Date('2025-12-31T12:00:00Z'), followUp: false }).minor,
      1956n,
    )
    assert.equal(checkAmount(lev, { now, followUp: true }).minor, 1956n)
  })
})
