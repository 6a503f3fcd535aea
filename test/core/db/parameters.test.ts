/** External input becomes a parameter of a statement, never part of its text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../core/db/sql.ts'

const hostile = `'; drop table tollgate.payment; --`

test('a value always becomes a parameter, also in a nested statement', () => {
  const inner = sql`name = ${hostile}::text`
  const { strings, values } =
    sql`select ${hostile}::text from tollgate.entity where ${inner} and id = ${7}`
  assert.deepEqual(values, [hostile, hostile, 7])
  assert.equal(
    strings.join('$'),
    'select $::text from tollgate.entity where name = $::text and id = $',
  )
})
