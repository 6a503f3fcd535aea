/** The engine's request as the simulated issuer sees it. */
import type { AuthenticationRequest, RequestFields } from '@tollgate/plugin-kit'
import { enrolmentParameters } from './enrolment.ts'

/** What goes to the issuer; the card's number is taken apart from it. */
export type Asked = {
  /** Fields that change the way through 3-D Secure: `3DS2_flow=challenge`. */
  readonly parameters: readonly string[]
  readonly timeoutMs: number
  readonly shop?: string
  readonly language?: string
}

/** Time for a challenge, and the limits of SIM_TIMEOUT. */
const usualTimeoutSeconds = 10 * 60
const longestTimeoutSeconds = 60 * 60

export function askedBy({ request }: Pick<AuthenticationRequest, 'request'>): Asked {
  const shop = shopOf(request)
  const language = textAt(request, 'customer', 'browser', 'language')
  return {
    parameters: enrolmentParameters.filter((parameter) => isIn(request, parameter)),
    timeoutMs: timeoutOf(request) * 1000,
    ...(shop === undefined ? {} : { shop }),
    ...(language === undefined ? {} : { language }),
  }
}

/** The merchant's name for the shopper. */
export const shopOf = (request: RequestFields): string | undefined =>
  textAt(request, 'threeDSecure', 'merchant', 'name') ??
  textAt(request, 'merchant', 'name') ??
  textAt(request, 'descriptor')

function isIn(request: RequestFields, parameter: string): boolean {
  const [name = '', value] = parameter.split('=')
  const path = name.includes('.') ? name.split('.') : ['customParameters', name]
  return textAt(request, ...path) === value
}

/** A value that is no whole number of seconds changes nothing. */
function timeoutOf(request: RequestFields): number {
  const value = textAt(request, 'customParameters', 'SIM_TIMEOUT')
  if (value === undefined || !/^[0-9]{1,6}$/.test(value)) return usualTimeoutSeconds
  return Math.min(Number(value), longestTimeoutSeconds)
}

export function textAt(request: RequestFields, ...path: readonly string[]): string | undefined {
  let place: RequestFields[string] = request
  for (const name of path) {
    if (typeof place !== 'object' || Array.isArray(place)) return undefined
    place = Object.hasOwn(place, name) ? (place as RequestFields)[name] : undefined
  }
  return typeof place === 'string' ? place : undefined
}
