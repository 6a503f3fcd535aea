import assert from 'node:assert/strict'
import type { RequestFields } from '@tollgate/plugin-kit'
import { GatewayError } from '../../core/errors.ts'

/** The fields of a card valid until May 2034. */
export const cardOf = (number: string, more: Record<string, string> = {}) => ({
  holder: 'Jane Jones',
  number,
  expiryMonth: '05',
  expiryYear: '2034',
  cvv: '123',
  ...more,
})
/** A decoded request for a debit of 92.00 EUR. */
export const pay = (paymentBrand: string | undefined, more: RequestFields): RequestFields => ({
  amount: '92.00',
  currency: 'EUR',
  paymentType: 'DB',
  ...(paymentBrand === undefined ? {} : { paymentBrand }),
  ...more,
})

/** Refused with this code, naming these fields, and without showing any secret. */
export const refused = (run: () => unknown, code: string, ...names: string[]) =>
  assert.throws(run, (error) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(error.code, code)
    assert.deepEqual(
      error.parameterErrors.map(({ name }) => name),
      names,
    )
    assert.doesNotMatch(JSON.stringify([error.message, error.parameterErrors]), /[0-9]{8}/)
    return true
  })
