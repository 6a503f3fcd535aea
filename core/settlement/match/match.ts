/**
 * Decides which payments the staged lines of a run are about. Each decision depends on the line and on the
 * payments alone, so neither the order of lines nor the division into files, or into windows, changes the result.
 *
 * Each step works on a window of lines, or on a page of payments, in a short transaction. A crash of the database
 * server empties all tables of a run at once: as long as its work is there, so are its candidates and decisions.
 */
import { limits } from '@tollgate/schemas'
import { faultPoint } from '../../fault-point.ts'
import { highestIdAt, lowestId, lowestIdAt } from '../../ids.ts'
import type { Digest } from '../../redaction/references.ts'
import { planReports } from '../../report/stored-due.ts'
import type { Query, Steps } from '../steps.ts'
import { noteChanged } from '../store-decided.ts'
import { maskedNames } from './masked-names.ts'
import { askAlike, askedTimes, askingEnd, byComposite, findAlike } from './store-composite.ts'
import {
  matchChosen,
  matchIneligible,
  matchNone,
  matchSeveral,
  matchSingle,
  severalOptions,
} from './store-decision.ts'
import {
  askedKinds,
  askNames,
  byNames,
  byNamesAgain,
  byPaymentId,
  dropAnswered,
  feesOfNamed,
  findNames,
  foundMasked,
  type Ids,
  pageEnd,
  withDisputed,
  withFollowUps,
} from './store-named.ts'
import {
  analyze,
  dropAsked,
  dropCandidates,
  dropDecisions,
  dropFound,
  dropWork,
  hashJoins,
  lastLine,
  leaveCaptures,
  leaveRefunds,
  planAgain,
  planNew,
  surplusLines,
  workTimes,
} from './store-work.ts'
import type { Places } from './stored-places.ts'
import type { Lines } from './stored-window.ts'
import { meant } from './subset-sum.ts'

/** One run over staged lines. */
export type Run = {
  /** Under which its lines are staged: the id of the file, or an id of its own. */
  readonly id: string
  readonly places: Places
  /** Zone of the institute's dates. */
  readonly zone: string
  /** Names of the acquirer's references, in the order of the records. */
  readonly refs: readonly [string, string, string]
  /** Test clocks set the time of payments, and their ids do not follow it. */
  readonly isOnClock: boolean
  /** Of names that are stored masked. */
  readonly digest: Digest
  /**
   * `new`: lines that are no record yet. `again`: staged copies of undecided records; payments outside of
   * their time are looked up among the earlier candidates only.
   */
  readonly over: 'new' | 'again' | 'again-all'
}

/** What a run decided. */
export type Matched = {
  /** Lines that are decided: their last position. */
  readonly length: number
  /** Lines with the key of another line of the run: they may say something else. */
  readonly surplus: readonly number[]
}

const hourMs = 3_600_000

/** Fills `settlement_decision` of the run. @throws ScopeLost */
export async function match(steps: Steps, run: Run): Promise<Matched> {
  await clearRun(steps, run.id)
  const [last] = await steps.read(lastLine(run.id))
  const windows = windowsUpTo(last!.line)
  if (windows.length > 1) await steps.analyze([analyze.stage])
  const surplus = (await steps.read(surplusLines(run.id), [hashJoins])).map(({ line }) => line)
  const length = await plan(steps, run, windows, surplus)
  if (length > 0) {
    await findNamed(steps, run, windows)
    await decideNamed(steps, run, windows)
    await decideAlike(steps, run)
  }
  return { length, surplus }
}

function windowsUpTo(last: number): Lines[] {
  const size = limits.settlementWindowLines
  const windows: Lines[] = []
  for (let after = 0; after < last; after += size) windows.push({ after, upTo: after + size })
  return windows
}

/** One commit for each window. The tables that the first of several filled are analysed after it. */
async function eachWindow(
  steps: Steps,
  { id }: Run,
  windows: readonly Lines[],
  filled: readonly (keyof typeof analyze)[],
  work: (query: Query, lines: Lines) => Promise<unknown>,
): Promise<void> {
  for (const [index, lines] of windows.entries()) {
    await steps.match((query) => work(query, lines))
    await faultPoint('settlement-window', id)
    if (index === 0 && windows.length > 1) await steps.analyze(filled.map((name) => analyze[name]))
  }
}

/** Plans the lines, and finds those payments that they name by id. @returns the last position. */
async function plan(
  steps: Steps,
  run: Run,
  windows: readonly Lines[],
  surplus: readonly number[],
): Promise<number> {
  const { id, zone } = run
  const planLines = run.over === 'new' ? planNew : planAgain
  let length = 0
  await eachWindow(steps, run, windows, ['work'], async (query, lines) => {
    const own = surplus.filter((line) => line > lines.after && line <= lines.upTo)
    const [made] = await query(planLines(id, zone, lines, own, length))
    const { planned, changed } = made!
    length += planned
    if (changed.length === 0) return
    await query(noteChanged(id, changed))
    await query(planReports(steps.held.ids))
  })
  return length
}

/** Tiers 1 to 4. Lines that a tier decides are not looked up by the later ones. */
async function findNamed(steps: Steps, run: Run, windows: readonly Lines[]): Promise<void> {
  const { id, places, refs } = run
  const lead = async (query: Query, lines: Lines) => {
    await query(withFollowUps(id, places, refs, lines))
    await query(withDisputed(id, places, refs, lines))
  }
  await eachWindow(steps, run, windows, ['candidates', 'names'], async (query, lines) => {
    await query(byPaymentId(id, places, lines))
    await lead(query, lines)
    await query(askNames(id, lines))
  })
  const [times] = await steps.read(workTimes(id))
  if (times === undefined || times.from_at === null) return
  const take = (isInside: boolean) =>
    eachWindow(steps, run, windows, ['candidates'], async (query, lines) => {
      await query(byNames(id, refs, lines, isInside))
      await lead(query, lines)
      await query(dropAnswered(id, lines))
    })
  if (await findPages(steps, run, [idsOf(run, times)])) await take(true)
  if (run.over !== 'again') {
    if (await findPages(steps, run, idsOutside(run, times))) await take(false)
  } else {
    const read = steps.read.bind(steps)
    const masked = await maskedNames(read, run, 'known')
    await eachWindow(steps, run, windows, ['candidates'], async (query, lines) => {
      await query(byNamesAgain(id, places, refs, lines, masked))
      await lead(query, lines)
    })
  }
  await steps.drop([(limit) => dropAsked(id, limit), (limit) => dropFound(id, limit)])
}

/** Finds the payments of some ids that have names for which lines ask. @returns false: no line asks. */
async function findPages(steps: Steps, run: Run, parts: readonly Ids[]): Promise<boolean> {
  const { id, places, refs } = run
  const kinds = (await steps.read(askedKinds(id))).map(({ kind }) => kind)
  if (kinds.length === 0) return false
  await steps.drop([(limit) => dropFound(id, limit)])
  const read = steps.read.bind(steps)
  for (const ids of parts) {
    for await (const page of pagesOf(steps, ids, limits.settlementNamedPayments)) {
      await steps.match((query) => query(findNames(id, places, refs, kinds, page)))
      await faultPoint('settlement-page', id)
    }
    const masked = await maskedNames(read, run, ids)
    if (masked.length > 0) await steps.work((query) => query(foundMasked(id, masked)))
  }
  await steps.analyze([analyze.names])
  return true
}

/** Parts of ids with so many payments each. */
async function* pagesOf(steps: Steps, { after, upTo }: Ids, payments: number): AsyncGenerator<Ids> {
  for (let from: string | undefined = after; from !== undefined; ) {
    const [end]: { id: string }[] = await steps.read(pageEnd({ after: from, upTo }, payments))
    yield { after: from, upTo: end?.id ?? upTo }
    from = end?.id
  }
}

/** The ids of payments between two times. */
function idsOf(
  { isOnClock }: Run,
  times: { readonly from_at: Date | null; readonly to_at: Date | null },
): Ids {
  if (isOnClock || times.from_at === null || times.to_at === null) return everyId
  return {
    after: lowestIdAt(times.from_at.getTime() - hourMs),
    upTo: highestIdAt(times.to_at.getTime() + hourMs),
  }
}

const everyId: Ids = { after: lowestId, upTo: 'f'.repeat(32) }

/** Without the ids of the times that all lines have in common: these payments are known. */
function idsOutside(
  { isOnClock }: Run,
  times: { readonly all_from_at: Date | null; readonly all_to_at: Date | null },
): readonly Ids[] {
  const from = times.all_from_at === null ? 0 : times.all_from_at.getTime() + hourMs
  const to = times.all_to_at === null ? 0 : times.all_to_at.getTime() - hourMs
  if (isOnClock || from > to) return [everyId]
  return [
    { after: everyId.after, upTo: lowestIdAt(from) },
    { after: highestIdAt(to), upTo: everyId.upTo },
  ]
}

/** Decides the lines with candidates, and asks for payments that look like the others. */
async function decideNamed(steps: Steps, run: Run, windows: readonly Lines[]): Promise<void> {
  const { id, zone } = run
  await eachWindow(steps, run, windows, ['decisions'], async (query, lines) => {
    await query(feesOfNamed(id, lines))
    await decideOptions(query, id, lines)
    await query(matchIneligible(id, lines))
    await query(askAlike(id, zone, lines))
    await query(matchNone(id, lines, false))
  })
}

/** Tier 5, after the others of all lines. */
async function decideAlike(steps: Steps, run: Run): Promise<void> {
  const { id, places } = run
  const [times] = await steps.read(askedTimes(id))
  if (times === undefined || times.from_at === null) return
  for await (const page of pagesOf(steps, idsOf(run, times), limits.settlementAlikePayments)) {
    await steps.match((query) => query(findAlike(id, places, page)))
    await faultPoint('settlement-page', id)
  }
  await steps.analyze([analyze.names])
  for await (const lines of windowsOfAsking(steps, id)) {
    await steps.match(async (query) => {
      await query(byComposite(id, lines))
      await decideOptions(query, id, lines)
      await query(matchNone(id, lines, true))
    })
    await faultPoint('settlement-window', id)
  }
}

/** Windows with so many lines that ask. */
async function* windowsOfAsking(steps: Steps, runId: string): AsyncGenerator<Lines> {
  const [last] = await steps.read(lastLine(runId))
  for (let after: number | undefined = 0; after !== undefined; ) {
    const size = limits.settlementWindowLines
    const [end]: { line: number }[] = await steps.read(askingEnd(runId, after, size))
    yield { after, upTo: end?.line ?? last!.line }
    after = end?.line
  }
}

/** Decides all lines of a window that have eligible payments. */
async function decideOptions(query: Query, runId: string, lines: Lines): Promise<void> {
  await query(leaveRefunds(runId, lines))
  await query(leaveCaptures(runId, lines))
  await query(matchSingle(runId, lines))
  const several = await query(severalOptions(runId, lines))
  const pairs = several.flatMap((row) => {
    // The amount of a fee or a dispute does not say which payment it is about.
    if (row.is_crowd || row.purpose !== 'settled') return []
    const options = row.ids.map((paymentId, index) => ({
      paymentId,
      minor: BigInt(row.minors[index]!),
      currency: row.currencies[index]!,
    }))
    const line = { minor: row.amount_minor, currency: row.currency }
    const chosen = meant(options, line)
    const isSum = chosen.length > 1
    return chosen.map(({ paymentId }) => ({ line: row.line, paymentId, isSum }))
  })
  if (pairs.length > 0) await query(matchChosen(runId, lines, pairs))
  if (several.length > 0) await query(matchSeveral(runId, lines))
}

/** Removes what a run wrote. */
export async function clearRun(steps: Steps, runId: string): Promise<void> {
  await steps.drop(
    [dropAsked, dropFound, dropWork, dropCandidates, dropDecisions].map(
      (drop) => (limit: number) => drop(runId, limit),
    ),
  )
}
