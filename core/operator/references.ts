/** The acquirer's references, which a person adds to a payment that no answer of the acquirer decided. */
import type { Refs } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { cardOf } from '../payment/card-of.ts'
import { held, move } from '../payment/late-word-move.ts'
import { type OwnCard, withoutOwnNumber } from '../payment/own-number.ts'
import { isByOperator } from '../payment/reference-origin.ts'
import type { Payment } from '../payment/types.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { type Decision, decidedElsewhere, refused } from './late-success.ts'

/** What decides a payment without an answer of its acquirer. */
const withoutAnswer: ReadonlySet<string> = new Set(['operator', 'settlement'])

const nameShape = /^[A-Za-z][A-Za-z0-9_.-]*$/
const visible = /^[\x21-\x7e]+$/

/** @throws GatewayError 400 200.300.404 with the reference that is wrong. */
export function referencesOf(
  given: Readonly<Record<string, string>> | undefined,
  as: 'approved' | 'declined',
): Refs | undefined {
  if (given === undefined) return undefined
  const { refs: most, refNameCharacters, refCharacters } = limits
  const entries = typeof given === 'object' && given !== null ? Object.entries(given) : []
  if (as === 'declined')
    throw wrong('references', 'belong to a payment that is settled as approved')
  if (entries.length === 0 || entries.length > most) {
    throw wrong(
      'references',
      `must be an object with 1 to ${most} texts, such as { payment: '8835…' }`,
    )
  }
  for (const [name, value] of entries) {
    if (!nameShape.test(name) || name.length > refNameCharacters) {
      const form = `letters, digits and "_.-", ${refNameCharacters} characters at most`
      throw wrong('references', `must have names of the connector: ${form}`)
    }
    const isText = typeof value === 'string' && visible.test(value)
    if (!isText || value.length > refCharacters) {
      const form = `1 to ${refCharacters} visible characters without blanks`
      throw wrong(`references.${name}`, `must be the acquirer's reference: ${form}`)
    }
  }
  return Object.fromEntries(entries)
}

/**
 * Refuses names that the connector does not know, and the number of the payment's card.
 *
 * @throws GatewayError 200.300.404 with the reference that is wrong.
 */
export async function refuseForeign(
  engine: Engine,
  payment: Payment,
  references: Refs,
): Promise<void> {
  const declared = engine.registry.get(payment.connector)?.connector.settlement?.refs
  const known = [...(declared ?? []), ...Object.keys(payment.answer.refs ?? {})]
  const unknown = Object.keys(references).find((name) => !known.includes(name))
  if (declared !== undefined && unknown !== undefined) {
    throw wrong('references', `must have names of the connector: ${declared.join(', ')}`)
  }
  const card = await cardOf(engine, payment)
  for (const [name, value] of Object.entries(references)) {
    if (card === undefined || !looksLike(card, value)) continue
    throw wrong(`references.${name}`, "must be the acquirer's reference, and no card number")
  }
}

/** One in ten of an acquirer's long numbers has the check digit of a card number. */
function looksLike(card: OwnCard, value: string): boolean {
  if (withoutOwnNumber(value, card) !== value) return true
  const runs = value.match(/\d+/g) ?? []
  const isAlike = runs.some((run) => run.startsWith(card.bin) || run.endsWith(card.last4))
  return isAlike && maskCardNumbers(value) !== value
}

const wrong = (name: string, message: string) =>
  new GatewayError('200.300.404', {
    parameterErrors: [{ name, message }],
    description: `${name} ${message}`,
  })

/**
 * Adds references that the approved payment lacks, and replaces those that an operator gave. Those of the acquirer
 * stay.
 *
 * @throws GatewayError 400 700.400.570 for other references than those of the acquirer, and after references that
 * came at the same moment.
 */
export async function addReferences(
  engine: Engine,
  { attemptKey }: Payment,
  references: Refs,
  { by, remarks }: Decision,
): Promise<void> {
  const now = await held(engine, attemptKey)
  if (now === undefined || now.payment.state !== 'approved') throw decidedElsewhere()
  refuseOthers(now.payment, references)
  if (hasAll(now.payment, references)) return
  const { answer } = now.payment
  const hasOwn = Object.keys(answer.refs ?? {}).some((name) => !isByOperator(answer, name))
  if (hasOwn && !withoutAnswer.has(now.attempt.settledBy ?? '')) {
    throw refused('the acquirer decided this payment itself, and gave its references')
  }
  const audit = {
    id: newId(),
    actor: by,
    action: 'payment.referenced',
    detail: { ...remarks, references: Object.keys(references) },
  }
  const moved = await move(engine, now, {
    source: now.attempt.settledBy ?? 'operator',
    isOnlySaid: true,
    references: { refs: references, isByOperator: true },
    audit,
  })
  if (moved) return
  // A decision whose answer was lost was run again, and found itself made.
  const after = await held(engine, attemptKey)
  if (after === undefined || !hasAll(after.payment, references)) throw decidedElsewhere()
}

/** What an approval without the acquirer's reference leaves to do, in words; empty where nothing is. */
export function lackingReference(
  { registry }: Engine,
  { id, connector, state, effect, answer: { refs = {} } }: Payment,
): string {
  const declared = registry.get(connector)?.connector.settlement?.refs[0]
  const isNamed = declared === undefined ? Object.keys(refs).length > 0 : declared in refs
  if (state !== 'approved' || effect === 'verification' || isNamed) return ''
  return `. The payment has no reference of the acquirer, without which captures, refunds and reversals of it can be refused. Add it: tollgate payment settle ${id} --as approved --references ${declared ?? 'name'}=… --reason …`
}

const hasAll = ({ answer }: Payment, references: Refs): boolean =>
  Object.entries(references).every(([name, value]) => answer.refs?.[name] === value)

/** @throws GatewayError 400 700.400.570 */
export function refuseOthers({ answer }: Payment, references: Refs): void {
  for (const [name, value] of Object.entries(references)) {
    const had = answer.refs?.[name]
    if (had === undefined || had === value || isByOperator(answer, name)) continue
    throw refused(`the acquirer gave this payment another reference ${name}, which stays`)
  }
}
