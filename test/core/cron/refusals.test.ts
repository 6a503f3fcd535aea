import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CronError, type CronFields, parseCron, parseCronFields } from '@tollgate/core/cron'

function refusalOf(read: () => unknown): CronError {
  try {
    read()
  } catch (thrown) {
    if (thrown instanceof CronError) return thrown
    throw thrown
  }
  return assert.fail('the text was not refused')
}

type Expected = readonly [text: string, field: string, position: number, what: RegExp]

function refuses(cases: readonly Expected[]): void {
  for (const [text, field, position, what] of cases) {
    const error = refusalOf(() => parseCron(text))
    assert.deepEqual([error.field, error.position], [field, position], text)
    assert.equal(error.inExpression, true)
    assert.match(error.message, what, text)
    assert.ok(error.message.includes(error.reason) && error.message.includes(error.remedy))
  }
}

describe('a refusal names the field, the position and what would be right', () => {
  test('a wrong value is refused by field, position and allowed values', () => {
    refuses([
      ['60 0 0 * * ?', 'second', 0, /no such value; write 0 to 59/],
      ['0 60 0 * * ?', 'minute', 2, /no such value; write 0 to 59/],
      ['0 0 24 * * ?', 'hour', 4, /no such value; write 0 to 23/],
      ['0/60 0 0 * * ?', 'second', 2, /no such step; write 1 to 59/],
      ['0 0/60 0 * * ?', 'minute', 4, /no such step; write 1 to 59/],
      ['0 0 0/24 * * ?', 'hour', 6, /no such step; write 1 to 23/],
      ['0 0 0 L-31W * ?', 'dayOfMonth', 8, /no month is that long/],
      ['0 0 0 0 * ?', 'dayOfMonth', 6, /write 1 to 31.* LW/],
      ['0 0 0 32 * ?', 'dayOfMonth', 6, /write 1 to 31/],
      ['0 0 0 * 13 ?', 'month', 8, /write 1 to 12 or JAN to DEC/],
      ['0 0 0 * JANUARY ?', 'month', 11, /does not continue/],
      ['0 0 0 * MON ?', 'month', 8, /no value/],
      ['0 0 0 ? * 0', 'dayOfWeek', 10, /write 1 to 7 or SUN to SAT.* 6#3/],
      ['0 0 0 ? * 8', 'dayOfWeek', 10, /write 1 to 7/],
      ['0 0 0 ? * MO', 'dayOfWeek', 10, /no value/],
      ['0 0 0 * * ? 1969', 'year', 12, /write 1970 to 2099/],
      ['0 0 0 * * ? 2100', 'year', 12, /write 1970 to 2099/],
      ['99999999999999999999999 0 0 * * ?', 'second', 0, /no such value/],
      ['-1 0 0 * * ?', 'second', 0, /no value/],
      ['+1 0 0 * * ?', 'second', 0, /no value/],
      ['1.5 0 0 * * ?', 'second', 1, /does not continue/],
      ['1e1 0 0 * * ?', 'second', 1, /does not continue/],
      ['0x1 0 0 * * ?', 'second', 1, /does not continue/],
      ['٣ 0 0 * * ?', 'second', 0, /no value/],
      // A long s is not an S, though its capital is.
      ['0 0 0 ? * \u017fUN', 'dayOfWeek', 10, /no value/],
      ['0 0 0\n* * ? *', 'hour', 5, /does not continue/],
    ])
  })

  test('a wrong list, range or step is refused by position', () => {
    refuses([
      ['1,,2 0 0 * * ?', 'second', 2, /no value/],
      ['1, 0 0 * * ?', 'second', 2, /no value/],
      [',1 0 0 * * ?', 'second', 0, /no value/],
      ['1-2-3 0 0 * * ?', 'second', 3, /does not continue/],
      ['1- 0 0 * * ?', 'second', 2, /no value/],
      ['*-5 0 0 * * ?', 'second', 1, /does not continue/],
      ['1-1000000000 0 0 * * ?', 'second', 2, /no such value/],
      ['*/0 0 0 * * ?', 'second', 2, /no such step; write 1 to 59/],
      ['*/61 0 0 * * ?', 'second', 2, /no such step; write 1 to 59/],
      ['*/-1 0 0 * * ?', 'second', 2, /number is missing; write 1 to 59/],
      ['0/ 0 0 * * ?', 'second', 2, /number is missing/],
      ['0/5/5 0 0 * * ?', 'second', 3, /does not continue/],
      ['0 0 */25 * * ?', 'hour', 6, /write 1 to 23/],
      ['0 0 0 */32 * ?', 'dayOfMonth', 8, /write 1 to 31/],
      ['0 0 0 * */13 ?', 'month', 10, /write 1 to 12/],
      ['0 0 0 ? * */8', 'dayOfWeek', 12, /write 1 to 7/],
      ['0 0 0 * * ? */131', 'year', 14, /write 1 to 130/],
      ['0 0 0 * * ? 2030-2029', 'year', 17, /earlier year first/],
      ['** 0 0 * * ?', 'second', 1, /does not continue/],
    ])
  })

  test('a misplaced ?, L, W or # is refused', () => {
    refuses([
      ['? 0 0 * * ?', 'second', 0, /no value/],
      ['0 0 0 * ? ?', 'month', 8, /no value/],
      ['0 0 0 * L ?', 'month', 8, /no value/],
      ['0 0 0 * * ? L', 'year', 12, /no value/],
      ['0 0 0 L,15 * ?', 'dayOfMonth', 6, /not part of a list; write it alone/],
      ['0 0 0 1,15W * ?', 'dayOfMonth', 8, /not part of a list/],
      ['0 0 0 1,? * ?', 'dayOfMonth', 8, /not part of a list/],
      ['0 0 0 ? * 6#3,6#1', 'dayOfWeek', 10, /not part of a list/],
      ['0 0 0 ? * MON,L', 'dayOfWeek', 14, /not part of a list/],
      ['0 0 0 ? * MON,6L', 'dayOfWeek', 14, /not part of a list/],
      ['0 0 0 1-5W * ?', 'dayOfMonth', 9, /does not continue/],
      ['0 0 0 W * ?', 'dayOfMonth', 6, /no value/],
      ['0 0 0 32W * ?', 'dayOfMonth', 6, /no such value/],
      ['0 0 0 L-31 * ?', 'dayOfMonth', 8, /write 1 to 30 after L-/],
      ['0 0 0 L-0 * ?', 'dayOfMonth', 8, /write 1 to 30 after L-/],
      ['0 0 0 L-3W,15 * ?', 'dayOfMonth', 6, /not part of a list/],
      ['0 0 0 L/2 * ?', 'dayOfMonth', 7, /does not continue/],
      ['0 0 0 15L * ?', 'dayOfMonth', 8, /does not continue/],
      ['0 0 0 6#3 * ?', 'dayOfMonth', 7, /does not continue/],
      ['0 0 0 ? * 6#6', 'dayOfWeek', 12, /write 1 to 5 after #/],
      ['0 0 0 ? * 6#0', 'dayOfWeek', 12, /write 1 to 5 after #/],
      ['0 0 0 ? * 6#', 'dayOfWeek', 12, /number is missing/],
      ['0 0 0 ? * 6W', 'dayOfWeek', 11, /does not continue/],
      ['0 0 0 ? * MON-FRI#2', 'dayOfWeek', 17, /does not continue/],
      ['0 0 0 ? * FRIL/2', 'dayOfWeek', 14, /does not continue/],
      ['0 0 0 ??  * ?', 'dayOfMonth', 7, /does not continue/],
    ])
  })

  test('two day fields, or none, are refused', () => {
    refuses([
      ['0 0 0 * * *', 'dayOfWeek', 10, /both dayOfMonth and dayOfWeek choose days; write \?/],
      ['0 0 0 1 * MON', 'dayOfWeek', 10, /both dayOfMonth and dayOfWeek choose days/],
      ['0 0 0 ? * ?', 'dayOfWeek', 10, /both dayOfMonth and dayOfWeek are \?/],
    ])
  })

  test('a wrong number of fields and an overlong text are refused', () => {
    refuses([
      ['', 'expression', 0, /ends after 0 fields; write six or seven/],
      [' \t ', 'expression', 3, /ends after 0 fields/],
      ['0 0 0 * *', 'expression', 9, /ends after 5 fields/],
      ['0 0 0 * * ? * *', 'expression', 14, /eighth field/],
      [`0 0 0 * * ?${' '.repeat(246)}`, 'expression', 256, /at most 256 characters/],
    ])
    assert.equal(parseCron(`0 0 0 * * ?${' '.repeat(245)}`).fields.dayOfMonth, '*')
  })

  test('positions count within a single field', () => {
    const cases: readonly (readonly [CronFields, string, number, boolean])[] = [
      [{ hour: '1,24' }, 'hour', 2, false],
      [{ minute: ' 5' }, 'minute', 0, false],
      [{ second: '1 2' }, 'second', 1, false],
      [{ dayOfMonth: '?', dayOfWeek: '?' }, 'dayOfWeek', 0, false],
      [{ dayOfMonth: '1', dayOfWeek: '1' }, 'dayOfWeek', 0, false],
      [{ month: ','.repeat(257) }, 'month', 256, false],
      // An expression beside the field is valid by itself.
      [{ year: '1969', expression: '0 0 0 * * ?' }, 'year', 0, false],
      [{ hour: '1', expression: '0 0 24 * * ?' }, 'hour', 4, true],
    ]
    for (const [fields, field, position, inExpression] of cases) {
      const error = refusalOf(() => parseCronFields(fields))
      const found = [error.field, error.position, error.inExpression]
      assert.deepEqual(found, [field, position, inExpression], JSON.stringify(fields))
    }
  })

  test('a refusal does not repeat the text', () => {
    const error = refusalOf(() => parseCron('4200000000000000 <script> 0 * * ?'))
    assert.doesNotMatch(error.message, /4200|script/)
  })
})
