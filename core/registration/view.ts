/** The response about a registration. */
import { resultDescription } from '@tollgate/schemas'
import type { Draft, ViewOf } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import { shortId } from '../ids.ts'
import { approvedCode } from '../payment/decide.ts'
import { echoed } from '../payment/stored-request.ts'
import type { Registration } from './types.ts'

/** The result of an account's verification. The id belongs to the registration. */
export type VerificationView = ViewOf<'registrations.create', 'shortId' | 'paymentType'>

export type RegistrationView = ViewOf<'registrations.get', 'shortId' | 'paymentBrand' | 'createdAt'>

/**
 * @param ndc the gateway's number of this request.
 * @param settings those of its channel.
 */
export function registrationView(
  registration: Registration,
  settings: Readonly<Record<string, unknown>>,
  ndc: string,
  buildNumber: string,
  now: Date,
): RegistrationView {
  const code = approvedCode[registration.mode]
  const view: Draft = {
    ...echoed(registration.request),
    id: registration.id,
    shortId: shortId(registration.shortNo),
    paymentBrand: registration.brand,
    result: { code, description: resultDescription(code) },
    buildNumber,
    timestamp: wireTimestamp(now),
    createdAt: wireTimestamp(registration.createdAt),
    ndc,
  }
  if (registration.merchantTransactionId !== null) {
    view.merchantTransactionId = registration.merchantTransactionId
  }
  if (registration.fingerprint !== null && settings.showFingerprint === true) {
    view.fingerprint = registration.fingerprint.toString('hex').slice(0, 32)
  }
  return view as RegistrationView
}
