/**
 * The second try after a soft decline: the issuer wants the shopper authenticated. Only a checkout can
 * try again, because only there the shopper and the card's data are still at hand; everywhere else a soft
 * decline is final.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Request } from '../call.ts'
import type { Channel } from '../entity/directory.ts'
import { groupOf, textOf } from '../request/values.ts'
import { isOn } from './plan.ts'
import { hasExternalValues } from './wanted.ts'

const softDecline = '300.100.100'
/** A challenge is mandatory. */
const mandatory = '04'

/** The declined payment, as far as the decision needs it. */
type Declined = {
  readonly state: string
  readonly resultCode: string
  readonly request: { readonly [name: string]: unknown }
}

/** Whether one second payment with a mandatory challenge may follow. Never a third. */
export function mayReauthenticate(
  { state, resultCode, request }: Declined,
  channel: Pick<Channel, 'settings'>,
): boolean {
  const fields = request as RequestFields
  return (
    state === 'declined' &&
    resultCode === softDecline &&
    isOn(channel) &&
    !hasExternalValues(fields) &&
    textOf(groupOf(fields, 'threeDSecure'), 'challengeIndicator') !== mandatory
  )
}

/** The same request with a mandatory challenge. */
export function reauthenticate({ fields, names, ...rest }: Request): Request {
  const name = 'threeDSecure.challengeIndicator'
  const threeDSecure = { ...groupOf(fields, 'threeDSecure'), challengeIndicator: mandatory }
  return {
    ...rest,
    fields: { ...fields, threeDSecure },
    names: [...names.filter(([sent]) => sent !== name), [name, mandatory]],
  }
}
