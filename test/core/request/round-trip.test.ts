import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseRequest } from '../../../core/request/parse.ts'
import type { Nested } from '../../../core/request/request.ts'
import { groups, operationNamed, operations } from '../../../schemas/index.ts'
import { formOf, requestOf } from '../../rig/arbitraries.ts'
import { inScope } from '../../rig/scope.ts'

/** The nested form of flat names, made without the decoder's tables. */
function nest(parameters: readonly (readonly [string, string])[]): object {
  const root: Record<string, unknown> = {}
  for (const [name, value] of parameters) {
    const steps = [...name.matchAll(/\[([^\]]*)\]|\.?([^.[]+)/g)].map(([, bracket, plain]) =>
      bracket !== undefined && /^\d{1,4}$/.test(bracket) && !isFreeKey(name)
        ? Number(bracket)
        : (bracket ?? plain ?? ''),
    )
    let at: Record<string | number, unknown> = root
    for (const [position, step] of steps.entries()) {
      const next = steps[position + 1]
      if (next === undefined) at[step] = value
      else {
        at[step] ??= typeof next === 'number' ? [] : {}
        at = at[step] as Record<string | number, unknown>
      }
    }
  }
  return root
}

const freeGroups = [
  'customParameters[',
  'overridePaymentType[',
  'risk.parameters[',
  'merchant.data[',
]
const isFreeKey = (name: string) => freeGroups.some((group) => name.startsWith(group))

const plain = (request: Nested): unknown => JSON.parse(JSON.stringify(request))

describe('a valid request', () => {
  for (const operation of operations().values()) {
    const { accepts } = operation.endpoint
    for (const group of groups.filter(({ name }) => accepts.includes(name))) {
      it(`${operation.endpoint.operation} with ${group.name} survives a round trip`, () => {
        fc.assert(
          fc.property(requestOf(operation, group), (parameters) => {
            const name = operation.endpoint.operation
            const form = parseRequest(name as string, { form: formOf(parameters) })
            assert.deepEqual(form.names, parameters)
            assert.deepEqual(plain(form.request), plain(nest(parameters) as Nested))
            const json = Buffer.from(JSON.stringify(form.request))
            assert.deepEqual(parseRequest(name as string, { json }).request, form.request)
            const values = structuredClone(plain(form.request))
            assert.deepEqual(parseRequest(name as string, { values }).request, form.request)
          }),
          { numRuns: inScope(2, 25) },
        )
      })
    }
  }
})

describe('the order of a form', () => {
  it("the order of a form's parameters does not matter", () => {
    const operation = operationNamed('payments.create')
    const cart = groups.find(({ name }) => name === 'cart.items')
    assert.ok(cart)
    fc.assert(
      fc.property(
        requestOf(operation, cart).chain((one) =>
          fc.tuple(fc.constant(one), fc.shuffledSubarray(one, { minLength: one.length })),
        ),
        ([ordered, shuffled]) => {
          const expected = parseRequest('payments.create', { form: formOf(ordered) }).request
          const actual = parseRequest('payments.create', { form: formOf(shuffled) }).request
          assert.deepEqual(plain(actual as Nested), plain(expected as Nested))
        },
      ),
      { numRuns: inScope(10, 50) },
    )
  })
})
