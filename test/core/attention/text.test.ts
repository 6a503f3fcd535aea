/** Entries of the operators' list in words for people. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attentionText } from '../../../core/attention/text.ts'

const cases: readonly [detail: object, currency: string | null, text: string][] = [
  [
    { row: 'approved', outcome: 'declined', source: 'settlement', refs: {}, minor: '3094' },
    'EUR',
    'the payment is approved here; the acquirer said declined in a settlement file; the amount is 30.94 EUR',
  ],
  [
    { why: 'another amount was reversed', minor: '9255', currency: 'KWD' },
    'EUR',
    'another amount was reversed; the amount is 9.255 KWD',
  ],
  [{ beyondMinor: '-5000' }, 'JPY', 'beyond what is left by -5000 JPY'],
  [{ minor: '3094' }, null, 'the amount is 3094 minor units'],
  [
    { lines: [3, 7], count: 2, expected: 'a payment', came: ['one', 'other'], do: 'Ask.' },
    null,
    'lines 3, 7; count 2; expected: a payment; reported: one, other; what to do: Ask.',
  ],
  [
    { why: 'of 4200000000000000', refs: { id: '7', apiKey: 'x' } },
    null,
    'of ************0000; references of the acquirer: id 7, apiKey [sensitive]',
  ],
  [{}, 'EUR', ''],
]

for (const [detail, currency, text] of cases) {
  test(`an entry says: ${text}`, () => {
    assert.equal(attentionText({ ...detail }, currency), text)
  })
}
