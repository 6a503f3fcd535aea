/** Finds the person behind a request with a session. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { type From, sessionHash } from './login.ts'
import { endSession, seeSession } from './store.ts'
import { actorOfPerson, type Person, rightsOfRole } from './types.ts'

const notLoggedIn = () =>
  new GatewayError('800.900.300', {
    status: 401,
    description: 'invalid authentication information: there is no session, or it has ended; log in',
  })

/**
 * The person behind a session, in the database's present state: a changed role and a disabled
 * person count from their commit on, in every process.
 *
 * @throws GatewayError 401
 */
export async function personOf(
  { lanes, clock }: Engine,
  session: string | undefined,
  { address }: From = {},
): Promise<Person> {
  if (session === undefined || !/^[A-Za-z0-9_-]{43}$/.test(session)) throw notLoggedIn()
  const nowMs = clock.realMs()
  const [row] = await lanes.single(
    seeSession(
      sessionHash(session),
      new Date(nowMs),
      new Date(nowMs - limits.sessionIdleMs),
      new Date(nowMs - limits.sessionMs),
    ),
  )
  if (row === undefined) throw notLoggedIn()
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    entityId: row.entity_id,
    rights: rightsOfRole(row.role),
    since: row.created_at,
    ...(address === undefined ? {} : { address }),
  }
}

export async function logOut({ lanes }: Engine, session: string, person: Person): Promise<void> {
  await lanes.single(endSession(sessionHash(session), actorOfPerson(person)))
}
