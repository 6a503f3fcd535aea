/** The person and the reason of a decision, checked. */
import { actorBy, type By } from '../audit/actor.ts'
import { GatewayError } from '../errors.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import type { Decision } from './late-success.ts'

/** The actor and the reason, both stored permanently in the audit row. */
export type Decided = {
  /** A text is the embedding program's name of the operator. */
  readonly by: By
  readonly reason: string
  /** A remark about the represented person, without proof. */
  readonly onBehalfOf?: string
}

/** A decision that settles a payment. */
export type SettledBy = Decided & {
  /**
   * The acquirer's references of an approved payment, under the names of its connector (`{ payment: '8835…' }` at
   * Adyen), as its portal shows them: later captures and refunds name the payment by them.
   */
  readonly references?: Readonly<Record<string, string>>
}

/** @throws GatewayError 400 200.300.404 */
export function wordsOf({ by, reason, onBehalfOf }: Decided): Decision {
  const named = typeof by === 'string' ? by : (by?.name ?? by?.id)
  for (const [name, value, most] of [
    ['by', named, 200],
    ['reason', reason, 1000],
    ...(onBehalfOf === undefined ? [] : [['onBehalfOf', onBehalfOf, 200] as const]),
  ] as const) {
    if (typeof value === 'string' && value.trim() !== '' && value.length <= most) continue
    throw new GatewayError('200.300.404', {
      parameterErrors: [{ name, message: `must be 1 to ${most} characters` }],
      description: `${name} must be 1 to ${most} characters`,
    })
  }
  const remarks = { reason: maskCardNumbers(reason.trim()) }
  return {
    by: { ...actorBy(by), name: maskCardNumbers(named.trim()) },
    remarks:
      onBehalfOf === undefined
        ? remarks
        : { ...remarks, onBehalfOf: maskCardNumbers(onBehalfOf.trim()) },
  }
}
