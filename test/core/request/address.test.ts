import { describe, test } from 'node:test'
import { checkCountries } from '../../../core/request/address.ts'
import { refused } from '../../rig/payment-request.ts'

describe('countries of addresses', () => {
  test('an unknown country is refused by name', () => {
    checkCountries({ billing: { country: 'DE' }, shipping: { country: 'XK' } })
    checkCountries({})
    refused(() => checkCountries({ billing: { country: 'UK' } }), '100.800.501', 'billing.country')
    refused(
      () => checkCountries({ shipping: { country: 'ZZ' } }),
      '100.800.501',
      'shipping.country',
    )
  })
})
