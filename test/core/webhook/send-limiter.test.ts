/** Notifications take a share of each turn of the event loop, never all of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turns } from '../../../core/webhook/send-limiter.ts'

/** The number of sends in each turn until all have run. */
async function perTurn(told: readonly unknown[], wanted: number): Promise<number[]> {
  const counts: number[] = []
  for (let before = told.length; before < wanted; ) {
    await nextTurn()
    counts.push(told.length - before)
    before = told.length
    assert.ok(counts.length <= wanted, 'the sends have stopped')
  }
  return counts
}

test('three sends start in each turn of the event loop, in the order of their requests', async () => {
  const turns = new Turns()
  const told: number[] = []
  for (let no = 0; no < 10; no += 1) void turns.next().then(() => told.push(no))
  assert.deepEqual(await perTurn(told, 10), [3, 3, 3, 1])
  assert.deepEqual(told, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('requests made while others wait or run add nothing to a turn', async () => {
  const turns = new Turns()
  const told: number[] = []
  const ask = (no: number) =>
    turns.next().then(() => {
      told.push(no)
      // Each asks once more, like the next notification of its endpoint.
      if (no < 10) void ask(no + 10)
    })
  for (let no = 0; no < 5; no += 1) void ask(no)
  await nextTurn()
  for (let no = 5; no < 8; no += 1) void ask(no)
  const counts = [told.length, ...(await perTurn(told, 16))]
  assert.ok(Math.max(...counts) <= 3, counts.join())
  assert.equal(new Set(told).size, 16)
})

test('an error stops no other send, and a request after a pause gets a turn', async () => {
  const turns = new Turns()
  const told: number[] = []
  const asked = Array.from({ length: 7 }, async (_, no) => {
    await turns.next()
    if (no % 2 === 0) throw new Error(`broken ${no}`)
    told.push(no)
  })
  const ended = await Promise.allSettled(asked)
  assert.deepEqual(
    ended.map(({ status }) => status === 'fulfilled'),
    [false, true, false, true, false, true, false],
  )
  assert.deepEqual(told, [1, 3, 5])
  await nextTurn()
  await turns.next()
})
