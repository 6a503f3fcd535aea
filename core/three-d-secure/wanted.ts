/** The wishes of a request about authentication, read from its fields alone. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { groupOf, textOf } from '../request/values.ts'

/** Values of an authentication elsewhere. */
const externalValues = [
  'eci',
  'verificationId',
  'authenticationStatus',
  'dsTransactionId',
  'acsTransactionId',
] as const

/** External values beat everything: the gateway authenticates nobody. */
export function hasExternalValues(fields: RequestFields): boolean {
  const group = groupOf(fields, 'threeDSecure')
  return externalValues.some((name) => group?.[name] !== undefined)
}

/** A payment without a shopper, which only 3RI authenticates. */
export const isByMerchant = (fields: RequestFields): boolean =>
  textOf(groupOf(fields, 'standingInstruction'), 'source') === 'MIT'

/** Authentication that the merchant begins without the shopper (3RI). */
export function is3RI(fields: RequestFields): boolean {
  const group = groupOf(fields, 'threeDSecure')
  return group?.threeRIInd !== undefined || /^0?3$/.test(textOf(group, 'channel') ?? '')
}

/** Whether the request describes the shopper's browser or app. */
export function hasBrowser(fields: RequestFields): boolean {
  const browser = groupOf(groupOf(fields, 'customer') ?? {}, 'browser')
  return (
    textOf(browser, 'userAgent') !== undefined ||
    textOf(groupOf(fields, 'threeDSecure'), 'deviceInfo') !== undefined
  )
}

/** An authentication without a payment: by request, or because no money is asked for. */
export const isWithoutPayment = (fields: RequestFields): boolean =>
  textOf(groupOf(fields, 'threeDSecure'), 'npa') === 'true'
