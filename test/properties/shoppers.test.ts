/** Shoppers pay a checkout once, whatever they press, whoever dies, and whatever the acquirer says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shopperHappenings } from './late-words/merchant.ts'
import { profiles } from './late-words/profiles.ts'
import { playAll, shownViolation, withDeaths } from './late-words/runner.ts'
import { sampled } from './late-words/sequences.ts'

const count = 40
const seed = 1

test('a checkout is paid once after any presses, returns, crashes and late words', async () => {
  const sequences = sampled(profiles.shoppers!, seed, count)
  const { violations, tally } = await withDeaths(() => playAll(sequences))
  for (const what of shopperHappenings) {
    assert.ok((tally.get(what) ?? 0) > 0, `there was no ${what}`)
  }
  assert.deepEqual(
    violations.map(({ rule }) => rule),
    [],
    [
      `npm run late-words -- --profile shoppers --sequences ${count} --seed ${seed} makes them shorter`,
      ...violations.slice(0, 3).map(shownViolation),
    ].join('\n'),
  )
})
