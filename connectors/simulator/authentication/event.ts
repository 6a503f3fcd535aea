/** The issuer's event: something happened to an authentication. The engine enquires. */
import type { AuthenticationClaim, Inbound } from '@tollgate/plugin-kit'
import { sign, signatureHeader } from '../event.ts'
import type { Case } from './case.ts'

/** The signed message about a case. The same news has the same id. */
export function messageAbout({ key, status }: Case, secret: string): Inbound {
  const body = Buffer.from(JSON.stringify({ eventId: `${key}-${status ?? 'open'}`, key }))
  const headers = { 'content-type': 'application/json', [signatureHeader]: sign(body, secret) }
  return { body, headers, query: {} }
}

/** @throws Error for a body that is no event of this issuer, without quoting it */
export function claimsAbout({ body }: Inbound): readonly AuthenticationClaim[] {
  const unreadable = new Error('the message is not an event of the simulated issuer')
  let event: Partial<AuthenticationClaim> | null
  try {
    event = JSON.parse(body.toString('utf8')) as Partial<AuthenticationClaim> | null
  } catch {
    throw unreadable
  }
  const { eventId, key } = event ?? {}
  if (typeof eventId !== 'string' || typeof key !== 'string') throw unreadable
  return [{ eventId, key }]
}
