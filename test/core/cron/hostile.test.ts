import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CronError, cronFields, parseCron, parseCronFields } from '@tollgate/core/cron'
import fc from 'fast-check'
import { cut, longestText, type Plan, planOf } from '../../../core/cron/plan.ts'
import { lastWall, nextWall } from '../../../core/cron/search.ts'
import { offsetsOf, Zone } from '../../../core/cron/zone.ts'
import { hostile } from '../../rig/cron/hostile-texts.ts'
import { inScope } from '../../rig/scope.ts'
import { sources } from '../../rig/sources.ts'
import { expression } from './arbitraries.ts'

/** An item of a list takes two characters and expands to at most 130 years. */
const mostSteps = longestText + (longestText / 2) * 130
/** Each month of 130 years, and the current one twice. */
const mostMonths = 130 * 12 + 1

/** A plan that counts the months visited by a search. */
function counting(plan: Plan): { readonly plan: Plan; readonly months: () => number } {
  let months = 0
  const dayMasks = new Proxy(plan.dayMasks, {
    get(masks, kind) {
      months++
      return Reflect.get(masks, kind)
    },
  })
  return { plan: { ...plan, dayMasks }, months: () => months }
}

/** Reads a text and searches in it; returns whether it was a schedule. */
function bounded(text: string): boolean {
  const meter = { steps: 0 }
  let read: Plan
  try {
    read = planOf(cut(text), meter)
  } catch (error) {
    assert.ok(error instanceof CronError, String(error))
    assert.ok(error.field === 'expression' || cronFields.includes(error.field))
    assert.ok(error.position >= 0 && error.position <= Math.min(text.length, longestText))
    assert.ok(error.reason !== '' && error.remedy !== '' && error.message.length < 250)
    assert.ok(meter.steps <= mostSteps, `${meter.steps} steps`)
    return false
  }
  assert.ok(meter.steps <= mostSteps, `${meter.steps} steps`)
  for (const after of [-1, 1_800_000_000, lastWall - 1]) {
    const { plan, months } = counting(read)
    const wall = nextWall(plan, after)
    assert.ok(wall === -1 || (wall > after && wall <= lastWall))
    assert.ok(months() <= mostMonths, `${months()} months`)
  }
  return true
}

describe('the cost of reading a text is bounded', () => {
  test('hostile texts are read or refused', () => {
    let read = 0
    let refused = 0
    fc.assert(
      fc.property(hostile, (text) => {
        if (bounded(text)) read++
        else refused++
      }),
      { seed: 7, numRuns: inScope(1_500, 10_000), endOnFailure: true },
    )
    assert.ok(
      read > inScope(50, 500) && refused > inScope(500, 5_000),
      `${read} read, ${refused} refused`,
    )
  })

  test('the same texts as single fields are read or refused', () => {
    fc.assert(
      fc.property(fc.constantFrom(...cronFields, 'expression'), hostile, (field, text) => {
        try {
          parseCronFields({ [field]: text })
        } catch (error) {
          assert.ok(error instanceof CronError, String(error))
          assert.ok(error.position >= 0 && error.position <= Math.min(text.length, longestText))
        }
      }),
      { seed: 8, numRuns: inScope(400, 3_000), endOnFailure: true },
    )
  })

  test('the longest search visits each month once, the longest text is read once', () => {
    for (const [expression, visited] of [
      ['0 0 0 30 2 ?', 130],
      ['0 0 0 31W 2,4,6,9,11 ?', 130 * 5],
    ] as const) {
      const { plan, months } = counting(planOf(cut(expression)))
      assert.equal(nextWall(plan, -1), -1)
      assert.equal(months(), visited)
    }
    const meter = { steps: 0 }
    planOf(cut(`0 0 0 1 1 ? ${'*,'.repeat(121)}*`), meter)
    assert.ok(meter.steps > 122 * 130 && meter.steps <= mostSteps)
  })

  test('a search in a zone looks up the clock changes of at most four periods', () => {
    for (const name of ['Africa/Casablanca', 'Europe/Berlin', 'Pacific/Apia']) {
      let asked = 0
      const offsetAt = offsetsOf(name)
      const zone = new Zone((at) => {
        asked++
        return offsetAt(at)
      })
      // A period takes 93 look-ups, and 19 for each of at most five changes.
      const most = 4 * (93 + 5 * 19)
      zone.instantOf(zone.latestWall(1_325_203_200) + 90 * 366 * 86_400)
      assert.ok(asked > 0 && asked <= most, `${name}: ${asked}`)
      asked = 0
      zone.instantOf(zone.latestWall(1_325_203_200) + 90 * 366 * 86_400)
      assert.equal(asked, 0)
    }
  })
})

describe('the evaluator stands alone', () => {
  test('the evaluator imports only its own files', () => {
    const wrong = sources('core/cron').flatMap(({ file, imports }) =>
      imports.filter((name) => !name.startsWith('core/cron/')).map((name) => `${file}: ${name}`),
    )
    assert.ok(sources('core/cron').length >= 5)
    assert.deepEqual(wrong, [])
  })

  test('the evaluator reads no clock and uses no regular expression', () => {
    const pattern =
      /\bDate\.now\b|\bnew Date\(\)|\bRegExp\b|\.(match|replace|search|split)\(|[=(,:]\s*\/[^/*]/
    const wrong = sources('core/cron')
      .map(({ file, code }) => `${file}: ${pattern.exec(code)?.[0]}`)
      .filter((found) => !found.endsWith('undefined'))
    assert.deepEqual(wrong, [])
  })

  test('an expression written out is read back as the same expression', () => {
    fc.assert(
      fc.property(expression, (text) => {
        const cron = parseCron(text)
        assert.equal(String(parseCron(String(cron))), String(cron))
        assert.equal(String(parseCronFields(cron.fields)), String(cron))
      }),
      { seed: 9, numRuns: inScope(60, 500) },
    )
  })
})
