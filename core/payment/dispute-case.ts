/** Assigns a report to its round of a dispute case, and detects repeats. */

import { limits } from '@tollgate/schemas'
import { addAttention, freezeWith } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { balancesOf, belowOf, type Hit, idsOf } from './dispute-fact.ts'
import type { Effect } from './operation-kinds.ts'
import {
  type ChargebackRow,
  type FactKind,
  factByReference,
  unnamedMark,
} from './store-dispute-read.ts'
import type { Payment } from './types.ts'

/** A report from an acquirer, a settlement file, an operator or a test. */
export type Report = {
  readonly is: FactKind
  /** The payment of the attempt whose key the acquirer named. */
  readonly payment: Payment
  readonly minor: bigint
  readonly currency: string
  /** The acquirer's reference of the dispute; when undefined, the id of the message stands in. */
  readonly reference: string | undefined
  /** Id of the message or line. */
  readonly source: string
  /** The institute's number of the line. */
  readonly settlementId?: string | undefined
  /** The acquirer's reason of a chargeback: a result code, or a code of its scheme. */
  readonly reason: string | undefined
  readonly refs: Readonly<Record<string, string>>
  /** Time since the first report. */
  readonly ageMs: number
}

export type Reported =
  | 'recorded'
  /** The reference is known, with the same amount. */
  | 'known'
  /** The report cannot be recorded as is and is on the operators' list. */
  | 'listed'
  /** The payment or one of its captures is undecided, or the chargeback is still missing. */
  | 'wait'

/** What became of a report; `twin`: another process moved the payment, so the report is read again. */
export type Step = Reported | 'twin'

/**
 * The facts of a reference, one per round: a bank may take returned money again.
 *
 * @param most The largest number of rounds to read; without it, reads up to the first missing
 * round.
 */
export async function roundsOf(
  engine: Engine,
  { is, payment, ...reported }: Report,
  most?: number,
): Promise<ChargebackRow[]> {
  const rounds: ChargebackRow[] = []
  for (let round = 1; most === undefined || round <= Math.max(most, 1); round++) {
    const name = nameOf(disputeReferenceOf(reported), round)
    const [row] = await engine.lanes.single(
      factByReference(payment.connector, accountOf(payment), is, name),
    )
    if (row !== undefined) rounds.push(row)
    else if (most === undefined) break
  }
  return rounds
}

/**
 * Compares a report with the facts of its reference. The same fact again is known; another amount
 * or payment is listed. Undefined: the report is new, or starts a new round.
 *
 * @param same The fact that the report would repeat.
 */
export async function reportedBefore(
  engine: Engine,
  reported: Report,
  hit: Hit,
  rounds: readonly ChargebackRow[],
  same: ChargebackRow | undefined,
): Promise<Reported | undefined> {
  const ids = idsOf(hit, reported.payment)
  const isAbout = (row: ChargebackRow) => ids.includes(row.payment_id)
  if (rounds.some((row) => isAbout(row) && isOfSource(row, reported))) return 'known'
  if (same === undefined) return undefined
  const isOver = reported.is === 'chargeback' && same.minor > 0n && same.given_back >= same.minor
  const balances = reported.is === 'chargeback' ? balancesOf(reported.payment, hit) : []
  const freezes = { balances, below: belowOf(hit) }
  if (!isAbout(same)) {
    // An operator assigned the line to this payment, and gave back what it recorded at another one.
    if (isOver && isOfSource(same, reported)) return undefined
    return list(engine, reported, 'the reference is known of another payment', same, freezes)
  }
  if (same.minor !== reported.minor || same.currency !== reported.currency) {
    const why = 'the reference is known with another amount'
    return list(engine, reported, why, same, freezes)
  }
  if (isOver) return undefined
  return isOtherLine(reported, same) ? another(engine, reported, same, freezes) : 'known'
}

/** The same report again, or a second content of its event id that says the same of this dispute. */
const isOfSource = ({ source, minor, currency }: ChargebackRow, reported: Report): boolean =>
  source !== null &&
  (source === reported.source ||
    (eventOf(source) === eventOf(reported.source) &&
      minor === reported.minor &&
      currency === reported.currency))

/** The id of a message without the digest of a second content that an operator retried. */
export const eventOf = (source: string): string => source.split(' says ')[0]!

/** Whether two lines with one reference are two settlements, so that none of them is a repeat. */
const isOtherLine = ({ settlementId }: Report, { settlement_id }: ChargebackRow): boolean =>
  settlementId !== undefined && settlement_id !== null && settlement_id !== settlementId

/** The line belongs to another round, whose beginning is still to come. */
async function another(
  engine: Engine,
  reported: Report,
  same: ChargebackRow,
  freezes: Freezes,
): Promise<Reported> {
  if (reported.ageMs < limits.unclaimedMs) return 'wait'
  return list(engine, reported, 'a further line of the same dispute', same, freezes)
}

export const accountOf = (payment: Payment): string => payment.accountId ?? 'internal'

/** No reference of an acquirer contains a line break, so this name never collides with one. */
export const disputeReferenceOf = ({
  reference,
  source,
}: Pick<Report, 'reference' | 'source'>): string => reference ?? `${eventOf(source)}${unnamedMark}`

const folded = (name: string) => name.trim().toLowerCase()

/** Whether a fact has a name, in any spelling. */
export const isNamedAs = ({ reference, told_as: toldAs }: ChargebackRow, name: string): boolean =>
  [reference, toldAs].some((one) => one !== null && folded(one) === folded(name))

/** For the same reason, a round never collides with another reference. */
export const nameOf = (reference: string, round: number): string =>
  round === 1 ? reference : `${reference}\nround ${round}`

/** The name of a reversal that an operator recorded, unique per amount given back before. */
export const nameByHand = (reference: string, givenBack: bigint): string =>
  `${beginningByHand(reference)}${givenBack}`

/** The common prefix of all reversals by hand of one chargeback. */
export const beginningByHand = (reference: string): string => `${reference}\nby hand after `

export const saidOf = (reported: Report) => ({
  reported: reported.is === 'chargeback' ? 'CB' : 'CR',
  event: reported.source,
  reference: reported.reference ?? eventOf(reported.source),
  minor: String(reported.minor),
  currency: reported.currency,
})

/** What waits until an operator ends an entry: balances, and the payments of these effects that follow them. */
type Freezes = { readonly balances: readonly string[]; readonly below: readonly Effect[] }
export async function list(
  engine: Engine,
  reported: Report,
  why: string,
  known?: ChargebackRow,
  { balances, below }: Freezes = { balances: [], below: [] },
): Promise<'listed'> {
  const { is, payment, minor, currency } = reported
  const detail = {
    ...saidOf(reported),
    why,
    ...(known === undefined ? {} : { knownMinor: String(known.minor) }),
  }
  const said = `${is} ${disputeReferenceOf(reported)}`
  const reference = known === undefined ? said : `${said} ${minor} ${currency}`
  const entry = [newId(), 'beyond-sums', payment.id, payment.attemptKey, 0, detail] as const
  if (balances.length === 0) {
    await engine.lanes.single(addAttention(...entry, reference))
  }
  // Each statement adds its balance to the same entry.
  for (const balanceId of balances) {
    await engine.lanes.single(freezeWith(...entry, reference, balanceId, below))
  }
  return 'listed'
}
