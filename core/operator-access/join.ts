/**
 * Accepts the invitation of a person whom two operators admitted: with the password from one and
 * the invitation from the other. The new person chooses a password and alone sees the new
 * authenticator. Until then the account has no rights, and neither operator can take it over.
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
  /** From the proposing operator. */
  readonly password: string
  /** From the confirming operator. */
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
  return logins.counted(name, from, async (place, counts) => {
    const { byName, byAddress, pauses, now } = counts
    const [person] = await lanes.single(personByName(name))
    const isRight = await place.matches(request.password, person?.password)
    const hash = recoveryHash(request.invitation)
    const why = whyNot(person, isRight, hash)
    if (person === undefined || why !== undefined) {
      throw await logins.failed(person, why ?? 'unknown name', counts, from)
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
    // A repeat after a lost answer finds its own result.
    const [own] = joined === undefined ? await lanes.single(personById(person.id)) : [fresh]
    if (own?.password !== fresh.password) {
      throw await logins.failed(person, 'wrong invitation', counts, from)
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
