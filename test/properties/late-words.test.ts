/** Whatever is said about payments, in whatever order, the engine agrees with the acquirer's books. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { happenings } from './late-words/merchant.ts'
import { playAll, shownViolation, withDeaths } from './late-words/runner.ts'
import { mixed, sampled } from './late-words/sequences.ts'

const each = 100
const fixedSeed = 1

/** The long run, which also looks for shorter sequences, is `npm run late-words`. */
test('requests, crashes and words of the acquirer by chance: every rule holds', async (t) => {
  const seed = Date.now() % 1_000_000
  t.diagnostic(`seeds ${fixedSeed} and ${seed}`)
  const sequences = [...sampled(mixed, fixedSeed, each), ...sampled(mixed, seed, each)]
  const { violations, tally } = await withDeaths(() => playAll(sequences))
  for (const what of happenings) assert.ok((tally.get(what) ?? 0) > 0, `there was no ${what}`)
  const shortestFirst = violations.toSorted(
    (one, other) => one.sequence.commands.length - other.sequence.commands.length,
  )
  assert.deepEqual(
    shortestFirst.map(({ rule }) => rule),
    [],
    [
      `npm run late-words -- --sequences ${each} --seed ${seed} (or ${fixedSeed}) makes them shorter`,
      ...shortestFirst.slice(0, 3).map(shownViolation),
    ].join('\n'),
  )
})
