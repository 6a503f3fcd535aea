/** The engine agrees with the acquirer's books after any messages in any order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inScope, isLong } from '../rig/scope.ts'
import { type Happening, happenings } from './late-words/merchant.ts'
import { profiles } from './late-words/profiles.ts'
import { playAll, shownViolation, withDeaths } from './late-words/runner.ts'
import { mixed, sampled } from './late-words/sequences.ts'

const often: ReadonlySet<Happening> = new Set(['success', 'message'])

const count = inScope(10, 40)

/**
 * The same lives on every run; the long run takes others and shortens failing ones: `npm run
 * late-words`.
 */
const everyRuleHolds =
  (seed: number, profile = mixed, named: readonly Happening[] = happenings) =>
  async () => {
    const sequences = sampled(profile, seed, count)
    const { violations, tally } = await withDeaths(() => playAll(sequences))
    // A sample is too small for the rare happenings.
    const expected = isLong ? named : named.filter((what) => often.has(what))
    for (const what of expected) assert.ok((tally.get(what) ?? 0) > 0, `there was no ${what}`)
    const shortestFirst = violations.toSorted(
      (one, other) => one.sequence.commands.length - other.sequence.commands.length,
    )
    assert.deepEqual(
      shortestFirst.map(({ rule }) => rule),
      [],
      [
        `npm run late-words -- --sequences ${count} --seed ${seed} makes them shorter`,
        ...shortestFirst.slice(0, 3).map(shownViolation),
      ].join('\n'),
    )
  }

test('every rule holds for random requests, crashes and reports of the acquirer', everyRuleHolds(1))
test('every rule holds in a second set of lives', everyRuleHolds(2))
test(
  'every rule holds while acquirers take reversals and end them later',
  everyRuleHolds(3, profiles['requested-reversals'], ['message', 'end of a reversal']),
)
