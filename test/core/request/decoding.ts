/** An operation with fields of every kind, and its decoded requests. */
import assert from 'node:assert/strict'
import type { ParameterError } from '../../../core/errors.ts'
import { decode, type RequestInput } from '../../../core/request/decode.ts'
import { ParameterErrors } from '../../../core/request/parameter-errors.ts'
import { planOf } from '../../../core/request/plan.ts'
import { operationOf } from '../../../schemas/index.ts'
import {
  AN,
  C,
  echoed,
  group,
  match,
  N,
  none,
  O,
  pan,
  R,
  request,
  secret,
} from '../../../schemas/table.ts'

const key = { pattern: '[a-zA-Z0-9._]{3,64}', max: 64 }
export const tables = [
  group('', 'Basic', [
    ['amount', match('[0-9]{1,10}(\\.[0-9]{2})?', '92.00', 1, 13), R, echoed, none, 'Amount.'],
    ['descriptor', AN(127), O, echoed, none, 'Statement text.'],
    [
      'note',
      { kind: 'text', min: 1, max: 200, multiline: true },
      O,
      echoed,
      none,
      'Lines of text.',
    ],
    ['entityId', AN(32), C, request, none, 'Channel.', { aliases: ['authentication.entityId'] }],
    ['authentication.password', AN(255), O, request, secret, 'Old login.', { tolerated: true }],
    ['registrations[n].id', AN(32), O, request, none, 'Stored ones.', { tolerated: true }],
    ['customParameters[name]', AN(2048), C, echoed, none, 'Free.', { key }],
    ['threeDSecure.schemeData[CB-USECASE]', N(2), C, request, none, 'Use case.'],
  ]),
  group('card', 'Card', [
    ['number', N(8, 32), R, request, pan, 'Number.'],
    ['holder', AN(3, 128), O, echoed, none, 'Holder.'],
  ]),
  group('cart.items[n]', 'Items', [
    ['name', AN(255), C, echoed, none, 'Name.', { maxIndex: 1000 }],
    ['recipient.city', AN(80), O, echoed, none, 'City.', { maxIndex: 1000 }],
  ]),
  group('airline.passengers[n]', 'Passengers', [
    ['name', AN(255), C, echoed, none, 'Name.'],
    ['legs[n].airport', AN(255), C, echoed, none, 'Airport.'],
  ]),
]

const plan = planOf(
  operationOf(
    {
      operation: 'test',
      method: 'POST',
      path: '/test',
      title: 'Test',
      accepts: tables.map(({ name }) => name),
      answers: [],
      login: 'token',
      right: 'read',
      throttle: 'write',
    },
    tables,
  ),
)

export function read(input: RequestInput | string) {
  const errors = new ParameterErrors()
  const given = typeof input === 'string' ? { form: Buffer.from(input) } : input
  const { request, names } = decode(plan, given, errors)
  return { request, names, errors: errors.refusal().parameterErrors }
}

/** The request as ordinary objects, checked to be free of errors. */
export function accepted(input: RequestInput | string): unknown {
  const { request, errors } = read(input)
  assert.deepEqual(errors, [])
  return JSON.parse(JSON.stringify(request))
}

export function only(errors: readonly ParameterError[]): ParameterError {
  assert.equal(errors.length, 1, JSON.stringify(errors))
  return errors[0] as ParameterError
}

export const refused = (input: RequestInput | string) => only(read(input).errors)
export const json = (value: unknown) => ({
  json: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
})
