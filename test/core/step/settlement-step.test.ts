/** The step that a record of a settlement file leaves at a payment. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settlementOf } from '../../../core/step/derive.ts'

const row = {
  ...{ id: 'r', at: new Date(0), record_type: 'SETTLED', status: 'SUCCESS', currency: 'EUR' },
  ...{ day: '2027-03-01', batch: 'P-1', settlement_id: 'L-1' },
  ...{ amount_minor: 9200n, allocated_minor: 3000n, is_final: true },
}

test('a payment that is a part of its line shows its part', () => {
  assert.equal(settlementOf(row).text, 'SETTLED 30.00 EUR on 2027-03-01, payout P-1, number L-1')
})

test('a line that was not paid out shows its amount, though it settled nothing', () => {
  const { text, outcome } = settlementOf({ ...row, status: 'FAILED', allocated_minor: 0n })
  assert.deepEqual(
    [text, outcome],
    ['SETTLED 92.00 EUR on 2027-03-01, payout P-1, number L-1', 'FAILED'],
  )
})
