/** Two reports of one dispute: a message and a settlement line, or two contents of one event id. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { accountOf, eventOf, type Report } from './dispute-case.ts'
import type { Hit } from './dispute-fact.ts'
import { type Adopting, adoptFact, confirmRound } from './store-dispute-adoption.ts'
import type { ChargebackRow } from './store-dispute-read.ts'

/** Whether a message and a settlement line tell of the same round. */
export async function isConfirmed(
  engine: Engine,
  reported: Report,
  hit: Hit,
  rounds: readonly ChargebackRow[],
): Promise<boolean> {
  if (rounds.length === 0) return false
  const references = rounds.map(({ reference }) => reference)
  const statement = confirmRound(references, adoptingOf(reported, hit))
  return (await engine.lanes.single(statement)).length > 0
}

/**
 * Whether another report told of the same fact, one of them without a reference.
 *
 * @param name The name of the round.
 */
export async function isAdopted(
  engine: Engine,
  reported: Report,
  hit: Hit,
  name: string,
): Promise<boolean> {
  const statement = adoptFact({
    ...adoptingOf(reported, hit),
    name: reported.reference === undefined ? null : name,
    event: eventOf(reported.source),
    withinDays: limits.disputeAdoptionDays,
  })
  return (await engine.lanes.single(statement)).length > 0
}

const adoptingOf = (
  { is: kind, payment, minor, currency, source, settlementId }: Report,
  { target, ever, members, isAuthorisation }: Hit,
): Adopting => ({
  connector: payment.connector,
  account: accountOf(payment),
  kind,
  // A fact at the authorisation of a capture is outside of the sums, and that of the capture another one.
  paymentIds: [...new Set([payment.id, target.id, ...ever, ...(isAuthorisation ? members : [])])],
  minor,
  currency,
  source,
  settlementId: settlementId ?? null,
})
