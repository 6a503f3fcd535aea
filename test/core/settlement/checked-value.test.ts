import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masked } from '../../../core/settlement/checked-value.ts'

test('ids of payments stay whole, also with digits like those of a card number, and card numbers do not', () => {
  const number = '4200000000000000'
  const id = `ab${number}abcdefabcdefab`
  for (const text of [id, `sim-${id}`, `sim-cb-${id}`]) assert.equal(masked(text), text)
  for (const text of [number, `line-${number}`, `${id}0`, `sim-${number}`]) {
    assert.equal(masked(text).includes(number), false, text)
  }
})
