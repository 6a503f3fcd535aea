/** The log has the message of a program's error, unless a statement failed: then it may hold values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { programReason } from '../../../core/redaction/program-error.ts'

/** As the driver makes it. */
const ofPostgres = () =>
  Object.assign(new pg.DatabaseError('duplicate key', 13, 'error'), {
    severity: 'ERROR',
    code: '23505',
  })
const values = 'Failed query: insert into person values ($1)\nparams: Alice'

test('an error below which Postgres refused a statement has no reason', () => {
  const below = (cause: unknown) => new Error(values, { cause })
  for (const error of [
    ofPostgres(),
    below(ofPostgres()),
    below(below(below(below(ofPostgres())))),
    below(Object.assign(new Error('duplicate key'), { code: '23505' })),
    below(Object.assign(new Error('raised'), { code: 'P0001' })),
    // Of a query builder, whose connection failed.
    Object.assign(below(Object.assign(new Error('x'), { code: 'ECONNRESET' })), {
      query: 'insert',
    }),
    Object.assign(new Error(values), { sql: 'insert' }),
    // Nobody looks further down.
    below(below(below(below(below(ofPostgres()))))),
  ]) {
    assert.deepEqual(programReason(error), {})
  }
  const circle = new Error(values)
  circle.cause = circle
  assert.deepEqual(programReason(circle), {})
})

test('an error of Postgres is found wherever a library keeps what it wraps', () => {
  const wrapping = (name: string, inner: unknown) =>
    Object.assign(new Error(`duplicate: Key (email)=(alice@example.com)`), { [name]: inner })
  const names = [
    'cause',
    'error',
    'suppressed',
    'original',
    'originalError',
    'parent',
    'driverError',
  ]
  for (const name of names) {
    assert.deepEqual(programReason(wrapping(name, ofPostgres())), {}, name)
    assert.deepEqual(programReason(wrapping('errors', [wrapping(name, ofPostgres())])), {}, name)
    assert.deepEqual(programReason(new Error('x', { cause: wrapping(name, ofPostgres()) })), {})
    assert.ok(programReason(wrapping(name, new Error('no stock'))).reason, name)
  }
  const several = [new Error('no stock'), ofPostgres()]
  assert.deepEqual(programReason(new AggregateError(several, 'alice@example.com')), {})
  const many = Array.from({ length: 1_000 }, () => new Error('no stock'))
  assert.deepEqual(programReason(new AggregateError(many, 'all failed')), {})
  // As validators list what is wrong with a request.
  const issues = [{ code: 'invalid_type', message: 'no text' }]
  assert.deepEqual(programReason(wrapping('errors', issues)), {
    reason: 'duplicate: Key (email)=(alice@example.com)',
  })
})

test('a card number is masked in escapes and where the message is cut', () => {
  const masked = (text: string) => {
    const { reason = '' } = programReason(new Error(text))
    assert.ok(reason.length <= 300, reason)
    assert.doesNotMatch(reason, /[0-9]{5}|1111.*1111/)
    return reason
  }
  assert.equal(masked('no /?pan=4111%201111%201111%201111'), 'no /?pan=**** **** **** 1111')
  masked('{\\"pan\\":\\"4111\\u00201111\\u00201111\\u00201111\\"}')
  masked('x?pan=%34%31%31%31%31%31%31%31%31%31%31%31%31%31%31%31')
  for (let before = 280; before <= 300; before += 1) {
    const start = 'x'.repeat(before)
    assert.equal(
      masked(`${start}4111111111111111 gone`),
      `${start}${'*'.repeat(12)}1111 gone`.slice(0, 300),
    )
    masked(start + [...'4111111111111111'].map((digit) => `&#x000000003${digit};`).join(''))
  }
})

test('an error whose members cannot be read has no reason', () => {
  const unreadable = {
    get message(): string {
      throw new Error('no message')
    },
  }
  assert.deepEqual(programReason(unreadable), {})
  const { proxy, revoke } = Proxy.revocable(new Error('x'), {})
  revoke()
  assert.deepEqual(programReason(proxy), {})
})

test('other errors have their message, whatever caused them', () => {
  const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  for (const cause of [undefined, null, 'a text', broken, new Error('x', { cause: broken })]) {
    assert.deepEqual(programReason(new Error('no stock', { cause })), { reason: 'no stock' })
  }
  assert.deepEqual(programReason('thrown as a text'), { reason: 'thrown as a text' })
})
