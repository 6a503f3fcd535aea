/** Random lives of trees of payments, and the shortest one that breaks a rule. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Note } from './engine.ts'
import { Dice, Life } from './sequences.ts'

/** One life: a start, its steps, its end. */
export function live(seeds: readonly number[], note?: Note): void {
  const life = new Life(note)
  const [first = 0, ...steps] = seeds
  life.start(new Dice(first))
  for (const seed of steps) life.step(new Dice(seed))
  life.end(new Dice(first))
}

/** The same life again, as sentences. */
function toldOf(seeds: readonly number[]): string {
  const told: string[] = []
  try {
    live(seeds, (what, { no, effect, parent }) =>
      told.push(`  ${effect} ${no}${parent === null ? '' : ` on ${parent.no}`} ${what}`),
    )
  } catch (error) {
    told.push(`  ${error instanceof Error ? error.message : error}`)
  }
  return told.join('\n')
}

const lives = fc.array(fc.noBias(fc.integer({ min: 0, max: 2 ** 40 })), {
  minLength: 2,
  maxLength: 24,
  size: 'max',
})

/** The number of each kind of step in some lives. */
export function happeningsOf(sequences: number): ReadonlyMap<string, number> {
  const often = new Map<string, number>()
  for (const seeds of fc.sample(lives, sequences)) {
    live(seeds, (what) => often.set(what, (often.get(what) ?? 0) + 1))
  }
  return often
}

/** @throws the shortest life that breaks a rule, with the seed that reproduces it. */
export function liveMany(sequences: number, seed?: number): void {
  const found = fc.check(
    fc.property(lives, (seeds) => live(seeds)),
    { numRuns: sequences, ...(seed === undefined ? {} : { seed }) },
  )
  if (!found.failed) return
  const [seeds = []] = found.counterexample ?? []
  assert.fail(`seed ${found.seed}, after ${found.numRuns} lives:\n${toldOf(seeds)}`)
}
