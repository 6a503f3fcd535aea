/**
 * How somebody whom two people let in begins: with the password that one of the two gave them and the
 * invitation that the other did. They choose a password of their own, and are the only one who sees the new
 * authenticator. Until then they can do nothing, and neither of the two can become them.
 */
import { checkPassword } from '../crypto/passwords.ts'
import type { Engine } from '../engine.ts'
import { newCodeSecret, newRecoveryCodes, otpauthUri, recoveryHash } from './codes.ts'
import { wrong } from './grants.ts'
import { type From, type Logins, normalName, pauseOf, type Why } from './login.ts'
import { sealSecret } from './secret.ts'
import { type Credentials, type PersonRow, personById, personByName } from './store.ts'
import { acceptInvitation } from './store-login.ts'
import type { Enrolled } from './types.ts'

export type JoinRequest = {
  readonly name: string
  /** Of the one who proposed them. */
  readonly password: string
  /** Of the one who confirmed. */
  readonly invitation: string
  readonly newPassword: string
}

/** A new authenticator with its recovery codes: as it is stored, and as it is shown once. */
export function newAuthenticator(
  { vault, environment }: Pick<Engine, 'vault' | 'environment'>,
  id: string,
  name: string,
): { readonly stored: Omit<Credentials, 'password' | 'invitation'>; readonly shown: Enrolled } {
  const secret = newCodeSecret()
  const recoveryCodes = newRecoveryCodes()
  const issuer = environment === 'live' ? 'Tollgate' : `Tollgate ${environment}`
  return {
    stored: { ...sealSecret(vault, id, secret), recoveryHashes: recoveryCodes.map(recoveryHash) },
    shown: { id, otpauthUri: otpauthUri(secret, name, issuer), recoveryCodes },
  }
}

/** @throws GatewayError 400 for an unfit password; 401 and 429 as a login. */
export function join(
  engine: Engine,
  logins: Logins,
  request: JoinRequest,
  from: From,
): Promise<Enrolled> {
  const { lanes } = engine
  const name = normalName(request.name)
  checkPassword('newPassword', request.newPassword, name)
  if (request.password === request.newPassword) {
    throw wrong('newPassword', 'must be another one than before')
  }
  return logins.counted(name, from, async (place, { byName, byAddress, pauses, now }) => {
    const [person] = await lanes.single(personByName(name))
    const isRight = await place.matches(request.password, person?.password)
    const hash = recoveryHash(request.invitation)
    const why = whyNot(person, isRight, hash)
    if (person === undefined || why !== undefined) {
      throw await logins.failed(person, why ?? 'unknown name', pauses, from)
    }
    const { stored, shown } = newAuthenticator(engine, person.id, name)
    const fresh = { ...stored, password: await place.digest(request.newPassword), invitation: hash }
    const [joined] = await lanes.single(
      acceptInvitation(
        person,
        fresh,
        {
          now,
          nameSubject: byName,
          addressSubject: byAddress,
          addressPausedUntil: pauseOf('address', pauses),
        },
        { kind: 'operator', id: person.id, name, ...(from.address && { address: from.address }) },
      ),
    )
    // Run again after its answer was lost, it finds what it did.
    const [own] = joined === undefined ? await lanes.single(personById(person.id)) : [fresh]
    if (own?.password !== fresh.password) {
      throw await logins.failed(person, 'wrong invitation', pauses, from)
    }
    return shown
  })
}

function whyNot(person: PersonRow | undefined, isRight: boolean, hash: Buffer): Why | undefined {
  if (person === undefined) return 'unknown name'
  if (!isRight) return 'wrong password'
  if (person.disabled_at !== null) return 'disabled'
  return person.invitation?.equals(hash) === true ? undefined : 'wrong invitation'
}
