/** Failures over sliding windows, compared with a list of all failures. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { judge } from '../../../core/card-testing/judge.ts'
import { type Bucket, type Key, Windows } from '../../../core/card-testing/windows.ts'
import { dimensions, windowMs } from '../../../core/entity/card-testing-settings.ts'

const minute = 60_000
const most = { keys: 1000, perMerchant: 1000 }
const key = (value: string, more: Partial<Key> = {}): Key => ({
  merchantId: 'a',
  dimension: 'address',
  value,
  ...more,
})

type Step =
  | { readonly is: 'fail'; readonly process: number; readonly value: string }
  | { readonly is: 'wait'; readonly ms: number }
  | { readonly is: 'share' }
  | { readonly is: 'lift' }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        is: fc.constant('fail' as const),
        process: fc.integer({ min: 0, max: 1 }),
        value: fc.constantFrom('one', 'two'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        is: fc.constant('wait' as const),
        ms: fc.integer({ min: 1, max: 20 * minute }),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ is: 'share' as const }) },
    { weight: 1, arbitrary: fc.constant({ is: 'lift' as const }) },
  ),
  { maxLength: 80 },
)

/** Two processes after these steps and one more exchange, beside the list of all failures. */
function live(given: readonly Step[]) {
  const processes = [new Windows(most), new Windows(most)] as const
  const rows = [new Map<string, Bucket>(), new Map<string, Bucket>()] as const
  const happened: { readonly value: string; readonly atMs: number }[] = []
  let nowMs = 1_000_000_000_123
  const share = () => {
    processes.forEach((process, no) => {
      const told = process.changes(500)
      for (const one of told) rows[no]?.set(`${one.value} ${one.at}`, one)
      process.told(told)
    })
    processes.forEach((process, no) => {
      for (const one of rows[1 - no]?.values() ?? []) process.learn(one, nowMs)
    })
  }
  for (const step of given) {
    if (step.is === 'wait') nowMs += step.ms
    if (step.is === 'share') share()
    if (step.is === 'fail') {
      processes[step.process]?.fail(key(step.value), nowMs)
      happened.push({ value: step.value, atMs: nowMs })
    }
    if (step.is === 'lift') {
      share()
      for (const process of processes) process.lift('a', 'address', nowMs)
      happened.splice(0)
      nowMs += 1
    }
  }
  share()
  return { processes, happened, nowMs }
}

describe('windows', () => {
  test('a window counts the failures of all processes, for at most a minute longer than its length', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const { processes, happened, nowMs } = live(given)
        for (const process of processes) {
          for (const value of ['one', 'two']) {
            const { own, others } = process.count(key(value), nowMs)
            const within = (ms: number) =>
              happened.filter((one) => one.value === value && one.atMs > nowMs - ms).length
            const window = windowMs('address')
            assert.ok(own + others >= within(window), 'fewer than the failures')
            assert.ok(own + others <= within(window + minute), 'more than the failures')
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  test('a window tells when its count falls below the threshold, and the count then does', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 10 }), (given, threshold) => {
        const { processes, nowMs } = live(given)
        for (const process of processes) {
          const before = process.count(key('one'), nowMs)
          const waitMs = process.msUntilBelow(key('one'), threshold, nowMs)
          assert.equal(waitMs > 0, before.own + before.others >= threshold)
          if (waitMs > 0) {
            // A count drops expired failures, so the earlier moment is checked first.
            const almost = process.count(key('one'), nowMs + waitMs - 1)
            assert.ok(almost.own + almost.others >= threshold)
          }
          const after = process.count(key('one'), nowMs + waitMs)
          assert.ok(after.own + after.others < threshold)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('a bucket learnt twice counts once, and a bucket whose answer was lost is sent again', () => {
    const [one, other] = [new Windows(most), new Windows(most)]
    one.fail(key('x'), 0)
    const lost = one.changes(500)
    one.fail(key('x'), 1)
    for (const bucket of [...lost, ...one.changes(500), ...one.changes(500)]) other.learn(bucket, 1)
    assert.equal(other.count(key('x'), 1).others, 2)
    // An answer to the older exchange does not hide the newer failure.
    one.told(lost)
    assert.deepEqual(one.changes(500), [{ ...key('x'), at: 0, failures: 2, approvals: 0 }])
  })

  test('a lift clears one dimension of one merchant at once', () => {
    const windows = new Windows(most)
    const other = [key('x', { merchantId: 'b' }), key('x', { dimension: 'bin' })]
    for (const one of [key('x'), key('y'), ...other]) windows.fail(one, 5)
    assert.equal(windows.lift('a', 'address', 10), true)
    assert.equal(windows.lift('a', 'address', 10), false)
    for (const value of ['x', 'y']) assert.equal(windows.count(key(value), 11).own, 0)
    for (const one of other) assert.equal(windows.count(one, 11).own, 1)
    // Failures in the rest of the same minute count; those other processes saw before the lift do
    // not.
    windows.fail(key('x'), 12)
    windows.learn({ ...key('x'), at: 0, failures: 100, approvals: 9 }, 12)
    assert.deepEqual(windows.count(key('x'), 12), { own: 1, others: 0, approved: 0 })
  })

  test("an attacker who varies every value fills a bounded memory, and only his merchant's", () => {
    const windows = new Windows({ keys: 500, perMerchant: 100 })
    for (let no = 0; no < 9; no += 1) windows.fail(key('victim', { merchantId: 'quiet' }), 0)
    const tried = key('tried again')
    for (let no = 0; no < 50_000; no += 1) {
      if (no % 20 === 0) windows.fail(tried, no)
      windows.fail(key(`new ${no}`), no)
      windows.fail(key(`new ${no}`, { dimension: 'number' }), no)
    }
    assert.equal(windows.size, 101)
    assert.equal(windows.count(key('victim', { merchantId: 'quiet' }), 50_000).own, 9)
    assert.equal(windows.count(tried, 50_000).own, 2500)
    // With many merchants at once, those with the most entries lose theirs.
    for (let no = 0; no < 20_000; no += 1)
      windows.fail(key(`${no}`, { merchantId: `m${no % 20}` }), 0)
    assert.equal(windows.size, 500)
    assert.equal(windows.count(key('victim', { merchantId: 'quiet' }), 50_000).own, 9)
    assert.ok(windows.changes(100_000).length <= 500 * 2)
  })

  test('a number with many failures outlives a flood between its attempts', () => {
    const windows = new Windows({ keys: 500, perMerchant: 100 })
    for (let no = 0; no < 9; no += 1) windows.fail(key('kept', { dimension: 'number' }), 0)
    for (let no = 0; no < 10_000; no += 1) windows.fail(key(`flood ${no}`), 1)
    assert.equal(windows.count(key('kept', { dimension: 'number' }), 2).own, 9)
  })

  test('a window takes no memory once it is over', () => {
    const windows = new Windows(most)
    for (const dimension of dimensions) windows.fail(key('x', { dimension }), 0)
    windows.forgetPast(windowMs('address') + minute)
    assert.equal(windows.size, 1)
    windows.forgetPast(windowMs('number') + minute)
    assert.equal(windows.size, 0)
  })

  test('approvals count beside failures and create no entry of their own', () => {
    const windows = new Windows(most)
    const channel = key('c', { dimension: 'channel' })
    windows.approve([channel], 'one', 0)
    assert.equal(windows.size, 0)
    windows.fail(channel, 1)
    windows.approve([channel], 'one', 2)
    assert.deepEqual(windows.count(channel, 3), { own: 1, others: 0, approved: 1 })
  })

  test('processes learn approvals like failures, and none without a failure', () => {
    const [one, other, later] = [new Windows(most), new Windows(most), new Windows(most)]
    const channel = key('c', { dimension: 'channel' })
    one.fail(channel, 0)
    for (const number of ['one', 'two', 'three']) one.approve([channel], number, minute)
    const told = one.changes(500)
    one.told(told)
    assert.deepEqual(one.changes(500), [])
    for (const bucket of [...told, ...told]) other.learn(bucket, minute)
    assert.deepEqual(other.count(channel, minute), { own: 0, others: 1, approved: 3 })
    other.approve([channel], 'four', minute)
    assert.equal(other.count(channel, minute).approved, 4)
    // Approvals alone, of failures that are past their window.
    later.learn({ ...channel, at: minute, failures: 0, approvals: 3 }, minute)
    assert.equal(later.size, 0)
    one.forgetPast(windowMs('channel') + minute)
    assert.equal(one.count(channel, windowMs('channel') + minute).approved, 0)
    other.lift('a', 'channel', 2 * minute)
    assert.deepEqual(other.count(channel, 2 * minute), { own: 0, others: 0, approved: 0 })
  })

  test('approvals of one number count once in a window', () => {
    const windows = new Windows(most)
    const channel = key('c', { dimension: 'channel' })
    for (let no = 0; no < 3; no += 1) windows.fail(channel, 0)
    for (let no = 0; no < 5; no += 1) windows.approve([channel], 'one', no)
    windows.approve([channel], 'other', 5)
    assert.equal(windows.count(channel, 6).approved, 2)
    const laterMs = windowMs('channel') + minute
    windows.fail(channel, laterMs)
    windows.approve([channel], 'one', laterMs)
    assert.equal(windows.count(channel, laterMs).approved, 1)
    windows.lift('a', 'channel', laterMs + 1)
    windows.fail(channel, laterMs + 2)
    windows.approve([channel], 'one', laterMs + 2)
    assert.equal(windows.count(channel, laterMs + 3).approved, 1)
  })
})

describe('the judgement of an attempt', () => {
  const idle = { underWay: 0, open: 0 }
  const counted = (own: number, others = 0, approved = 0) => ({ own, others, approved })

  test('a number or address at the threshold is refused, however many payments are approved', () => {
    for (const dimension of ['number', 'address'] as const) {
      assert.equal(judge(dimension, counted(4, 5, 99), idle, 10), 'free')
      assert.equal(judge(dimension, counted(5, 5, 99), idle, 10), 'blocked')
      assert.equal(judge(dimension, counted(5, 4), { underWay: 1, open: 0 }, 10), 'busy')
      assert.equal(judge(dimension, counted(9), idle, 0), 'free')
    }
  })

  test('attempts wait while the open ones could exceed the threshold; none counts twice', () => {
    assert.equal(judge('number', counted(0), { underWay: 0, open: 10 }, 10), 'busy')
    assert.equal(judge('number', counted(2, 5), { underWay: 0, open: 5 }, 10), 'free')
    assert.equal(judge('number', counted(2, 5), { underWay: 0, open: 8 }, 10), 'busy')
  })

  test('a shared dimension is refused only while more attempts fail than are approved', () => {
    for (const dimension of ['bin', 'channel', 'token'] as const) {
      assert.equal(judge(dimension, counted(600, 400, 999), idle, 1000), 'blocked')
      assert.equal(judge(dimension, counted(600, 400, 1000), idle, 1000), 'free')
      assert.equal(judge(dimension, counted(600, 399, 0), idle, 1000), 'free')
      // Which process saw them makes no difference.
      assert.equal(judge(dimension, counted(0, 1000, 999), idle, 1000), 'blocked')
      assert.equal(judge(dimension, counted(0, 1000, 1000), idle, 1000), 'free')
      assert.equal(judge(dimension, counted(1000), { underWay: 0, open: 0 }, 0), 'free')
    }
  })
})
