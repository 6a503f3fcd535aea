/** The limit of different numbers with the same ends: in memory, by window, bounded. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { GatewayError } from '../../../core/index.ts'
import { DistinctNumbers } from '../../../core/vault/distinct-numbers.ts'
import { card, startGateway } from '../../rig/gateway.ts'
import { sameEnds } from '../../rig/same-ends.ts'

const hourMs = 3_600_000
const threshold = { most: 3, windowMs: hourMs }
/** Numbers with the same first six and last four digits. */
const candidate = (no: number) => `420000${String(no).padStart(6, '0')}1234`

const counting = () => {
  let nowMs = 0
  const numbers = new DistinctNumbers({ elapsedMs: () => nowMs })
  const later = (ms: number) => {
    nowMs += ms
  }
  return { numbers, later }
}

describe('different numbers with the same ten digits', () => {
  test('numbers are accepted up to the threshold, and the next one waits for the oldest to leave the window', () => {
    const { numbers, later } = counting()
    const count = (no: number) => numbers.count(['token a'], candidate(no), threshold)
    for (const no of [1, 2, 3]) {
      assert.equal(count(no), 0)
      later(1_000)
    }
    assert.equal(count(4), hourMs - 3_000)
    assert.equal(count(1), 0, 'a known number is not counted again, and is renewed')
    later(hourMs - 3_000 + 1_000)
    assert.equal(count(4), 0, 'the second number has left the window')
    assert.ok(count(5) > 0)
  })

  test('numbers count by token and by channel, so neither many channels nor many tokens avoid the limit', () => {
    const tokens = counting().numbers
    const refusedBy = (numbers: DistinctNumbers, scopes: (no: number) => string[]) => {
      for (let no = 1; no < 100; no += 1) {
        if (numbers.count(scopes(no), candidate(no), threshold) > 0) return no
      }
      return undefined
    }
    assert.equal(
      refusedBy(tokens, (no) => [`channel ${no}`, 'token a']),
      4,
    )
    assert.equal(
      refusedBy(counting().numbers, (no) => ['channel c', `token ${no}`]),
      4,
    )
    assert.equal(tokens.count(['channel x', 'token b'], candidate(9), threshold), 0)
  })

  test('a refused number counts in none of its scopes', () => {
    const { numbers } = counting()
    for (const no of [1, 2, 3]) numbers.count(['token a'], candidate(no), threshold)
    for (let no = 10; no < 20; no += 1) {
      assert.ok(numbers.count(['channel c', 'token a'], candidate(no), threshold) > 0)
    }
    assert.equal(numbers.count(['channel c'], candidate(50), threshold), 0)
  })

  test('a number first seen with another token is refused once the channel is at its threshold', () => {
    const { numbers } = counting()
    const by = (token: string, no: number) =>
      numbers.count(['channel c', `token ${token}`], candidate(no), threshold)
    assert.equal(by('shop', 1), 0)
    for (const no of [2, 3]) assert.equal(by('thief', no), 0)
    // The shopper's own number is refused too, because no request distinguishes them.
    for (const no of [4, 1, 5]) assert.equal(by('thief', no), hourMs)
    assert.equal(by('shop', 1), 0, 'the first token with the number is still served')
    assert.equal(by('thief', 2), 0, 'the other token is served with its own')
  })

  test('after three times as many tries as numbers, every number of that token is refused', () => {
    const { numbers, later } = counting()
    const by = (token: string, no: number) =>
      numbers.count([`channel ${token}`, `token ${token}`], candidate(no), threshold)
    for (const no of [1, 2, 3]) assert.equal(by('a', no), 0)
    later(1_000)
    for (let no = 4; no <= 9; no += 1) assert.ok(by('a', no) > 0)
    later(1_000)
    assert.equal(by('a', 1), hourMs - 1_000, 'until the first refusal leaves the window')
    assert.equal(by('b', 1), 0)
    assert.equal(numbers.count(['token a'], '4200000000009999', threshold), 0, 'other digits')
    later(hourMs - 1_000)
    assert.equal(by('a', 1), 0)
  })

  test('a threshold of one accepts one number', () => {
    const { numbers } = counting()
    const by = (token: string, no: number) =>
      numbers.count(['channel c', `token ${token}`], candidate(no), { most: 1, windowMs: hourMs })
    assert.equal(by('a', 1), 0)
    assert.equal(by('a', 1), 0)
    assert.ok(by('b', 1) > 0)
    assert.ok(by('a', 2) > 0)
  })

  test('numbers with other last four digits are counted apart', () => {
    const { numbers } = counting()
    for (let no = 0; no < 1000; no += 1) {
      const number = `420000000000${String(no).padStart(4, '0')}`
      assert.equal(numbers.count(['token a'], number, threshold), 0)
    }
  })

  test('memory is bounded, and the longest memory is of scopes with several numbers', () => {
    const { numbers } = counting()
    for (const no of [1, 2, 3]) numbers.count(['token a'], candidate(no), threshold)
    for (let no = 0; no < 3 * limits.distinctOnce; no += 1) {
      numbers.count([`token ${no}`], candidate(no), threshold)
    }
    assert.ok(numbers.size <= limits.distinctOnce + limits.distinctSeveral)
    assert.ok(numbers.count(['token a'], candidate(4), threshold) > 0)
  })
})

describe('trials of card numbers', () => {
  test('payments, registrations and verifications together are refused with a wait, and nothing is written', async () => {
    const run = await startGateway()
    try {
      const { gateway, channel } = run
      await gateway.entities.configure(run.merchant, { distinctNumbers: 4 })
      const later = await run.another()
      const numbers = sameEnds(7)
      const as = (number: string) => ({ ...card(number), entityId: channel }) as never
      const {
        amount: _,
        currency: __,
        paymentType: ___,
        ...account
      } = as(numbers[2]!) as object & {
        amount: string
        currency: string
        paymentType: string
      }
      const tries = [
        () => later.payments.create(as(numbers[0]!)),
        () =>
          later.payments.create({
            ...(as(numbers[1]!) as object),
            createRegistration: 'true',
          } as never),
        () => later.registrations.create(account as never),
        () => later.payments.create(as(numbers[3]!), { idempotencyKey: 'known' }),
      ]
      for (const one of tries) assert.equal((await one()).result.code, '000.100.110')
      const rows = () => run.sql<{ n: bigint }>('select count(*) as n from tollgate.payment')
      const before = await rows()
      const refusedNow = (error: unknown) => {
        assert.ok(error instanceof GatewayError, String(error))
        assert.deepEqual([error.code, error.status], ['800.120.100', 429])
        assert.ok((error.retryAfterSeconds ?? 0) > 3_600)
        return true
      }
      await assert.rejects(later.payments.create(as(numbers[4]!)), refusedNow)
      const { card: own, ...rest } = account as unknown as { card: { number: string } }
      const verification = { ...rest, card: { ...own, number: numbers[5]! } }
      await assert.rejects(later.registrations.create(verification as never), refusedNow)
      assert.deepEqual(await rows(), before)
      // Earlier numbers are charged, and a repeat gets its answer.
      assert.equal((await later.payments.create(as(numbers[0]!))).result.code, '000.100.110')
      const again = await later.payments.create(as(numbers[3]!), { idempotencyKey: 'known' })
      assert.equal(again.result.code, '000.100.110')
      const alarm = run.logs.find(({ fields }) => fields.alarm === 'card-testing')
      assert.match(String(alarm?.fields.why), /many different card numbers/)
      assert.equal(alarm?.fields.security, true)
      assert.doesNotMatch(JSON.stringify(run.logs), /420000\d{6}1234/)
    } finally {
      await run.close()
    }
  })

  test('different numbers are not limited in test unless a setting says so', async () => {
    const run = await startGateway()
    try {
      for (const number of sameEnds(limits.distinctNumbers + 2)) {
        assert.equal((await run.pay(card(number))).result.code, '000.100.110')
      }
    } finally {
      await run.close()
    }
  })
})
