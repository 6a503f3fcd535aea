/** Refuses, by name, requested features that this version does not support. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brandOf } from '@tollgate/schemas'
import { GatewayError, type ParameterError } from '../errors.ts'
import { groupOf, refuse, textOf } from './values.ts'

const firstTypes = new Set(['PA', 'DB', 'CD', 'PA.CP'])
const followUpTypes = new Set(['CP', 'RV', 'RF', 'RB', 'RC', 'CB', 'CR'])
/** Fields that request authentication of the shopper, as opposed to results from elsewhere. */
const authenticationFields = [
  'deviceInfo',
  'channel',
  'npa',
  'decoupled',
  'threeRIInd',
  'authenticationInd',
  'amount',
  'currency',
  'merchant',
  'v2',
]

/**
 * The fields that ask the gateway to authenticate the shopper, by name. `challengeIndicator` and
 * `exemptionFlag` alone ask for nothing and pass on to the acquirer.
 */
export function authenticationAsked(fields: RequestFields): string[] {
  const secure = groupOf(fields, 'threeDSecure')
  const custom = groupOf(fields, 'customParameters')
  return [
    ...authenticationFields
      .filter((name) => secure?.[name] !== undefined)
      .map((name) => `threeDSecure.${name}`),
    ...['3DS2_enrolled', '3DS2_flow']
      // `3DS2_enrolled=false` requests no authentication.
      .filter((name) => custom?.[name] !== undefined && custom[name] !== 'false')
      .map((name) => `customParameters[${name}]`),
  ]
}

/** The refusal of an authentication that this channel cannot have. */
export function refusedAuthentication(names: readonly string[], why: string): GatewayError {
  return new GatewayError('600.200.200', {
    ...(names.length === 0 ? { description: `Authentication is not available: ${why}.` } : {}),
    parameterErrors: names.map((name) => ({
      name,
      message: `authentication by the gateway is not available: ${why}; send external 3-D Secure values`,
    })),
  })
}

/**
 * @param authenticates Whether the gateway authenticates shoppers of this channel.
 * @throws GatewayError 600.200.200 naming every field with an unsupported request.
 */
export function refuseUnavailable(
  fields: RequestFields,
  paymentType: string,
  authenticates: boolean,
): void {
  const errors: ParameterError[] = []
  const add = (name: string, message: string, value?: string) =>
    errors.push({ name, message, ...(value === undefined ? {} : { value }) })
  if (!firstTypes.has(paymentType)) {
    const hint = followUpTypes.has(paymentType)
      ? 'refers to an earlier payment: send it to /v1/payments/{id}'
      : paymentType === '3D'
        ? 'is sent to /v1/threeDSecure'
        : 'is not available; send PA, DB, CD or PA.CP'
    add('paymentType', hint, paymentType)
  }
  for (const name of authenticates ? [] : authenticationAsked(fields)) {
    add(
      name,
      'authentication by the gateway is off for this channel; send external 3-D Secure values',
    )
  }
  if (errors.length > 0) throw new GatewayError('600.200.200', { parameterErrors: errors })
}

/** @throws GatewayError 400 for a payment method that sends the shopper away and has no page to come back to. */
export function refuseWithoutReturn(fields: RequestFields): void {
  const brand = textOf(fields, 'paymentBrand')
  if (brand === undefined || brandOf(brand)?.flow !== 'redirect') return
  if (textOf(fields, 'shopperResultUrl') !== undefined) return
  throw refuse(
    '200.300.404',
    'shopperResultUrl',
    `is required with paymentBrand ${brand}, which sends the shopper to another page`,
  )
}
