/** The acquirer's references, which a person adds to a payment that no answer of the acquirer decided. */
import type { Refs } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { auditById } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { lackingOf } from '../payment/late-word-apply.ts'
import { held, move } from '../payment/late-word-move.ts'
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
    if (!isText || value.length > refCharacters || maskCardNumbers(value) !== value) {
      const form = `1 to ${refCharacters} visible characters without blanks, and no card number`
      throw wrong(`references.${name}`, `must be the acquirer's reference: ${form}`)
    }
  }
  return Object.fromEntries(entries)
}

const wrong = (name: string, message: string) =>
  new GatewayError('200.300.404', {
    parameterErrors: [{ name, message }],
    description: `${name} ${message}`,
  })

/**
 * Adds references that the approved payment lacks. Those that it has stay: the acquirer gave them.
 *
 * @throws GatewayError 400 700.400.570 when the payment has other references of these names already.
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
  const refs = lackingOf(now.payment, references)
  if (refs === undefined) return
  const hasOwn = Object.keys(now.payment.answer.refs ?? {}).length > 0
  if (hasOwn && !withoutAnswer.has(now.attempt.settledBy ?? '')) {
    throw refused('the acquirer decided this payment itself, and gave its references')
  }
  const audit = {
    id: newId(),
    actor: by,
    action: 'payment.referenced',
    detail: { ...remarks, references: Object.keys(refs) },
  }
  const moved = await move(engine, now, {
    source: now.attempt.settledBy ?? 'operator',
    isOnlySaid: true,
    refs: { is: 'approved', refs },
    audit,
  })
  if (moved) return
  // A decision whose answer was lost was run again, and found itself made.
  if ((await engine.lanes.single(auditById(audit.id))).length === 0) throw decidedElsewhere()
}

/** @throws GatewayError 400 700.400.570 */
export function refuseOthers({ answer }: Payment, references: Refs): void {
  for (const [name, value] of Object.entries(references)) {
    const had = answer.refs?.[name]
    if (had === undefined || had === value) continue
    throw refused(`the acquirer gave this payment another reference ${name}, which stays`)
  }
}
