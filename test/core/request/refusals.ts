/** A valid payment, a parser for one field, and the refusals of wrong requests. */
import assert from 'node:assert/strict'
import { GatewayError, type ParameterError } from '../../../core/errors.ts'
import { parseRequest, RequestParser } from '../../../core/request/parse.ts'
import { operationOf } from '../../../schemas/index.ts'
import { echoed, type Format, group, none, O } from '../../../schemas/table.ts'

export const valid = {
  entityId: '8ac7a4c9671f0e2b01672a5d8e3f0b1c',
  amount: '92.00',
  currency: 'EUR',
  paymentBrand: 'VISA',
  paymentType: 'DB',
  'card.number': '4200000000000000',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
}

export const form = (fields: Record<string, string>) => ({
  form: Buffer.from(new URLSearchParams(fields).toString()),
})

export function refusal(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(error.status, 400)
    return error
  }
  throw new assert.AssertionError({ message: 'nothing was refused' })
}

/** The errors of a payment that differs from a valid one in these fields. */
export const wrong = (fields: Record<string, string>) =>
  refusal(() => parseRequest('payments.create', form({ ...valid, ...fields })))

export function only(error: GatewayError): ParameterError {
  assert.equal(error.parameterErrors.length, 1, JSON.stringify(error.parameterErrors))
  return error.parameterErrors[0] as ParameterError
}

export const names = (error: GatewayError) => error.parameterErrors.map(({ name }) => name).sort()

/** A parser for one operation that takes a single field of this format. */
export function checking(format: Format) {
  const tables = [group('', 'One', [['field', format, O, echoed, none, 'A field.']], [], 'one')]
  const parser = new RequestParser(() =>
    operationOf(
      {
        operation: 'one',
        method: 'POST',
        path: '/one',
        title: 'One',
        accepts: ['one'],
        answers: [],
        login: 'none',
        right: 'none',
        throttle: 'none',
      },
      tables,
    ),
  )
  return (field: string) => parser.parse('one', { values: { field } })
}
