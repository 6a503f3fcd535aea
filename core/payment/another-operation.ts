/**
 * Words about an open payment that name another operation under its key than the success that the acquirer told of
 * while a reversal was asked for. They are listed, and the end of the reversal decides about that success.
 */
import type { Refs } from '@tollgate/plugin-kit'
import { addAttention } from '../attention/store.ts'
import { toldSuccess } from '../attention/store-told.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { isOpen, type Told } from './late-word-table.ts'
import { firstReference, otherReference } from './reference-origin.ts'
import type { Payment } from './types.ts'

type Reader = Pick<Engine, 'lanes' | 'registry'>

/** Whether the acquirer took a reversal of the open payment, or may have taken one. */
export const isUnderReversal = ({ state, answer }: Payment): boolean =>
  isOpen(state) && (answer.asked === true || answer.reversal !== undefined)

/** The reference of the other operation; undefined: the word can be about the success, or none was told. */
export async function anotherOf(
  engine: Reader,
  payment: Payment,
  outcome: Told,
): Promise<string | undefined> {
  if (!isUnderReversal(payment)) return undefined
  const other = otherReference(engine, payment, outcome)
  if (other === undefined) return undefined
  const told = await engine.lanes.single(toldSuccess(payment.id))
  return told.length === 0 ? undefined : other
}

/** Whether a decline, or the end of a reversal, is about another operation than the success. It is listed. */
export async function endsAnother(
  engine: Reader,
  payment: Payment,
  outcome: Told,
): Promise<boolean> {
  if (outcome.is !== 'declined' && outcome.is !== 'reversed') return false
  const other = await anotherOf(engine, payment, outcome)
  if (other === undefined) return false
  const why = `${outcome.is} under another reference while a reversal was under way`
  await listOther(engine, payment, `${other} ${outcome.is}`, { why })
  return true
}

/** References that a word brings: without the one of another operation. */
export async function refsOfSuccess(
  engine: Reader,
  payment: Payment,
  outcome: Told,
): Promise<Refs> {
  const refs = ('refs' in outcome ? outcome.refs : undefined) ?? {}
  const isOther = (await anotherOf(engine, payment, outcome)) !== undefined
  const first = isOther ? firstReference(engine, payment) : undefined
  return Object.fromEntries(Object.entries(refs).filter(([name]) => name !== first))
}

export const listOther = async (
  { lanes }: Pick<Engine, 'lanes'>,
  { id, attemptKey }: Payment,
  reference: string,
  detail: Readonly<Record<string, unknown>>,
) => {
  await lanes.single(addAttention(newId(), 'conflict', id, attemptKey, 0, detail, reference))
}
