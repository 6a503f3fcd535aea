import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { maskedAccounts, storedReference } from '../../../core/redaction/references.ts'

test('ids of payments stay whole, also with digits like those of a card number, and card numbers do not', () => {
  const number = '4200000000000000'
  const id = `ab${number}abcdefabcdefab`
  for (const text of [id, `sim-${id}`, `sim-cb-${id}`]) assert.equal(maskedAccounts(text), text)
  for (const text of [number, `line-${number}`, `${id}0`, `sim-${number}`]) {
    assert.equal(maskedAccounts(text).includes(number), false, text)
  }
})

test('a stored reference is masked and stays distinct from others with the same last digits', () => {
  const stored = (reference: string) => storedReference(reference, (text) => hash('sha256', text))
  assert.equal(stored(' ARN-1 '), 'ARN-1')
  const one = stored('ARN 4111111111111111 X')
  const other = stored('ARN 4012078888881111 X')
  assert.match(one, /^ARN \*{12}1111 X#[0-9a-f]{64}$/)
  assert.match(other, /^ARN \*{12}1111 X#[0-9a-f]{64}$/)
  assert.notEqual(one, other)
  assert.match(stored('DE89370400440532013000'), /^\*{18}3000#[0-9a-f]{64}$/)
})

test('two spellings of a reference are stored alike but for the case of their letters', () => {
  const stored = (reference: string) => storedReference(reference, (text) => hash('sha256', text))
  const likeCard = `dispute-c4eaa135717b16147c31280834968498`
  for (const reference of ['Arn 4111111111111111 X', 'de89 3704 0044 0532 0130 00 of', likeCard]) {
    const [one, other] = [stored(reference), stored(` ${reference.toUpperCase()}`)]
    assert.equal(other.toLowerCase(), one.toLowerCase())
  }
  assert.equal(stored(likeCard), likeCard)
})

test('a card number with escapes for some of its digits is masked as well', () => {
  for (const text of ['%34111111111111111', '&#52;111111111111111', '\\u0034111111111111111']) {
    assert.equal(maskedAccounts(text), '************1111', text)
    assert.match(
      storedReference(`ARN ${text}`, (whole) => hash('sha256', whole)),
      /^ARN \*{12}1111#[0-9a-f]{64}$/,
    )
  }
  assert.equal(maskedAccounts('ARN 100%25 & more'), 'ARN 100%25 & more')
})

test('an invisible character is replaced, so that no reference is the name of a later round or an unnamed fact', () => {
  const stored = (reference: string) => storedReference(reference, (text) => hash('sha256', text))
  for (const name of ['X\nround 2', 'id\nunnamed', 'X\nby hand after 0', 'X\ud800']) {
    assert.match(stored(`${name}!`), /^\P{C}+#[0-9a-f]{64}$/u, JSON.stringify(name))
  }
  assert.notEqual(stored('X\nround 2'), stored('X\tround 2'))
})
