import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { withoutSecrets } from '../../../core/redaction/harmless.ts'
import { maskCardNumbers, maskEscapedNumbers } from '../../../core/redaction/mask.ts'

/** The check digit of `digits`, computed independently of the tested code. */
function checkDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return total + Math.floor(value / 10) + (value % 10)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

const digits = (shape: { minLength: number; maxLength: number }) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), ...shape })
const cardNumber = digits({ minLength: 12, maxLength: 18 }).map((d) => d + checkDigit(d))
const gap = fc.constantFrom('', '', '', ' ', '-', ' - ')
/** A card number in human spellings, with gaps between its digits. */
const written = fc
  .tuple(cardNumber, fc.array(gap, { minLength: 19, maxLength: 19 }))
  .map(([number, gaps]) =>
    [...number].map((digit, at) => digit + (at < number.length - 1 ? gaps[at] : '')).join(''),
  )
const words = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[0-9]/g, 'x'))

test('all digits of a card number but the last four are masked', () => {
  assert.equal(maskCardNumbers('card 4111111111111111 declined'), 'card ************1111 declined')
  assert.equal(maskCardNumbers('4111 1111 1111 1111'), '**** **** **** 1111')
  assert.equal(maskCardNumbers('3782-822463-10005'), '****-******-*0005')
  assert.equal(
    maskCardNumbers('a4111111111111111b5500000000000004c'),
    'a************1111b************0004c',
  )
})

test('a card number is found beside other digits', () => {
  assert.equal(maskCardNumbers('4111111111111111 12/28'), '************1111 12/28')
  assert.equal(maskCardNumbers('1 4111111111111111'), '1 ************1111')
  assert.equal(
    maskCardNumbers('4111111111111111 5500000000000004'),
    '************1111 ************0004',
  )
})

test('the digits of a card number are masked with any separators and in any script', () => {
  for (const [text, masked] of [
    ['4111/1111_1111.1111', '****/****_****.1111'],
    ['4111\u20141111\u00a01111\u200b1111', '****\u2014****\u00a0****\u200b1111'],
    [`4111${' '.repeat(32)}1111 1111 1111`, `****${' '.repeat(32)}**** **** 1111`],
    ['４１１１１１１１１１１１１１１１', '************１１１１'],
    ['٤١١١١١١١١١١١١١١١', '************١١١١'],
  ] as const) {
    assert.equal(maskCardNumbers(text), masked)
  }
  // A digit of two code units becomes two asterisks, so the length stays.
  const doubleStruck = '𝟜𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙𝟙'
  assert.equal(maskCardNumbers(doubleStruck), '*'.repeat(24) + doubleStruck.slice(24))
})

test('digits in escapes are masked, and other escapes stay', () => {
  for (const [text, masked] of [
    ['card=4111%201111%201111%201111', 'card=**** **** **** 1111'],
    ['4111%25201111%25201111%25201111', '**** **** **** 1111'],
    ['4111&#160;1111&nbsp;1111\\u00201111', '****\u00a0**** **** 1111'],
    ['4111111111111111%20and%20more', '************1111%20and%20more'],
    ['a%20b&amp;c\\u0020d', 'a%20b&amp;c\\u0020d'],
  ] as const) {
    assert.equal(maskEscapedNumbers(text), masked)
  }
  const both = maskEscapedNumbers('4111111111111111 and 4222%2D2222%2D2222%2D2220')
  assert.ok(!/4222|41111/.test(both), both)
})

test('the URL of a webhook is shown without a card number in its path', () => {
  for (const path of [
    '4111111111111111',
    '4111%201111%201111%201111',
    '4111%25201111%25201111%25201111',
  ]) {
    const told = withoutSecrets(`https://shop.example/${path}?key=secret`)
    assert.match(told, /^https:\/\/shop\.example\/[* ]+1111\?\[sensitive\]$/)
  }
})

test('other numbers stay as they are', () => {
  for (const text of [
    '4111111111111112',
    '411111111111',
    '41111111111111111111111111111111',
    '92.00',
    '4111 1111 1111 111',
    '4111/1111/1111/1112',
    `4111${' '.repeat(33)}1111 1111 1111`,
    // Valid check digits outside every brand's range: such separators more likely form a date or a
    // list.
    '0000/0000/0000/0000',
    '',
  ]) {
    assert.equal(maskCardNumbers(text), text)
  }
})

test('a card number anywhere in a text keeps only its last four digits', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(words, written), { minLength: 1, maxLength: 4 }),
      words,
      (parts, end) => {
        // A letter separates the numbers; two joined ones may hide more than each alone.
        const text = `${parts.map(([word, number]) => `${word}x${number}`).join('x')}x${end}`
        const masked = maskCardNumbers(text)
        assert.equal(masked.length, text.length)
        const left = masked.replace(/[^0-9]/g, '')
        const expected = parts.map(([, number]) => number.replace(/[^0-9]/g, '').slice(-4)).join('')
        assert.equal(left, expected)
      },
    ),
  )
})

test('masking changes digits only, and only into asterisks', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789 -/x') }), (text) => {
      const masked = maskCardNumbers(text)
      assert.equal(masked.length, text.length)
      for (let at = 0; at < text.length; at++) {
        if (masked[at] !== text[at]) assert.match(`${text[at]}${masked[at]}`, /^[0-9]\*$/)
      }
    }),
  )
})

test('hostile texts take time proportional to their length', () => {
  const hostile = [
    '1',
    '0',
    '1 ',
    '0-',
    '0   ',
    '4111111111111111 ',
    '411111111111111',
    '000000000000000000 ',
  ]
  for (const unit of hostile) {
    const timeOf = (length: number) => {
      const text = unit.repeat(length / unit.length)
      const begun = process.cpuUsage().user
      maskCardNumbers(text)
      return process.cpuUsage().user - begun
    }
    timeOf(100_000)
    // Quadratic work would take minutes at this size.
    assert.ok(timeOf(2_000_000) < 2_000_000, `"${unit}" repeated took too long`)
  }
})
