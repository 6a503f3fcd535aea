/** Ordinary texts are no card numbers, and card numbers are found as people write them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brands } from '@tollgate/schemas'
import { hasKnownBrand } from '../../../core/redaction/card-number.ts'
import { holdsCardNumber } from '../../../core/request/card-data.ts'
import { ordinaryTexts, type Random, randomFrom, withCheckDigit } from '../../rig/ordinary-texts.ts'
import { inScope } from '../../rig/scope.ts'

const seed = 2026
const many = inScope(10_000, 400_000)

describe('ordinary texts', () => {
  for (const [kind, make] of Object.entries(ordinaryTexts)) {
    test(`pass in all but one of 10,000 cases at most: ${kind}`, () => {
      const random = randomFrom(seed)
      const refused: string[] = []
      for (let no = 0; no < many; no += 1) {
        const text = make(random)
        if (holdsCardNumber(text)) refused.push(text)
      }
      assert.ok(refused.length <= many / 10_000, refused.slice(0, 5).join('\n'))
    })
  }
})

/** First digits of numbers that schemes issue, with their lengths. */
const issued: readonly (readonly [first: string, length: number])[] = [
  ['4', 16],
  ['4', 19],
  ['51', 16],
  ['55', 16],
  ['2221', 16],
  ['2720', 16],
  ['34', 15],
  ['37', 15],
  ['36', 14],
  ['300', 14],
  ['305', 14],
  ['38', 16],
  ['6011', 16],
  ['65', 19],
  ['3528', 16],
  ['3589', 16],
  ['62', 16],
  ['62', 17],
  ['62', 18],
  ['62', 19],
  ['6759', 16],
  ['6703', 17],
  ['6304', 19],
  ['1220', 15],
]

/** Sizes of groups, in the ways in which people write a number of this length. */
const groupings = (length: number): readonly (readonly number[])[] => [
  [length],
  ...({
    14: [[4, 6, 4]],
    15: [[4, 6, 5]],
    16: [
      [8, 8],
      [4, 12],
      [12, 4],
    ],
  }[length] ?? []),
  [6, length - 6],
  ...[1, 2, 3, 4, 5, 6].map((size) => equal(length, size)),
]
const equal = (length: number, size: number) =>
  Array.from({ length: Math.ceil(length / size) }, (_, no) => Math.min(size, length - no * size))

const marks = [
  '',
  ' ',
  '-',
  '.',
  '/',
  '_',
  '|',
  '*',
  '\u00a0',
  '\u2010',
  '\u2003',
  '  ',
  '--',
  '\t',
]
const around = (random: Random) =>
  random.of([
    ['', ''],
    ['paid with ', ', thanks'],
    ['Card: ', ' exp 12/28'],
    ['(', ')'],
    ['no=', '&x=1'],
    ['IBAN? ', ''],
    ['Tel. +49 30 123456, ', ''],
    ['2026-11-29 10:15 ', ''],
    ['12.99 ', ' EUR'],
  ] as const)

describe('card numbers as people write them', () => {
  test('of each range and length that a scheme issues are found in each way of writing', () => {
    const random = randomFrom(seed)
    for (const [first, length] of issued) {
      for (let no = 0; no < inScope(4, 100); no += 1) {
        const number = withCheckDigit(first + random.digits(length - first.length - 1))
        assert.ok(hasKnownBrand(Number(number.slice(0, 8)), length), `${first} ${length}`)
        for (const sizes of groupings(length)) {
          for (const mark of marks) {
            let at = 0
            const groups = sizes.map((size) => {
              at += size
              return number.slice(at - size, at)
            })
            const [before, behind] = around(random)
            const text = `${before}${groups.join(mark)}${behind}`
            assert.ok(holdsCardNumber(text), text)
          }
        }
      }
    }
  })

  test('a scheme issues no numbers of other lengths than it takes', () => {
    for (const { code, issuedLengths, numberLengths } of brands) {
      for (const length of issuedLengths) assert.ok(numberLengths.includes(length), code)
    }
  })
})
