/** Texts in the form in which they are compared. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalForm } from '../../../core/redaction/normal-form.ts'

test('no character becomes more than six, and letters and digits in other forms become plain ones', () => {
  const longest = Array.from({ length: 0x110000 }, (_, point) => point)
    .filter((point) => point < 0xd800 || point > 0xdfff)
    .map((point) => normalForm(String.fromCodePoint(point)).length)
    .reduce((one, other) => Math.max(one, other))
  assert.equal(longest, 6)
  assert.equal(normalForm('ＤＥ８９ⅳ'), 'DE89iv')
})
