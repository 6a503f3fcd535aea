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

test('other errors have their message, whatever caused them', () => {
  const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  for (const cause of [undefined, null, 'a text', broken, new Error('x', { cause: broken })]) {
    assert.deepEqual(programReason(new Error('no stock', { cause })), { reason: 'no stock' })
  }
  assert.deepEqual(programReason('thrown as a text'), { reason: 'thrown as a text' })
})
