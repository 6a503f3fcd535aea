/** The billing address that the authentication of a card needs, as far as the merchant left it empty. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { threeDSecureMandatory } from '@tollgate/schemas'
import type { Channel } from '../entity/directory.ts'
import { groupOf, textOf } from '../request/values.ts'
import { isOn } from '../three-d-secure/plan.ts'
import { hasExternalValues, isByMerchant } from '../three-d-secure/wanted.ts'
import type { Checkout } from './types.ts'

const ofAuthentication = threeDSecureMandatory.flatMap((condition) =>
  condition.rule === 'mandatory'
    ? condition.need.filter((name) => name.startsWith('billing.'))
    : [],
)

/** @param channels that may take the payment: one that authenticates is enough. */
export function missingBilling(
  channels: readonly Pick<Channel, 'settings'>[],
  { kind, request }: Pick<Checkout, 'kind' | 'request'>,
): readonly string[] {
  const fields = request as RequestFields
  if (kind !== 'payment' || hasExternalValues(fields) || isByMerchant(fields)) return []
  if (!channels.some(isOn)) return []
  const given = groupOf(fields, 'billing')
  return ofAuthentication.filter(
    (name) => textOf(given, name.slice('billing.'.length)) === undefined,
  )
}
