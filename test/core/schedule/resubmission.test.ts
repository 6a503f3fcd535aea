import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resultAdvice, results } from '@tollgate/schemas'
import { type EndedPayment, resubmitAt } from '../../../core/schedule/resubmission.ts'

const hour = 3_600_000
const policy = { maxAttempts: 4, delaysMs: [hour, 24 * hour] }
const endedAt = new Date('2027-01-01T10:00:00Z')
const noFunds = '800.100.203'

const after = (payment: Partial<EndedPayment>, end?: Date | null) => {
  const due = resubmitAt(policy, { code: noFunds, attempt: 1, endedAt, ...payment }, end)
  return due === null ? 'not' : (due.getTime() - endedAt.getTime()) / hour
}

describe('retries of declined executions', () => {
  test('a declined execution is retried after each wait, the last repeating, until the attempts are used up', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((attempt) => after({ attempt })),
      [1, 24, 24, 'not', 'not'],
    )
  })

  test('a channel without a policy retries nothing', () => {
    const payment = { code: noFunds, attempt: 1, endedAt }
    assert.equal(resubmitAt(null, payment), null)
    assert.equal(resubmitAt({ maxAttempts: 4, delaysMs: [] }, payment), null)
    assert.equal(resubmitAt({ maxAttempts: 1, delaysMs: [hour] }, payment), null)
  })

  test('codes whose advice is to retry later are retried, and no other code', () => {
    const tried = results.map(([code]) => code).filter((code) => after({ code }) !== 'not')
    assert.deepEqual(
      tried,
      results.map(([code]) => code).filter((code) => resultAdvice(code) === 'later'),
    )
    assert.ok(tried.length >= 6)
  })

  test("the acquirer's advice allows a retry, except of final, open and soft declines", () => {
    assert.equal(after({ code: '800.100.152', advice: 'later' }), 1)
    assert.equal(after({ advice: 'never' }), 'not')
    assert.equal(after({ advice: 'new-instrument' }), 'not')
    for (const code of [
      '300.100.100', // Soft decline.
      '800.100.159', // Stolen.
      '800.100.160', // Card blocked.
      '800.100.165', // Lost.
      '800.100.171', // To be retained.
      '800.100.172', // Account blocked.
      '000.200.000', // Pending.
      '000.200.001', // Open.
      '100.400.500', // Pending for long.
      '000.000.000', // Paid.
      '000.400.000', // Paid, to be reviewed.
      '000.100.204', // Charged back.
      '123.456.789', // No code at all.
    ]) {
      assert.equal(after({ code, advice: 'later' }), 'not', code)
    }
  })

  test('a retry happens only before a cancellation takes effect', () => {
    const end = (ms: number) => new Date(endedAt.getTime() + hour + ms)
    assert.equal(after({}, end(1)), 1)
    assert.equal(after({}, end(0)), 'not')
    assert.equal(after({}, end(-1)), 'not')
    assert.equal(after({}, null), 1)
  })
})
