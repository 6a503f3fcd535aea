/** What is reported of a case of the acquirer: which round of it, and whether that was told before. */

import { addAttention, freezeWith } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { type Hit, isOf } from './dispute-fact.ts'
import { type ChargebackRow, type FactKind, factByReference } from './store-dispute-read.ts'
import type { Payment } from './types.ts'

/** What somebody outside reports, wherever it comes from. */
export type Report = {
  readonly is: FactKind
  /** Of the payment that it is about: the one whose key the acquirer named. */
  readonly payment: Payment
  readonly minor: bigint
  readonly currency: string
  /** The acquirer's reference of the dispute; undefined: the id of the message stands for it. */
  readonly reference: string | undefined
  /** Id of the message or line that says it. */
  readonly source: string
  /** The acquirer's reason of a chargeback: a result code, or a code of its scheme. */
  readonly reason: string | undefined
  readonly refs: Readonly<Record<string, string>>
  /** Since it was reported first. */
  readonly ageMs: number
}

export type Reported =
  | 'recorded'
  /** Its reference is known, with the same amount. */
  | 'known'
  /** It cannot be recorded as it is: on the operators' list. */
  | 'listed'
  /** Its payment or a capture of it is undecided, or its chargeback has not come yet. */
  | 'wait'

/**
 * The facts of a reference, one for each round: a bank may take again what it gave back.
 *
 * @param most How many there can be; without it, up to the first that is missing.
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
 * What a known reference says: nothing new while it is told of the same. With another amount or for
 * another payment it is listed. Undefined: it is new, or a round of its own.
 *
 * @param same What it would be a repetition of.
 */
export async function toldBefore(
  engine: Engine,
  reported: Report,
  hit: Hit,
  rounds: readonly ChargebackRow[],
  same: ChargebackRow | undefined,
): Promise<Reported | undefined> {
  if (rounds.some(({ source }) => source === reported.source)) return 'known'
  if (same === undefined) return undefined
  const isOver = reported.is === 'chargeback' && same.minor > 0n && same.given_back >= same.minor
  const freezes = reported.is === 'chargeback' ? hit.target.rootId : undefined
  if (!isOf(hit, reported.payment, same)) {
    return list(engine, reported, 'the reference is known of another payment', same, freezes)
  }
  if (same.minor !== reported.minor || same.currency !== reported.currency) {
    const why = 'the reference is known with another amount'
    return list(engine, reported, why, same, isOver ? freezes : undefined)
  }
  return isOver ? undefined : 'known'
}

export const accountOf = (payment: Payment): string => payment.accountId ?? 'internal'

export const disputeReferenceOf = ({
  reference,
  source,
}: Pick<Report, 'reference' | 'source'>): string => reference ?? source

/** No reference of an acquirer has a line break: none can be taken for a round of another one. */
export const nameOf = (reference: string, round: number): string =>
  round === 1 ? reference : `${reference}\nround ${round}`

/** Of a reversal that an operator recorded, once for what was given back before. */
export const nameByHand = (reference: string, givenBack: bigint): string =>
  `${beginningByHand(reference)}${givenBack}`

/** How the names of all reversals by hand of a chargeback begin. */
export const beginningByHand = (reference: string): string => `${reference}\nby hand after `

export const saidOf = (reported: Report) => ({
  reported: reported.is === 'chargeback' ? 'CB' : 'CR',
  event: reported.source,
  reference: disputeReferenceOf(reported),
  minor: String(reported.minor),
  currency: reported.currency,
})

/** @param freezes Balance that waits until an operator ended the entry. */
export async function list(
  engine: Engine,
  reported: Report,
  why: string,
  known?: ChargebackRow,
  freezes?: string,
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
  await engine.lanes.single(
    freezes === undefined || payment.state !== 'approved'
      ? addAttention(...entry, reference)
      : freezeWith(...entry, reference, freezes),
  )
  return 'listed'
}
