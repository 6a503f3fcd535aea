/** The values of an authentication that the acquirer gets. */
import type { Authentication, Operation } from '@tollgate/plugin-kit'
import { factsOf } from './checked.ts'

/** Values of the gateway's own authentication. One that was unavailable has none. */
export function proofOf(said: Authentication): Operation['threeDSecure'] | undefined {
  if (said.is !== 'authenticated' && said.is !== 'attempted' && said.is !== 'informational') {
    return undefined
  }
  const { verificationId } = said
  return { ...factsOf(said), ...(verificationId === undefined ? {} : { verificationId }) }
}
