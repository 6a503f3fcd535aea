/** Why a sealed value or a key cannot be used. */
import { GatewayError } from '../errors.ts'

export const lost = () =>
  new GatewayError('600.100.100', {
    status: 500,
    description: 'The stored account of this payment cannot be opened.',
  })

export const unavailable = () =>
  new GatewayError('600.100.100', {
    status: 503,
    description: 'The keys of the gateway cannot be used now: try again later.',
    retryAfterSeconds: 5,
  })
