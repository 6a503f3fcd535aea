/** A late success whose reversal by key failed: it stands until an operator decides. */
import type { Money, ReversalEnd } from '@tollgate/plugin-kit'
import { requestedReversal, stands, undoOf } from '../attention/store.ts'
import { engineActor } from '../audit/actor.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { movedBy } from './amount-moved.ts'
import { cannotBeUndone } from './balance-rules.ts'
import { freedBy } from './late-word-entry.ts'
import { type Change, move } from './late-word-move.ts'
import { lateAccepted } from './late-word-treatment.ts'
import type { Held, Payment, Source } from './types.ts'

export type NotReversed = Extract<ReversalEnd, { is: 'notReversed' }>

/**
 * No further look at it: the entry waits for an operator. After a redrive the word may be an old one, so
 * one more look asks for the end of the new reversal. A reversal of the engine's own ends by itself.
 */
export async function letStand(engine: Engine, now: Held, said: NotReversed, source: Source) {
  const [last] = await engine.lanes.single(requestedReversal(now.payment.id))
  const [own] = await engine.lanes.single(undoOf(now.payment.id))
  const isUnderWay = last?.is_under_way === true || own !== undefined
  const { entry, audit } = await standing(engine, now.payment, said, source)
  return move(engine, now, {
    source: now.attempt.settledBy ?? source,
    isNotReversed: true,
    isOnlySaid: true,
    entry,
    audit,
    ...(isUnderWay ? {} : { look: null }),
  })
}

/** Money of a payment that is over: counted, and left to operators. */
export const countStanding = async (
  engine: Engine,
  now: Held,
  said: NotReversed,
  source: Source,
  amount: Money | undefined,
) =>
  move(engine, now, {
    source: lateAccepted,
    to: cannotBeUndone.has(now.payment.effect) ? 'done' : 'open',
    attempt: 'late',
    late: { outcome: said, amount },
    isNotReversed: true,
    ...(await standing(engine, now.payment, said, source, amount)),
  })

/** Listed and on record; no enquiry is left. */
export async function standing(
  engine: Engine,
  payment: Payment,
  { is, why }: NotReversed,
  source: Source,
  amount: Money = movedBy(payment),
): Promise<Required<Pick<Change, 'entry' | 'audit' | 'look'>>> {
  const { minor, currency } = amount
  const freezes = await freedBy(engine, payment)
  const detail = { row: payment.state, outcome: is, source, why, minor: String(minor), currency }
  return {
    entry: { id: newId(), kind: 'conflict', reference: '', detail, freezes },
    audit: { id: newId(), actor: engineActor, action: stands, detail: { outcome: is, why } },
    look: null,
  }
}
