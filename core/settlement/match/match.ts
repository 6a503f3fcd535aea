/**
 * Decides which payments the staged lines of a run are about. Each decision depends on the line and on the
 * payments alone, so neither the order of lines nor the division into files changes the result.
 */
import type { Client } from '../../db/database.ts'
import type { Sql } from '../../db/sql.ts'
import type { Engine } from '../../engine.ts'
import { highestIdAt, lowestId, lowestIdAt } from '../../ids.ts'
import type { Digest } from '../../redaction/references.ts'
import { maskedNames } from './masked-names.ts'
import { byComposite, compositeTimes } from './store-composite.ts'
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
  byPaymentId,
  byReferences,
  byReferencesAgain,
  feesOfNamed,
  withDisputed,
  withFollowUps,
} from './store-named.ts'
import {
  analyze,
  clearCandidates,
  clearDecisions,
  clearWork,
  hashJoins,
  leaveRefunds,
  planAgain,
  planNew,
  workLength,
  workTimes,
} from './store-work.ts'
import type { Places } from './stored-places.ts'
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

/** Lines with several candidates that are compared at once. */
const pageLines = 5_000

const hourMs = 3_600_000

/** Fills `settlement_decision` of the run. @returns the number of lines, which is their last position. */
export async function match(
  { lanes }: Pick<Engine, 'lanes'>,
  client: Client,
  run: Run,
): Promise<number> {
  const query = <Row>(statement: Sql<Row>) => lanes.database.query(client, statement)
  await clearRun(lanes, client, run.id)
  await query(analyze.stage)
  await query(run.over === 'new' ? planNew(run.id, run.zone) : planAgain(run.id, run.zone))
  await query(analyze.work)
  // Not before: records are looked up by their key.
  await query(hashJoins)
  await matchNamed(query, run)
  await query(analyze.candidates)
  await decideOptions(query, run.id)
  await query(matchIneligible(run.id))
  await query(analyze.decisions)
  const [composite] = await query(compositeTimes(run.id, run.zone))
  if (composite?.from_at != null) {
    await query(byComposite(run.id, run.places, run.zone, idsOf(run, composite)))
    await decideOptions(query, run.id)
  }
  await query(matchNone(run.id))
  await query(analyze.decisions)
  const [work] = await query(workLength(run.id))
  return work?.length ?? 0
}

export type Query = <Row>(statement: Sql<Row>) => Promise<Row[]>

/** Tiers 1 to 4. Lines that a tier decides are not looked up by the later ones. */
async function matchNamed(query: Query, run: Run): Promise<void> {
  const { id, places, refs } = run
  const lead = async () => {
    await query(analyze.candidates)
    await query(withFollowUps(id, places))
    await query(withDisputed(id, places))
  }
  await query(byPaymentId(id, places))
  await lead()
  const [times] = await query(workTimes(id))
  if (times === undefined || times.from_at === null) return
  const kindsAsked = async () => (await query(askedKinds(id))).map(({ kind }) => kind)
  const first = await kindsAsked()
  if (first.length > 0) {
    const ids = { is: 'inside', ...idsOf(run, times) } as const
    const masked = await maskedNames(query, run, ids)
    await query(byReferences(id, places, { refs, kinds: first, ids, masked }))
    await lead()
    const kinds = await kindsAsked()
    if (kinds.length > 0) {
      const ids = run.over === 'again' ? ({ is: 'known' } as const) : idsOutside(run, times)
      const masked = await maskedNames(query, run, ids)
      await query(
        ids.is === 'known'
          ? byReferencesAgain(id, places, refs, masked)
          : byReferences(id, places, { refs, kinds, ids, masked }),
      )
      await lead()
    }
  }
  await query(feesOfNamed(id))
}

/** The ids of payments between two times. */
function idsOf(
  { isOnClock }: Run,
  times: { readonly from_at: Date | null; readonly to_at: Date | null },
) {
  if (isOnClock || times.from_at === null || times.to_at === null) {
    return { from: lowestId, to: 'f'.repeat(32) }
  }
  return {
    from: lowestIdAt(times.from_at.getTime() - hourMs),
    to: highestIdAt(times.to_at.getTime() + hourMs),
  }
}

/** Without the ids of the times that all lines have in common: these payments are known. */
function idsOutside(
  { isOnClock }: Run,
  times: { readonly all_from_at: Date | null; readonly all_to_at: Date | null },
) {
  const from = times.all_from_at === null ? 0 : times.all_from_at.getTime() + hourMs
  const to = times.all_to_at === null ? 0 : times.all_to_at.getTime() - hourMs
  return isOnClock || from > to
    ? ({ is: 'outside', from: 'f'.repeat(32), to: lowestId } as const)
    : ({ is: 'outside', from: lowestIdAt(from), to: highestIdAt(to) } as const)
}

/** Decides all lines that have eligible payments. */
async function decideOptions(query: Query, runId: string): Promise<void> {
  await query(leaveRefunds(runId))
  await query(matchSingle(runId))
  for (let afterLine = -1; ; ) {
    const page = await query(severalOptions(runId, afterLine, pageLines))
    const pairs = page.flatMap((row) => {
      // The amounts of fees say nothing about their payments.
      if (row.is_crowd || row.purpose === 'fee') return []
      const options = row.ids.map((paymentId, index) => ({
        paymentId,
        minor: BigInt(row.minors[index]!),
        currency: row.currencies[index]!,
      }))
      const line = { minor: row.amount_minor, currency: row.currency }
      const chosen = meant(options, line, row.purpose === 'settled')
      const isSum = chosen.length > 1
      return chosen.map(({ paymentId }) => ({ line: row.line, paymentId, isSum }))
    })
    if (pairs.length > 0) await query(matchChosen(runId, pairs))
    if (page.length < pageLines) break
    afterLine = page.at(-1)!.line
  }
  await query(matchSeveral(runId))
}

/** Removes what a run wrote. */
export async function clearRun(
  lanes: Engine['lanes'],
  client: Client,
  runId: string,
): Promise<void> {
  for (const clear of [clearWork, clearCandidates, clearDecisions]) {
    await lanes.database.query(client, clear(runId))
  }
}
