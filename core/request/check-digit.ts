import { passesLuhn } from '../redaction/card-number.ts'
import type { ParameterErrors } from './parameter-errors.ts'
import type { Nested } from './request.ts'

/**
 * Names a card number with a wrong check digit beside other mistakes, so that the caller learns of
 * both at once. Alone, it is refused with its own code when the account is checked.
 */
export function addWrongCheckDigit(request: Nested, errors: ParameterErrors): void {
  const { card } = request
  const number = typeof card === 'object' && !Array.isArray(card) ? card.number : undefined
  if (typeof number !== 'string' || !/^[0-9]+$/.test(number) || passesLuhn(number)) return
  errors.add('card.number', 'has a wrong check digit', { code: '100.100.101' })
}
