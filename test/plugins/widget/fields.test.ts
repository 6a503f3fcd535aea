/** Fields of the widget: digits of every script, brands while typing, dates as people write them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { detectBrand, passesLuhn as passesInEngine } from '../../../core/redaction/card-number.ts'
import {
  brandsOf,
  cardBrand,
  gapsOf,
  longestOf,
  schemeOf,
} from '../../../plugins/widget/browser/fields/card-brands.ts'
import { caretAfter, withGaps } from '../../../plugins/widget/browser/fields/caret.ts'
import { digitsOf } from '../../../plugins/widget/browser/fields/digits.ts'
import {
  expiryFault,
  formatExpiry,
  readExpiry,
} from '../../../plugins/widget/browser/fields/expiry.ts'
import { cleanIban, isIban } from '../../../plugins/widget/browser/fields/iban.ts'
import { passesLuhn } from '../../../plugins/widget/browser/fields/luhn.ts'
import { cardBrands } from '../../../plugins/widget/generated/card-brands.ts'

describe('digits', () => {
  test('count in every script, and nothing else does', () => {
    assert.equal(digitsOf('4200 0000-0000\u00a00000'), '4200000000000000')
    assert.equal(digitsOf('４２００'), '4200')
    assert.equal(digitsOf('٤٢٠٠'), '4200')
    assert.equal(digitsOf('۴۲۰۰'), '4200')
    assert.equal(digitsOf('४२०९'), '4209')
    assert.equal(digitsOf('๔๒๐๙'), '4209')
    assert.equal(digitsOf('𝟜𝟚'), '42')
    assert.equal(digitsOf('card: four'), '')
  })

  test('of all decimal digits have their value', () => {
    for (let code = 0; code < 0x20000; code++) {
      const character = String.fromCodePoint(code)
      if (/\p{Nd}/u.test(character)) assert.match(digitsOf(character), /^[0-9]$/, code.toString(16))
    }
    for (const zero of [0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xe50, 0x1040, 0x17e0, 0xff10]) {
      const ten = Array.from({ length: 10 }, (_, index) => String.fromCodePoint(zero + index))
      assert.equal(digitsOf(ten.join('')), '0123456789', zero.toString(16))
    }
  })
})

describe('card numbers', () => {
  test('have the scheme that the engine finds', () => {
    const digits = fc.string({
      unit: fc.constantFrom(...'0123456789'),
      minLength: 12,
      maxLength: 19,
    })
    fc.assert(
      fc.property(digits, (number) => {
        assert.equal(schemeOf(number)?.replace('MAESTRO', ''), codeOf(number))
        assert.equal(passesLuhn(number), passesInEngine(number))
      }),
      { numRuns: 2_000 },
    )
  })

  test('have that scheme at both ends of every range', () => {
    for (const edge of cardBrands.flatMap(([, , , , text]) => text.match(/\d+/g) ?? [])) {
      for (const number of [edge.padEnd(12, '0'), edge.padEnd(12, '9')]) {
        assert.equal(schemeOf(number)?.replace('MAESTRO', ''), codeOf(number), number)
      }
    }
    assert.equal(schemeOf('506100000000'), 'VERVE')
  })

  test('are written in the groups of their scheme', () => {
    const written = (number: string) => withGaps(number, gapsOf(number))
    assert.equal(written('4200000000000000'), '4200 0000 0000 0000')
    assert.equal(written('377777777777770'), '3777 777777 77770')
    assert.equal(written('36227206271667'), '3622 720627 1667')
    assert.equal(written('6205500000000000004'), '6205 5000 0000 0000 004')
    assert.equal(longestOf('37'), 15)
    assert.equal(longestOf('4'), 19)
    assert.equal(longestOf(''), 19)
  })

  test('name the accepted brands that they are of', () => {
    const accepted = ['VISA', 'MASTER', 'AMEX', 'CARTEBANCAIRE']
    assert.deepEqual(brandsOf('', accepted), [])
    assert.deepEqual(brandsOf('37', accepted), ['AMEX'])
    assert.deepEqual(brandsOf('4', accepted), ['VISA', 'CARTEBANCAIRE'])
    assert.deepEqual(brandsOf('4', ['MASTER']), [])
    assert.deepEqual(brandsOf('4', ['VISADEBIT']), ['VISADEBIT'])
    assert.deepEqual(brandsOf('4', accepted, ['CARTEBANCAIRE']), ['CARTEBANCAIRE', 'VISA'])
    assert.deepEqual(brandsOf('34', ['AMERICAN_EXPRESS']), ['AMERICAN_EXPRESS'])
    assert.deepEqual(cardBrand('AMEX').cvvLengths, [4])
  })
})

/** The engine's table guesses Maestro for any other 6; so does the widget's. */
function codeOf(number: string): string | undefined {
  return detectBrand(number)?.code.replace('MAESTRO', '')
}

describe('the caret', () => {
  test('stays beside its character when blanks come and go', () => {
    assert.equal(caretAfter('4200 0000', 4, digitsOf), 4)
    assert.equal(caretAfter('4200 0000', 5, digitsOf), 6)
    assert.equal(caretAfter('4200 0000', 0, digitsOf), 0)
  })
})

describe('expiry dates', () => {
  test('are read as people and browsers write them', () => {
    const december = { month: '12', year: '2030' }
    for (const text of [
      '1230',
      '12/30',
      '12 / 30',
      '12-2030',
      '122030',
      '2030-12',
      '１２／３０',
      '١٢/٣٠',
    ]) {
      assert.deepEqual(readExpiry(text), december, text)
    }
    for (const text of ['1/30', '01/2030', '130', '2030-01', '01.30', '203001']) {
      assert.deepEqual(readExpiry(text), { month: '01', year: '2030' }, text)
    }
    for (const text of ['', '1', '13/30', '00/30', '1/2/30', '12/3', '12/203', 'soon']) {
      assert.equal(readExpiry(text), null, text)
    }
  })

  test('are valid to the end of their month, at most twenty years ahead', () => {
    const today = new Date(2030, 4, 31)
    assert.equal(expiryFault({ month: '05', year: '2030' }, today), null)
    assert.equal(expiryFault({ month: '04', year: '2030' }, today), 'expired')
    assert.equal(expiryFault({ month: '05', year: '2050' }, today), null)
    assert.equal(expiryFault({ month: '06', year: '2050' }, today), 'invalid')
  })

  test('take their form while they are typed', () => {
    const typed = (keys: string) =>
      [...keys].reduce((text, key) => formatExpiry(text + key, false), '')
    assert.equal(typed('1230'), '12 / 30')
    assert.equal(typed('1/30'), '01 / 30')
    assert.equal(typed('530'), '05 / 30')
    assert.equal(typed('01/2030'), '01 / 30')
    assert.equal(typed('12/2030'), '12 / 30')
    assert.equal(typed('130'), '01 / 30')
    assert.equal(formatExpiry('2030-01', false), '01 / 30')
    assert.equal(formatExpiry('12 / ', true), '12')
    assert.equal(formatExpiry('1', true), '1')
  })
})

describe('IBANs', () => {
  test('have the length of their country and right check digits', () => {
    assert.ok(isIban('DE89370400440532013000'))
    assert.ok(isIban('NO9386011117947'))
    assert.ok(isIban('MT84MALT011000012345MTLCAST001S'))
    assert.ok(!isIban('DE89370400440532013001'))
    assert.ok(!isIban('DE8937040044053201300'))
    assert.ok(!isIban(''))
    assert.equal(cleanIban('de89 3704-0044 0532 0130 00'), 'DE89370400440532013000')
  })
})
