import type { RequestFields } from '@tollgate/plugin-kit'
import { isCountry } from '@tollgate/schemas'
import { groupOf, refuse, textOf } from './values.ts'

/**
 * Checks the country codes of the addresses.
 *
 * @throws GatewayError 100.800.501
 */
export function checkCountries(fields: RequestFields): void {
  for (const name of ['billing', 'shipping'] as const) {
    const code = textOf(groupOf(fields, name), 'country')
    if (code !== undefined && !isCountry(code)) {
      throw refuse('100.800.501', `${name}.country`, 'must be an ISO 3166-1 country code', code)
    }
  }
}
