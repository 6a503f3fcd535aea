/** Conditions between the fields of a request, and the fields that a group or an endpoint requires. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GatewayError } from '../../../core/errors.ts'
import { conditionCheck, parseRequest, RequestParser } from '../../../core/request/parse.ts'
import { operationOf } from '../../../schemas/index.ts'
import { amount, C, type Condition, echoed, group, none, O, R } from '../../../schemas/table.ts'
import { searchMandatory, threeDSecureMandatory } from '../../../schemas/tables/index.ts'
import { form, names, refusal, valid, wrong } from './refusals.ts'

/** The names that the conditions report for a request with these fields. */
function noted(conditions: readonly Condition[], sent: Record<string, string>): string[] {
  const rows = ['a', 'b', 'c', 'd'].flatMap((name) => [name, `list[n].${name}`, `g.${name}`])
  const tables = [
    group(
      '',
      'All',
      rows.map((name) => [name, { kind: 'text', min: 1, max: 99 }, C, echoed, none, 'x']),
      conditions,
      'all',
    ),
  ]
  const parser = new RequestParser(() =>
    operationOf(
      {
        operation: 'all',
        method: 'POST',
        path: '/all',
        title: 'All',
        accepts: ['all'],
        answers: [],
        login: 'none',
        right: 'none',
        throttle: 'none',
      },
      tables,
    ),
  )
  try {
    parser.parse('all', form(sent))
    return []
  } catch (error) {
    assert.ok(error instanceof GatewayError)
    return [`${error.code}`, ...names(error)]
  }
}

describe('conditions', () => {
  const message = 'rule'
  const refusedFor = (...fields: string[]) => ['200.300.404', ...fields]

  it('requires: each of these fields needs all of those', () => {
    const rule: Condition = { rule: 'requires', when: ['a', 'b'], need: ['c', 'd'], message }
    assert.deepEqual(noted([rule], {}), [])
    assert.deepEqual(noted([rule], { b: '1' }), refusedFor('c', 'd'))
    assert.deepEqual(noted([rule], { a: '1', c: '1' }), refusedFor('d'))
    assert.deepEqual(noted([rule], { a: '1', c: '1', d: '1' }), [])
  })

  it('requires: the rule holds only if, or unless, a field has a value', () => {
    const onlyIf: Condition = {
      rule: 'requires',
      when: ['a'],
      need: ['b'],
      onlyIf: { field: 'c', is: ['x'] },
      message,
    }
    assert.deepEqual(noted([onlyIf], { a: '1' }), [])
    assert.deepEqual(noted([onlyIf], { a: '1', c: 'y' }), [])
    assert.deepEqual(noted([onlyIf], { a: '1', c: 'x' }), refusedFor('b'))
    const unless: Condition = {
      rule: 'requires',
      when: ['a'],
      need: ['b'],
      unless: { field: 'c' },
      message,
    }
    assert.deepEqual(noted([unless], { a: '1' }), refusedFor('b'))
    assert.deepEqual(noted([unless], { a: '1', c: 'anything' }), [])
  })

  it('any: one of these fields is enough, and all are named when none is present', () => {
    const rule: Condition = { rule: 'any', when: ['a'], of: ['b', 'c'], message }
    assert.deepEqual(noted([rule], { a: '1' }), refusedFor('b', 'c'))
    assert.deepEqual(noted([rule], { a: '1', c: '1' }), [])
    assert.deepEqual(noted([rule], { d: '1' }), [])
  })

  it('implies: one value needs another field', () => {
    const rule: Condition = {
      rule: 'implies',
      when: { field: 'a', is: ['x', 'y'] },
      need: ['b'],
      message,
    }
    assert.deepEqual(noted([rule], { a: 'y' }), refusedFor('b'))
    assert.deepEqual(noted([rule], { a: 'z' }), [])
    assert.deepEqual(noted([rule], { a: 'x', b: '1' }), [])
  })

  it('not-together: all of these fields at once are refused, some are taken', () => {
    const rule: Condition = { rule: 'not-together', of: ['a', 'b', 'c'], message }
    assert.deepEqual(noted([rule], { a: '1', b: '1' }), [])
    assert.deepEqual(noted([rule], { a: '1', b: '1', c: '1' }), refusedFor('a', 'b', 'c'))
  })

  it('mandatory: the field is needed whatever else is sent', () => {
    const rule: Condition = {
      rule: 'mandatory',
      need: ['a', 'g.a'],
      unless: { field: 'b' },
      message,
    }
    assert.deepEqual(noted([rule], {}), refusedFor('a', 'g.a'))
    assert.deepEqual(noted([rule], { b: '1' }), [])
    assert.deepEqual(noted([rule], { a: '1', 'g.a': '1' }), [])
  })

  it('at-least-one: a group without any of these fields is refused', () => {
    const rule: Condition = { rule: 'at-least-one', of: ['a', 'b'], message }
    assert.deepEqual(noted([rule], { c: '1' }), refusedFor('a', 'b'))
    assert.deepEqual(noted([rule], { b: '1' }), [])
  })

  it('not-digits-only: the values are checked together', () => {
    const rule: Condition = {
      rule: 'not-digits-only',
      of: ['a', 'b'],
      ignoring: { when: 'c', of: ['b'] },
      message,
    }
    assert.deepEqual(noted([rule], { a: '12' }), refusedFor('a'))
    assert.deepEqual(noted([rule], { a: '12', b: '3 4' }), refusedFor('a', 'b'))
    assert.deepEqual(noted([rule], { a: '12', b: 'Main Street' }), [])
    assert.deepEqual(noted([rule], { a: '12', b: 'Main Street', c: '7' }), refusedFor('a'))
    assert.deepEqual(noted([rule], { c: '7' }), [])
  })

  it('a condition inside a list holds for every element by itself', () => {
    const rule: Condition = { rule: 'requires', when: ['list[n].a'], need: ['list[n].b'], message }
    assert.deepEqual(
      noted([rule], { 'list[0].a': '1', 'list[0].b': '1', 'list[1].a': '1', 'list[2].b': '1' }),
      refusedFor('list[1].b'),
    )
  })

  it('a condition has the result code that its table gives', () => {
    const rule: Condition = {
      rule: 'requires',
      when: ['a'],
      need: ['b'],
      message,
      code: '100.250.106',
    }
    assert.deepEqual(noted([rule], { a: '1' }), ['100.250.106', 'b'])
  })

  it('a condition never asks for a field that the operation does not take', () => {
    const rule: Condition = { rule: 'requires', when: ['a'], need: ['elsewhere'], message }
    assert.deepEqual(noted([rule], { a: '1' }), [])
  })

  it('customer data needs a name, technical data does not', () => {
    assert.deepEqual(names(wrong({ 'customer.email': 'jane@shop.example' })), [
      'customer.givenName',
      'customer.surname',
    ])
    parseRequest(
      'payments.create',
      form({ ...valid, 'customer.ip': '192.0.2.1', 'customer.browser.userAgent': 'x' }),
    )
  })

  it('an account needs number or iban, and bankCode or bic', () => {
    assert.deepEqual(names(wrong({ 'bankAccount.holder': 'Jane Jones' })), [
      'bankAccount.bankCode',
      'bankAccount.bic',
      'bankAccount.iban',
      'bankAccount.number',
    ])
  })

  it('a condition for one situation is checked in that situation', () => {
    const authenticate = conditionCheck('payments.create', threeDSecureMandatory)
    const { request } = parseRequest('payments.create' as string, form(valid))
    assert.deepEqual(names(refusal(() => authenticate(request))).slice(0, 4), [
      'billing.city',
      'billing.country',
      'billing.postcode',
      'billing.street1',
    ])
    assert.ok(searchMandatory.length > 0)
  })
})

describe('required fields of a group', () => {
  const tables = [
    group('', 'Top', [['top', amount, R, echoed, none, 'x']], [], 'top'),
    group('g', 'Group', [
      ['r', amount, R, echoed, none, 'x'],
      ['o', amount, O, echoed, none, 'x'],
      ['inner.r', amount, R, echoed, none, 'x'],
      ['inner.o', amount, O, echoed, none, 'x'],
    ]),
  ]
  const parser = (required: readonly string[]) =>
    new RequestParser(() =>
      operationOf(
        {
          operation: 'o',
          method: 'POST',
          path: '/o',
          title: 'o',
          accepts: ['top', 'g'],
          required,
          answers: [],
          login: 'none',
          right: 'none',
          throttle: 'none',
        },
        tables,
      ),
    )
  const missing = (required: readonly string[], sent: Record<string, string>) =>
    names(refusal(() => parser(required).parse('o', form(sent))))

  it('a required field is required once its group is present, at the top only by the endpoint', () => {
    assert.deepEqual(parser([]).parse('o', form({})).names, [])
    assert.deepEqual(missing([], { 'g.o': '1' }), ['g.r'])
    assert.deepEqual(missing([], { 'g.r': '1', 'g.inner.o': '1' }), ['g.inner.r'])
    assert.deepEqual(missing(['top'], {}), ['top'])
  })

  it('a field required by the endpoint brings its group with it', () => {
    assert.deepEqual(missing(['g.inner.r'], {}), ['g.inner.r'])
    assert.deepEqual(missing(['g.inner.r'], { 'g.r': '1' }), ['g.inner.r'])
  })
})
