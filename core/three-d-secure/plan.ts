/** Whether the gateway authenticates the shopper of a first payment, and by whom. */
import type { Card, RequestFields } from '@tollgate/plugin-kit'
import { type Brand, threeDSecureMandatory } from '@tollgate/schemas'
import type { Mode } from '../connector/registry.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { detectBrand } from '../redaction/card-number.ts'
import { authenticationAsked, refusedAuthentication } from '../request/capabilities.ts'
import { conditionCheck } from '../request/parse.ts'
import { textOf } from '../request/values.ts'
import type { AuthenticatorTarget, Target } from '../routing/targets.ts'
import { hasBrowser, hasExternalValues, is3RI, isByMerchant } from './wanted.ts'

/** A first payment, as far as the decision needs it. */
export type Planned = {
  readonly fields: RequestFields
  readonly mode: Mode
  /** `3D`: an authentication by itself. */
  readonly paymentType: string
  readonly isVerification: boolean
  /** A charge of a schedule: no shopper is present. */
  readonly isScheduled: boolean
  /** The shopper is on a page of ours, which completes the browser's fields. */
  readonly isAtCheckout: boolean
  readonly brand: Brand | undefined
  readonly card: () => Card | undefined
}

export const isOn = ({ settings }: Pick<Channel, 'settings'>): boolean =>
  settings.threeDSecure === 'on'

const checkMandatory = conditionCheck('payments.create', threeDSecureMandatory)

/**
 * The schemes by which authenticators are found: the brand and its hosts, and the scheme that the number
 * tells, so that no choice of a brand passes an authentication by.
 */
const schemesOf = ({ code, hosts }: Brand, { number }: Card): readonly string[] => {
  const detected = detectBrand(number.reveal())
  return [
    ...new Set([
      code,
      ...hosts,
      ...(detected === undefined ? [] : [detected.code, ...detected.hosts]),
    ]),
  ]
}

/**
 * @param acquirer Undefined for an authentication by itself.
 * @returns the authenticator, or undefined when the payment goes to the acquirer as it is.
 * @throws GatewayError 600.200.200 naming the fields that ask for an impossible authentication;
 * 200.300.404 naming fields of the browser or the address that are missing.
 */
export async function planAuthentication(
  engine: Pick<Engine, 'targets'>,
  channel: Channel,
  planned: Planned,
  acquirer: Target | undefined,
): Promise<AuthenticatorTarget | undefined> {
  const { fields, isScheduled } = planned
  const isAlone = planned.paymentType === '3D'
  if (!isOn(channel)) {
    if (isAlone) throw refusedAuthentication([], 'it is off for this channel')
    return undefined
  }
  if (isScheduled || hasExternalValues(fields)) return undefined
  const asked = isAlone ? ['paymentType'] : authenticationAsked(fields)
  const why = isAlone ? undefined : unfit(planned, acquirer)
  if (why === 'by-acquirer') return undefined
  if (why !== undefined) {
    if (asked.length > 0) throw refusedAuthentication(asked, why)
    return undefined
  }
  const { brand } = planned
  const card = planned.card()
  const target =
    brand === undefined || card === undefined
      ? undefined
      : await engine.targets.authenticator(channel, planned.mode, schemesOf(brand, card))
  if (target === undefined || card === undefined) {
    if (asked.length === 0) return undefined
    throw refusedAuthentication(asked, 'no authenticator takes this card')
  }
  return isWanted(planned, target, card, asked.length > 0) ? target : undefined
}

/** Why this payment cannot be authenticated; undefined when it can. */
function unfit(
  { fields, paymentType, isVerification }: Planned,
  acquirer: Target | undefined,
): string | undefined {
  const by = acquirer?.loaded.connector.supports.threeDSecure ?? 'none'
  if (by === 'own') return 'by-acquirer'
  if (by !== 'external') return 'the acquirer takes no authentication of the gateway'
  if (paymentType === 'CD' && !isVerification) return 'a credit takes no money from the card'
  if (isByMerchant(fields) && !is3RI(fields))
    return 'the merchant makes this payment without a shopper'
  return undefined
}

/** Whether the shopper is present and known well enough, or the merchant insists. */
function isWanted(
  { fields, isVerification, isAtCheckout }: Planned,
  { loaded: { authenticator } }: AuthenticatorTarget,
  card: Card,
  isAsked: boolean,
): boolean {
  // Without a shopper there is no browser.
  if (is3RI(fields)) return true
  const hasPage = isAtCheckout || textOf(fields, 'shopperResultUrl') !== undefined
  const isEnrolled = hasPage && !isVerification && authenticator.isEnrolled?.(card) === true
  // A page of ours completes the browser's fields, and asks the shopper for nothing that it lacks.
  if ((isAsked || isEnrolled) && !isAtCheckout) checkMandatory(fields as never)
  if (isAsked || isEnrolled) return true
  return !isVerification && hasPage && (isAtCheckout || hasBrowser(fields))
}
