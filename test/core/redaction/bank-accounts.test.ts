import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskIbans } from '../../../core/redaction/bank-accounts.ts'
import { maskedAccounts } from '../../../core/redaction/references.ts'
import { workedMs } from '../../rig/worked.ts'

const plain = 'DE89370400440532013000'
const masked = '******************3000'
const grouped = 'DE89 3704 0044 0532 0130 00'
const maskedGroups = '**** **** **** **** ***0 00'

test('all characters of an IBAN but the last four are masked, in groups or not', () => {
  for (const [text, expected] of [
    [plain, masked],
    [plain.toLowerCase(), masked],
    [grouped, maskedGroups],
    [grouped.replaceAll(' ', '-'), maskedGroups.replaceAll(' ', '-')],
    // The blank before a word is taken as a part of it.
    [`from ${plain} of 31 March`, `from *${masked.slice(0, -4)}000 of 31 March`],
    [`from ${plain}: 31 March`, `from ${masked}: 31 March`],
    [`_${plain}_`, `_${masked}_`],
    ['NO9386011117947', '***********7947'],
    ['MT84MALT011000012345MTLCAST001S', '***************************001S'],
  ] as const) {
    assert.equal(maskIbans(text), expected)
  }
})

test('an IBAN is found behind a word that looks like the start of one, and behind another IBAN', () => {
  for (const before of [
    'ref AB12 ',
    'RF18 ',
    'iban_',
    'DE89 ',
    'DE89-',
    'GB82 AB12 CD34 ',
    'AB12 AB12 ',
  ]) {
    assert.equal(maskIbans(before + plain), before + masked)
    assert.equal(maskIbans(before + grouped), before + maskedGroups)
    assert.equal(maskedAccounts(before + plain).includes(plain), false)
  }
  assert.equal(maskIbans(`${plain}, ${grouped}/${plain}`), `${masked}, ${maskedGroups}/${masked}`)
  assert.equal(
    maskIbans(`${plain} ${grouped} ${plain}`),
    `*${masked.slice(0, -4)}000 ${maskedGroups} ${masked}`,
  )
})

test('other texts stay as they are', () => {
  for (const text of [
    '',
    'DE89',
    'DE88370400440532013000',
    `${plain}1`,
    `x${plain}`,
    'DE89  370400440532013000',
    'DE89 3704 0044 0532 0130 0',
    'AB12 CD34 EF56 GH78 IJ90',
    'RF18 5390 0754 7034',
  ]) {
    assert.equal(maskIbans(text), text)
  }
})

test('texts full of starts take time in line with their length', () => {
  for (const unit of ['DE89 ', 'MT84 ', 'AB12 ', 'DE89', 'MT84MALT011000012345MTLCAST001T ', '-']) {
    const text = unit.repeat(1_000_000 / unit.length)
    const startedMs = workedMs()
    assert.equal(maskIbans(text), text)
    assert.ok(workedMs() - startedMs < 5_000, unit)
  }
})
