/**
 * Searches for the shortest sequence that still breaks the same rule, all candidates in parallel.
 */
import type { Command, Sequence } from './command.ts'
import { approving } from './fate.ts'
import { playAll, type Violation } from './runner.ts'

const mostRounds = 12

export async function shortest(
  violations: readonly Violation[],
  options: { readonly cuts?: boolean },
): Promise<Violation[]> {
  const best = [...violations]
  let open = best.map((_, index) => index)
  for (let round = 0; round < mostRounds && open.length > 0; round += 1) {
    const candidates = open.flatMap((index) =>
      simpler(best[index]!.sequence).map((sequence) => ({ index, sequence })),
    )
    if (candidates.length === 0) break
    const { violations: found } = await playAll(
      candidates.map(({ sequence }) => sequence),
      options,
    )
    const improved = new Set<number>()
    for (const { index, sequence } of candidates) {
      if (improved.has(index)) continue
      const { rule } = best[index]!
      const again = found.find((one) => one.sequence === sequence && one.rule === rule)
      if (again === undefined) continue
      best[index] = again
      improved.add(index)
    }
    open = open.filter((index) => improved.has(index))
  }
  return best
}

/** All sequences one step simpler, the largest steps first. */
function simpler(sequence: Sequence): Sequence[] {
  const { commands } = sequence
  const without = (from: number, length: number) => ({
    ...sequence,
    commands: commands.filter((_, index) => index < from || index >= from + length),
  })
  const halves =
    commands.length > 4 ? [without(Math.ceil(commands.length / 2), commands.length)] : []
  const pairs = commands
    .slice(1)
    .flatMap((_, index) => (index + 2 < commands.length ? [without(index + 1, 2)] : []))
  const singles = commands.slice(1).map((_, index) => without(index + 1, 1))
  const changed = commands.flatMap((command, index) =>
    plainer(command).map((other) => ({ ...sequence, commands: commands.with(index, other) })),
  )
  const settings = [
    ...(sequence.partial ? [{ ...sequence, partial: false }] : []),
    ...(sequence.ability === 'plain' ? [] : [{ ...sequence, ability: 'plain' as const }]),
  ]
  return [...halves, ...pairs, ...singles, ...changed, ...settings]
}

/** The same command with one circumstance less. */
function plainer(command: Command): Command[] {
  const others: Command[] = []
  if ('crash' in command && command.crash !== undefined) {
    others.push({ ...command, crash: undefined })
  }
  if ('delivery' in command && command.delivery !== 'now') {
    others.push({ ...command, delivery: 'now' })
  }
  if ('way' in command) {
    const { way } = command
    if (way.crash !== undefined) others.push({ ...command, way: { ...way, crash: undefined } })
    if (way.twice) others.push({ ...command, way: { ...way, twice: false } })
    if (way.keyed) others.push({ ...command, way: { ...way, keyed: false } })
  }
  if ('fate' in command && command.fate !== approving && !isSame(command.fate, approving)) {
    others.push({ ...command, fate: approving })
  }
  if ('second' in command && !isSame(command.second, approving)) {
    others.push({ ...command, second: approving })
  }
  if (command.do === 'turn' && command.amount !== 'same') {
    others.push({ ...command, amount: 'same' })
  }
  return others
}

const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other)
