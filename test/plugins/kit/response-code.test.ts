/** Response codes of ISO 8583 as outcomes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { reasonTable, responseMeaning, responseOutcome } from '@tollgate/plugin-kit'
import { isFailure } from '@tollgate/schemas'
import { checked } from '../../../core/payment/checked-outcome.ts'

const asked = { minor: 9200n, currency: 'EUR' }
const refs = { id: 'T1' }
const characters = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const allCodes = characters.flatMap((one) => characters.map((other) => one + other))

describe('response codes', () => {
  test('only the listed approvals are approved', () => {
    const approvals = allCodes.filter((code) => responseMeaning(code).is.startsWith('approved'))
    assert.deepEqual(approvals, ['00', '08', '10', '11', '16'])
  })

  test('codes that say nothing about the money, and unlisted ones, leave the outcome unknown', () => {
    for (const code of ['06', '09', '22', '68', '91', '92', '94', '96', 'Q7', '', '000', '0']) {
      const outcome = responseOutcome(code, { refs, asked, amount: asked })
      assert.equal(outcome.is, 'unknown', code)
      assert.deepEqual('refs' in outcome && outcome.refs, refs, 'the reference is kept')
    }
  })

  test('every decline has a reason of the table, and the engine takes every outcome as it is', () => {
    for (const code of allCodes) {
      const outcome = responseOutcome(code, { refs, asked, amount: asked })
      assert.equal(checked(outcome).is, outcome.is, code)
      if (outcome.is === 'declined') assert.ok(isFailure(outcome.reason), code)
    }
    const declined = responseOutcome('51', { refs, asked, text: 'Insufficient funds' })
    assert.deepEqual(declined, {
      is: 'declined',
      reason: '800.100.155',
      refs,
      code: '51',
      text: 'Insufficient funds',
      advice: 'later',
    })
  })

  test('a partial approval names its amount, or is unknown', () => {
    const half = { minor: 4600n, currency: 'EUR' }
    const outcome = responseOutcome('10', { refs, asked, amount: half })
    assert.deepEqual(outcome, { is: 'approved', refs, code: '10', amount: half })
    assert.equal(responseOutcome('10', { refs, asked }).is, 'unknown')
    // An event does not know what was asked for.
    const told = responseOutcome('10', { refs, asked: undefined, amount: half })
    assert.deepEqual(told, outcome)
    assert.equal(responseOutcome('10', { refs, asked: undefined }).is, 'unknown')
    assert.equal(responseOutcome('10', { refs, asked, amount: asked }).is, 'unknown')
  })

  test('an approval names another amount or currency, and never the requested one', () => {
    const named = (amount?: typeof asked) => {
      const outcome = responseOutcome('00', { refs, asked, amount, networkTxId: 'N1' })
      assert.equal(outcome.is, 'approved')
      return outcome.is === 'approved' ? outcome.amount : undefined
    }
    assert.equal(named(asked), undefined)
    assert.equal(named(), undefined)
    assert.deepEqual(named({ minor: 9200n, currency: 'USD' }), { minor: 9200n, currency: 'USD' })
    assert.deepEqual(named({ minor: 9199n, currency: 'EUR' }), { minor: 9199n, currency: 'EUR' })
  })
})

test('a table of reasons knows its own codes and nothing that objects have by nature', () => {
  const reasonFor = reasonTable({ '05': '800.100.152' })
  assert.equal(reasonFor('05'), '800.100.152')
  assert.equal(reasonFor('toString'), '800.100.100')
  assert.equal(reasonTable({}, '000.100.200')('x'), '000.100.200')
})
