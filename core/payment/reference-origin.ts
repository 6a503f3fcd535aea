/** The acquirer's references of a payment. Those that the acquirer gave stay; it replaces those of an operator. */
import type { Accepted, Approved, Found, Refs } from '@tollgate/plugin-kit'
import { engineActor } from '../audit/actor.ts'
import type { AuditEntry } from '../audit/stored-rows.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import type { Told } from './late-word-table.ts'
import type { Answer, Payment } from './types.ts'

/** Whether an operator gave the reference, and no word of the acquirer named it since. */
export const isByOperator = ({ refs, byOperator }: Answer, name: string): boolean =>
  byOperator?.[name] !== undefined && byOperator[name] === refs?.[name]

/** The name of the reference by which settlement files call a payment first. */
export const firstReference = (
  { registry }: Pick<Engine, 'registry'>,
  { connector }: Pick<Payment, 'connector'>,
): string | undefined => registry.get(connector)?.connector.settlement?.refs[0]

/** That name, if a success gives the reference. */
export function namedIn(
  engine: Pick<Engine, 'registry'>,
  payment: Pick<Payment, 'connector'>,
  outcome: Told,
): string | undefined {
  const name = firstReference(engine, payment)
  const isGiven =
    name !== undefined &&
    (outcome.is === 'approved' || outcome.is === 'accepted') &&
    outcome.refs?.[name] !== undefined
  return isGiven ? name : undefined
}

/**
 * The reference by which a word names another operation under the key of the payment: another value for the one
 * by which settlement files call the payment first, which stays the same for the life of an operation. Undefined:
 * none, or the acquirer gave no such reference. Its success replaces the reference of an operator; its decline can be
 * about the operation that the operator did not mean. Other references can change with each message.
 */
export function otherReference(
  { registry }: Pick<Engine, 'registry'>,
  { connector, answer }: Pick<Payment, 'connector' | 'answer'>,
  outcome: Told,
): string | undefined {
  const name = firstReference({ registry }, { connector })
  const had = name === undefined ? undefined : answer.refs?.[name]
  const said = name !== undefined && 'refs' in outcome ? outcome.refs?.[name] : undefined
  if (name === undefined || had === undefined || said === undefined) return undefined
  const isReplaced = outcome.is !== 'declined' && isByOperator(answer, name)
  return isSameReference(had, said) || isReplaced ? undefined : `${name} ${said}`
}

/** The same, of an operation that another success than this word gave its reference. */
export function otherThanSuccess(
  { answer: { named, refs } }: Pick<Payment, 'answer'>,
  outcome: Told | Found,
): string | undefined {
  const had = named === undefined ? undefined : refs?.[named]
  const said = named !== undefined && 'refs' in outcome ? outcome.refs?.[named] : undefined
  if (had === undefined || said === undefined || isSameReference(had, said)) return undefined
  return `${named} ${said}`
}

/** As lines of settlement files are compared: trimmed, and in one case. */
const isSameReference = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase()

/** The payment's own of equal references. */
export function sameAs({ answer }: Pick<Payment, 'answer'>, refs: Refs = {}): Refs {
  const had = Object.entries(answer.refs ?? {})
  return Object.fromEntries(
    had.filter(([name, value]) => refs[name] !== undefined && isSameReference(value, refs[name])),
  )
}

/**
 * What a word of the acquirer brings: references that the payment lacks, and those that an operator gave.
 * Undefined: nothing. A word may name none.
 */
export function broughtTo({ answer }: Pick<Payment, 'answer'>, refs: Refs = {}): Refs | undefined {
  const brought = Object.entries(refs).filter(
    ([name]) => answer.refs?.[name] === undefined || isByOperator(answer, name),
  )
  return brought.length === 0 ? undefined : Object.fromEntries(brought)
}

/**
 * What an open payment learns from a success that does not decide it. An earlier word, before the shopper paid, can
 * have been about another try. Undefined: nothing.
 */
export const refsLearned = (
  payment: Pick<Payment, 'answer'>,
  { refs }: Approved | Accepted,
): Refs | undefined => (payment.answer.named === undefined ? refs : broughtTo(payment, refs))

/** For the operator's history: the acquirer named another value than the operator. Null: it did not. */
export function replacementOf(
  { answer }: Pick<Payment, 'answer'>,
  refs: Refs = {},
  source: string,
): AuditEntry | null {
  const replaced = Object.entries(refs)
    .filter(([name, value]) => isByOperator(answer, name) && answer.refs?.[name] !== value)
    .map(([name]) => name)
  if (replaced.length === 0) return null
  const detail = { by: source, replaced }
  return { id: newId(), actor: engineActor, action: 'payment.referenced', detail }
}

/**
 * The answer of a payment that an operator decides, with the references of the decision. A reference that the
 * acquirer gave stays the acquirer's when the operator repeats it.
 */
export function withOperators(answer: Answer, refs: Refs): Answer {
  const own = Object.entries(refs).filter(
    ([name]) => answer.refs?.[name] === undefined || isByOperator(answer, name),
  )
  return {
    ...answer,
    refs: { ...answer.refs, ...refs },
    byOperator: { ...answer.byOperator, ...Object.fromEntries(own) },
  }
}
