/**
 * Words that name another operation under the key of a payment than the success that the acquirer told of, where that
 * success did not decide the payment. They are listed: none of them ends the payment, or its late success.
 */
import type { Accepted, Approved, Found, Money, Refs } from '@tollgate/plugin-kit'
import { addAttention } from '../attention/store.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { isOpen, type Told } from './late-word-table.ts'
import { otherThanSuccess } from './reference-origin.ts'
import type { Payment } from './types.ts'

type Lanes = Pick<Engine, 'lanes'>

/** Whether the acquirer took a reversal of the open payment, or may have taken one. */
export const isUnderReversal = ({ state, answer }: Payment): boolean =>
  isOpen(state) && (answer.asked === true || answer.reversal !== undefined)

/**
 * Lists a decline, or the end of a reversal, of an open payment that is about another operation. Where no reversal was
 * asked for, a decline of the asked amount ends the payment, and the success is a late word.
 *
 * @param is The word, where the outcome follows from it.
 * @returns whether the word was about another operation.
 */
export async function listIfEndOfAnother(
  engine: Lanes,
  payment: Payment,
  outcome: Told,
  is: string = outcome.is,
): Promise<boolean> {
  const isEnd = is === 'reversed' || is === 'notReversed'
  if (!isEnd && !(is === 'declined' && isUnderReversal(payment))) return false
  return listIfOfAnother(engine, payment, outcome, 'while its reversal was under way', is)
}

/** Lists a word about another operation. Returns whether it was one. */
export async function listIfOfAnother(
  engine: Lanes,
  payment: Payment,
  outcome: Told | Found,
  when: string,
  is: string = outcome.is,
): Promise<boolean> {
  const other = otherThanSuccess(payment, outcome)
  if (other === undefined) return false
  const isSuccess = is === 'approved' || is === 'accepted'
  const said = 'refs' in outcome ? { refs: outcome.refs } : {}
  const detail = { why: `${is} under another reference ${when}`, ...said }
  await engine.lanes.single(otherListed(payment, isSuccess ? other : `${other} ${is}`, detail))
  return true
}

/** References that a word brings: without the one of another operation. */
export function refsOfSuccess(payment: Payment, outcome: Told): Refs {
  const refs = ('refs' in outcome ? outcome.refs : undefined) ?? {}
  if (otherThanSuccess(payment, outcome) === undefined) return refs
  return Object.fromEntries(Object.entries(refs).filter(([name]) => name !== payment.answer.named))
}

/** The entry of a success of another operation, while the payment is open. Undefined: it is the one that was told. */
export function otherSuccess(
  payment: Payment,
  outcome: Approved | Accepted,
  { minor, currency }: Money,
): Sql | undefined {
  const other = otherThanSuccess(payment, outcome)
  const { is, refs } = outcome
  const why = `${is} under another reference while it was open`
  const detail = { why, refs, minor: String(minor), currency }
  return other === undefined ? undefined : otherListed(payment, other, detail)
}

const otherListed = (
  { id, attemptKey }: Payment,
  reference: string,
  detail: Readonly<Record<string, unknown>>,
) => addAttention(newId(), 'conflict', id, attemptKey, 0, detail, reference)
