/** The formats of fields: their values, and the messages about other values. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  amount,
  date,
  dateTime,
  type Format,
  flag,
  integer,
  match,
  N,
  oneOf,
  url,
} from '../../../schemas/table.ts'
import { checking, only, refusal } from './refusals.ts'

describe('formats', () => {
  const cases: readonly [string, Format, readonly string[], readonly string[], RegExp][] = [
    [
      'text counts characters, not bytes or code units',
      { kind: 'text', min: 2, max: 3 },
      ['ab', '🏔🏔🏔', 'éé'],
      ['a', 'abcd', '🏔', '🏔🏔🏔🏔'],
      /^must have 2 to 3 characters/,
    ],
    [
      'text says how long it is',
      { kind: 'text', min: 1, max: 3 },
      ['abc'],
      ['abcd'],
      /up to 3 characters; it has 4$/,
    ],
    [
      'digits',
      N(3, 4),
      ['123', '0000'],
      ['12', '12345', '12a', '１２３'],
      /^must match \^\[0-9\]\{3,4\}\$ \(3 to 4 digits\)$/,
    ],
    ['letters', { kind: 'letters', min: 2, max: 2 }, ['DE', 'de'], ['D', 'DEU', 'Ä1'], /2 letters/],
    [
      'patterns match whole values',
      match('a|b', 'a'),
      ['a', 'b'],
      ['ab', 'xa', 'b\u2028b'],
      /^must match \^\(\?:a\|b\)\$/,
    ],
    ['amounts', amount, ['1', '1.00'], ['1.0', '', '12345678901'].filter(Boolean), /92\.00/],
    [
      'amounts of always two decimals',
      { kind: 'amount', integer: 10, fixed: true },
      ['1.00'],
      ['1'],
      /always two decimals/,
    ],
    [
      'decimals',
      { kind: 'decimal', integer: 2, fraction: 3 },
      ['1', '12.345'],
      ['123', '1.2345', '-1', '.5'],
      /up to 2 digits and up to 3 decimals/,
    ],
    [
      'decimals in a range',
      { kind: 'decimal', integer: 3, fraction: 2, min: 0, max: 100 },
      ['0', '99.99', '100', '100.00'],
      ['100.01', '101', '-0'],
      /0 to 100/,
    ],
    [
      'signed decimals',
      { kind: 'decimal', integer: 5, fraction: 0, signed: true },
      ['-99999', '7'],
      ['+7', '100000'],
      /up to 5 digits/,
    ],
    [
      'integers in a range',
      integer(100, 500),
      ['100', '499', '500'],
      ['99', '501', '1000', '-100', '1e2'],
      /^must be a whole number from 100 to 500$/,
    ],
    [
      'choices',
      oneOf('A', 'B.C', 'D|E'),
      ['A', 'B.C', 'D|E'],
      ['a', 'BxC', 'D'],
      /^must be one of A, B\.C, D\|E$/,
    ],
    [
      'flags, also as form encoders of PHP and Python write them',
      flag,
      ['true', 'false', '1', '0', 'True', 'False'],
      ['TRUE', '2', '01', 'yes', 'on'],
      /^must be true or false$/,
    ],
    [
      'days that exist',
      date,
      ['2024-02-29', '2000-02-29', '2023-12-31'],
      [
        '2023-02-29',
        '1900-02-29',
        '2100-02-29',
        '2023-04-31',
        '2023-13-01',
        '2023-00-10',
        '0000-01-01',
        '23-01-01',
        '2023-1-1',
      ],
      /date that exists, yyyy-MM-dd/,
    ],
    [
      'times that exist',
      dateTime,
      ['2024-02-29 23:59:59'],
      ['2023-02-29 00:00:00', '2024-01-01 24:00:00', '2024-01-01T00:00:00', '2024-01-01 00:60:00'],
      /yyyy-MM-dd HH:mm:ss/,
    ],
    [
      'addresses',
      url(60),
      ['https://shop.example/a?b=c#d', 'HTTP://shop.example', 'http://[::1]:8080/'],
      [
        'shop.example',
        'ftp://shop.example',
        'javascript:alert(1)',
        'https://',
        'https://a b',
        'http://[',
        'http://a:99999',
        `https://shop.example/${'x'.repeat(60)}`,
      ],
      /absolute http or https URL/,
    ],
    [
      'either of two',
      { kind: 'either', of: [{ kind: 'letters', min: 2, max: 2 }, N(3, 3)] },
      ['DE', '276'],
      ['D', '27', 'DE276'],
      /2 letters, or 3 digits/,
    ],
    [
      'lists',
      { kind: 'list', of: oneOf('A', 'B'), max: 3 },
      ['A', 'A,B,A'],
      ['A,', ',A', 'A,,B', 'A,C', 'A,B,A,B', 'A, B'],
      /up to 3 values/,
    ],
  ]
  for (const [what, format, right, wrongs, message] of cases) {
    it(`the check of a format: ${what}`, () => {
      const check = checking(format)
      for (const value of right) check(value)
      for (const value of wrongs) {
        const { name, message: said } = only(refusal(() => check(value)))
        assert.equal(name, 'field')
        assert.match(said, message, value)
      }
    })
  }
})
