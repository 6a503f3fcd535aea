/** Which of several payments a line is about. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { meant, type Option } from '../../../core/settlement/match/subset-sum.ts'

const option = (paymentId: string, minor: number, currency = 'EUR'): Option => ({
  paymentId,
  minor: BigInt(minor),
  currency,
})
const options = (...minors: number[]) => minors.map((minor, index) => option(`p${index}`, minor))
const idsOf = (found: readonly Option[]) => found.map(({ paymentId }) => paymentId)
const eur = (minor: number) => ({ minor: BigInt(minor), currency: 'EUR' })

for (const [rule, of, sum, ids] of [
  ['the one of equal amount', options(30, 40), 40, ['p1']],
  ['the unique subset', options(30, 40, 11), 70, ['p0', 'p1']],
  ['all of them', options(30, 40, 11), 81, ['p0', 'p1', 'p2']],
  ['none of two equal ones', options(30, 30), 30, []],
  ['none when a subset sums up as well', options(30, 10, 20), 30, []],
  ['none of two subsets', options(10, 20, 30, 40), 50, []],
  ['none without a subset', options(10, 20), 25, []],
  ['none in another currency', [option('a', 30, 'USD'), option('b', 20)], 30, []],
  ['never a sum of two currencies', [option('a', 10, 'USD'), option('b', 20)], 30, []],
  [
    'of 13, the one of equal amount',
    options(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3),
    2048,
    ['p11'],
  ],
  ['of 13, no sum', options(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 5000), 4095, []],
  [
    'of 12, a sum',
    options(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    4095,
    Array.from({ length: 12 }, (_, index) => `p${index}`),
  ],
] as const) {
  test(`a line is about ${rule}`, () => {
    assert.deepEqual(idsOf(meant(of, eur(sum))), ids)
  })
}

test('the order of the payments changes nothing, and the parts of a sum equal the line', () => {
  const minors = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(minors, fc.integer({ min: 1, max: 80 }), fc.integer(), (given, sum, seed) => {
      const all = options(...given)
      const mixed = [...all].sort(
        (one, other) =>
          ((one.paymentId.charCodeAt(1) * 7 + seed) % 5) -
          ((other.paymentId.charCodeAt(1) * 7 + seed) % 5),
      )
      const found = meant(all, eur(sum))
      assert.deepEqual(idsOf(meant(mixed, eur(sum))).sort(), idsOf(found).sort())
      const total = found.reduce((part, { minor }) => part + minor, 0n)
      assert.ok(found.length === 0 || total === BigInt(sum))
    }),
  )
})
