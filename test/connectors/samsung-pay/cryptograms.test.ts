/** A cryptogram has one spelling and the length of one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cardOf } from '../../../connectors/samsung-pay/card.ts'

const read = (cryptogram: unknown) =>
  cardOf(
    JSON.stringify({
      amount: '9200',
      cryptogram,
      currency_code: 'EUR',
      tokenPAN: '4111111111111111',
      tokenPanExpiration: '1234',
      utc: '1790000000000',
    }),
    1_000,
  )?.card.cryptogram?.reveal()
const text = (length: number) => Buffer.alloc(length, 0xfb).toString('base64')

test('the cryptograms of card networks are taken as they are', () => {
  for (const length of [16, 19, 20, 21, 40, 64]) assert.equal(read(text(length)), text(length))
})

test('other spellings of a cryptogram are none', () => {
  const good = text(20)
  const url = good.replaceAll('+', '-').replaceAll('/', '_')
  const unused = `${good.slice(0, -2)}t=`
  assert.deepEqual(Buffer.from(unused, 'base64'), Buffer.from(good, 'base64'))
  const spellings = [
    url,
    unused,
    good.slice(0, -1),
    `${good}=`,
    `${good} `,
    ` ${good}`,
    `${good}\n`,
  ]
  spellings.push(`${good}AAAA`, `\u00fb${good}`, '', 'x')
  for (const one of spellings) assert.equal(read(one), undefined, JSON.stringify(one))
  assert.equal(read(20), undefined)
})

test('shorter and longer texts are none', () => {
  for (const length of [1, 15, 65, 1_000]) assert.equal(read(text(length)), undefined)
})
