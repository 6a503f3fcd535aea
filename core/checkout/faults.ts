/** The fields that a shopper has to correct. */
import { groupsByName } from '@tollgate/schemas'
import type { GatewayError } from '../errors.ts'
import type { FieldFault } from './reply.ts'

const fields = new Set(
  groupsByName.get('checkout submission')!.fields.map(({ name }) => name.replace(/\[name\]$/, '')),
)

const isShoppers = (name: string) => fields.has(name.split('[', 1)[0]!)

/** Codes that speak of a field which the refusal does not name. */
const fieldOfCode: Readonly<Record<string, string>> = {
  '100.150.100': 'paymentBrand',
  '600.200.500': 'paymentBrand',
  '600.200.200': 'paymentBrand',
  '600.200.400': 'paymentBrand',
}

/**
 * @param names what was submitted; undefined where a value was refused in its form. @returns `isOurs`: the shopper can correct nothing.
 */
export function faultsIn(
  { code, parameterErrors }: GatewayError,
  names: readonly (readonly [name: string, value: string])[] | undefined,
): { readonly errors: readonly FieldFault[]; readonly isOurs: boolean } {
  const sent = names === undefined ? undefined : new Set(names.map(([name]) => name))
  const named = parameterErrors.map(({ name }) => name).filter(isShoppers)
  const fallback = fieldOfCode[code]
  const wrong = named.length > 0 || fallback === undefined ? named : [fallback]
  const reasonOf = (name: string): FieldFault['reason'] =>
    code === '100.100.303'
      ? 'expired'
      : sent === undefined || sent.has(name)
        ? 'invalid'
        : 'required'
  const errors = [...new Set(wrong)].map((field) => ({ field, reason: reasonOf(field) }))
  return { errors, isOurs: errors.length === 0 || named.length < parameterErrors.length }
}
