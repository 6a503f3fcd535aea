/** Plays many sequences in parallel in one world, waits for rest, and checks. */
import { type Sequence, shownSequence } from './command.ts'
import { type Happening, Merchant } from './merchant.ts'
import { endList } from './operators.ts'
import { probe } from './probes.ts'
import { watchProcesses } from './processes.ts'
import { atRest, type Rest } from './rest.ts'
import { rules } from './rules.ts'
import { inParallel, openWorld, type World } from './world.ts'

export type Violation = {
  readonly rule: string
  readonly found: string
  readonly sequence: Sequence
}

export type Played = {
  readonly violations: readonly Violation[]
  /** The number of each happening, so that an idle run is noticed. */
  readonly tally: ReadonlyMap<Happening, number>
}

const atOnce = 24
/** For interruptions, for expiries, for second steps, and for reversals of what they find. */
const lastNights = 4
/** From this night on, looks at late successes ring too. */
const nightOfLooks = 3

/** @param cuts whether commits between the engines and their database are lost. */
export async function playAll(
  sequences: readonly Sequence[],
  options: { readonly cuts?: boolean } = {},
): Promise<Played> {
  const world = await openWorld(options.cuts === true)
  const merchants = sequences.map(
    (sequence, index) => new Merchant(world, `sequence-${index}`, sequence),
  )
  const rejections: unknown[] = []
  const note = (reason: unknown) => void rejections.push(reason)
  process.on('unhandledRejection', note)
  try {
    await playDays(world, merchants)
    const violations = [...(await look(world, merchants)), ...unhandled(rejections, sequences)]
    return { violations, tally: sumOf(merchants.map(({ tally }) => tally)) }
  } finally {
    process.off('unhandledRejection', note)
    await world.close()
  }
}

async function playDays(world: World, merchants: readonly Merchant[]): Promise<void> {
  let left: readonly Merchant[] = merchants
  while (left.length > 0) {
    const goOn: Merchant[] = []
    await inParallel(left, atOnce, async (merchant) => {
      if (await merchant.day()) goOn.push(merchant)
    })
    left = goOn
    if (left.length > 0) await world.night(false)
  }
  for (let night = 1; night <= lastNights; night += 1) {
    await inParallel(merchants, atOnce, (merchant) => merchant.deliverAll())
    await world.night(night >= nightOfLooks)
  }
}

/** Checks the books, tries the possible follow-ups, then lets operators close their list. */
async function look(world: World, merchants: readonly Merchant[]): Promise<Violation[]> {
  const violations: Violation[] = []
  const broken = new Set<Merchant>()
  const add = ({ merchant }: Rest, rule: string, found: string) => {
    broken.add(merchant)
    violations.push({ rule, found, sequence: merchant.sequence })
  }
  const rests = await atRest(world, merchants)
  for (const rest of rests) {
    for (const { name, broken: ask } of rules) {
      const found = ask(rest)
      if (found !== undefined) add(rest, name, found)
    }
  }
  const whole = () => rests.filter(({ merchant }) => !broken.has(merchant))
  await inParallel(whole(), atOnce, async (rest) => {
    const probed = await probe(rest)
    if (probed !== undefined) add(rest, probed.rule, probed.found)
  })
  await inParallel(whole(), atOnce, async (rest) => {
    const stays = await endList(rest)
    if (stays !== undefined) add(rest, '6 an operator can close every entry', stays)
  })
  return violations
}

/** The total of several results. */
export function sumOf(
  tallies: readonly ReadonlyMap<Happening, number>[],
): ReadonlyMap<Happening, number> {
  const sum = new Map<Happening, number>()
  for (const tally of tallies) {
    for (const [what, times] of tally) sum.set(what, (sum.get(what) ?? 0) + times)
  }
  return sum
}

function unhandled(rejections: readonly unknown[], sequences: readonly Sequence[]): Violation[] {
  return rejections.map((reason) => ({
    rule: '7 no rejection is unhandled',
    found: reason instanceof Error ? (reason.stack ?? reason.message) : String(reason),
    sequence: sequences[0]!,
  }))
}

/** Runs `play` with processes that can die. */
export async function withDeaths<T>(play: () => Promise<T>): Promise<T> {
  const stop = watchProcesses()
  try {
    return await play()
  } finally {
    stop()
  }
}

export const shownViolation = ({ rule, found, sequence }: Violation): string =>
  `rule ${rule}\n  ${found}\n${shownSequence(sequence)}`
