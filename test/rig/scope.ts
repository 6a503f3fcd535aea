/**
 * How much of a search a run does. `npm test` takes a fixed sample of each, `npm run test:long` takes all of it:
 * the files whose names end with `.long.test.ts`, and those that import this file.
 */
export const scopeVariable = 'TOLLGATE_TEST_SCOPE'

export const isLong = process.env[scopeVariable] === 'long'

/** The number of repetitions, inputs or steps. */
export const inScope = <Size>(short: Size, long: Size): Size => (isLong ? long : short)

/** All cases in a long run, otherwise `count` of them: always the same ones, spread evenly from first to last. */
export function sampled<Case>(cases: readonly Case[], count: number): readonly Case[] {
  if (isLong || cases.length <= count) return cases
  const step = count === 1 ? 0 : (cases.length - 1) / (count - 1)
  return Array.from({ length: count }, (_, index) => cases[Math.round(index * step)]!)
}
