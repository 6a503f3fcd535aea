/**
 * Logins: name, password, and a code of the authenticator or a recovery code. Every failure gets
 * the same answer after the same work (the same statements, commits, digests and openings), so names
 * cannot be guessed. The database counts each attempt
 * as failed before it runs, by name and by address, so neither more processes nor concurrent
 * attempts give an attacker more of them.
 */
import { hash as digestOf } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Actor } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Passwords, Place } from '../crypto/passwords.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId, newToken } from '../ids.ts'
import { newCodeSecret, recoveryHash, stepOf } from './codes.ts'
import { openSecret, sealSecret } from './secret.ts'
import { type PersonRow, personByName } from './store.ts'
import {
  beginSession,
  countTry,
  pausesOf,
  recordFailure,
  recoveryCodesLeft,
  type Subject,
  sessionBegan,
  uncountTry,
  unusedRecoveryCode,
} from './store-login.ts'

export type LoginRequest = {
  readonly name: string
  readonly password: string
  /** The authenticator's code. One of the two codes is required. */
  readonly code?: string
  readonly recoveryCode?: string
}

/** The origin of a request. */
export type From = {
  readonly address?: string
  /** The network of the address, under which failures are counted. */
  readonly network?: string
}

export type LoggedIn = {
  /** The browser's cookie: 256 random bits, of which only a digest is stored. */
  readonly session: string
  readonly personId: string
  /** How many are left, when one was used. */
  readonly recoveryCodes?: number
}

export type Why =
  | 'unknown name'
  | 'disabled'
  | 'wrong password'
  | 'wrong code'
  | 'code used before'
  /** Two people let them in, and they did not join yet. */
  | 'not joined'
  | 'wrong invitation'

/** The pause that one attempt too many began. */
export type Pause = { readonly subject: 'name' | 'address'; readonly pausedUntil: Date }

type Counts = {
  readonly byName: Buffer
  readonly byAddress: Buffer
  readonly pauses: readonly Pause[]
  readonly now: Date
}

/** The counts that a refusal needs. */
type Failure = Pick<Counts, 'byName' | 'pauses'>

export const normalName = (name: string): string => name.normalize('NFKC').trim().toLowerCase()

/** The stored digest of a session. */
export const sessionHash = (session: string): Buffer =>
  digestOf('sha256', `operator session\n${session}`, 'buffer')

/** The subject of a name's failures. A digest, since a password may be typed there by mistake. */
export const nameSubject = ({ vault }: Pick<Engine, 'vault'>, name: string): Buffer =>
  vault.requestFingerprint(`login name\n${name}`)

export class Logins {
  readonly #engine: Engine
  readonly #passwords: Passwords
  /** The person to compare with for unknown names. */
  readonly #nobody = { id: newId(), secret: newCodeSecret() }
  #strangers = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 }

  constructor(engine: Engine, passwords: Passwords) {
    this.#engine = engine
    this.#passwords = passwords
  }

  /** @throws GatewayError 401 when anything is wrong, 429 while the name or the address has to wait. */
  login(request: LoginRequest, from: From = {}): Promise<LoggedIn> {
    return this.counted(normalName(request.name), from, (place, counts) =>
      this.#login(request, from, place, counts),
    )
  }

  async #login(request: LoginRequest, from: From, place: Place, counts: Counts): Promise<LoggedIn> {
    const { lanes } = this.#engine
    const { byName, byAddress, pauses, now } = counts
    const [person] = await lanes.single(personByName(normalName(request.name)))
    const isRight = await place.matches(request.password, person?.password)
    const proof = await this.#proof(person, request, now.getTime())
    const why = whyNot(person, isRight, proof)
    if (person === undefined || proof === undefined || why !== undefined) {
      throw await this.failed(person, why ?? 'wrong code', counts, from)
    }
    const session = newToken()
    const hash = sessionHash(session)
    const rehashed = this.#passwords.isOld(person.password)
      ? await place.digest(request.password)
      : null
    const actor: Actor = { ...whoIs(person), ...addressOf(from) }
    const [begun] = await lanes.single(
      beginSession(
        {
          ...proof,
          personId: person.id,
          password: person.password,
          rehashed,
          session: hash,
          address: from.address ?? null,
          now,
          nameSubject: byName,
          addressSubject: byAddress,
          addressPausedUntil: pauseOf('address', pauses),
        },
        actor,
      ),
    )
    // A login whose answer was lost was run again, and found its code used.
    const [own] = begun === undefined ? await lanes.single(sessionBegan(hash)) : [begun]
    if (own === undefined) throw await this.failed(person, 'code used before', counts, from)
    if (proof.recoveryHash === null) return { session, personId: person.id }
    const [left] = await lanes.single(recoveryCodesLeft(person.id))
    return { session, personId: person.id, recoveryCodes: Number(left!.codes) }
  }

  /**
   * Runs an attempt that counts as failed until it succeeds. The attempt takes its place first, so
   * one refused for load does not count. An interrupted attempt still logs the pauses that it
   * began.
   */
  async counted<T>(
    name: string,
    from: From,
    work: (place: Place, counts: Counts) => Promise<T>,
  ): Promise<T> {
    const place = this.#passwords.forLogin()
    try {
      const counts = await this.#countBoth(name, from)
      try {
        return await work(place, counts)
      } catch (thrown) {
        const isTold = thrown instanceof GatewayError && thrown.status === 401
        if (!isTold) await this.#tellPauses(undefined, counts.pauses, from)
        throw thrown
      }
    } finally {
      place.leave()
    }
  }

  /** @throws GatewayError 429, alike for unknown names. */
  async #countBoth(name: string, { network, address }: From): Promise<Counts> {
    const { lanes, vault, clock } = this.#engine
    const now = new Date(clock.realMs())
    const byName = nameSubject(this.#engine, name)
    const byAddress = vault.requestFingerprint(`login address\n${network ?? address ?? ''}`)
    const [paused] = await lanes.single(pausesOf([byName, byAddress], now))
    if (paused !== undefined) throw wait(paused.paused_until, now)
    // The address comes first: an attempt from a paused address counts for no name.
    const ofAddress = await this.#count(
      { hash: byAddress, pausesMs: limits.addressPausesMs },
      'address',
      now,
    )
    try {
      const ofName = await this.#count({ hash: byName, pausesMs: limits.namePausesMs }, 'name', now)
      return { byName, byAddress, now, pauses: [...ofAddress, ...ofName] }
    } catch (thrown) {
      await lanes.single(uncountTry(byAddress, pauseOf('address', ofAddress)))
      throw thrown
    }
  }

  /** Counts an attempt of a logged-in person who authenticates again. @throws GatewayError 429 */
  async countAgain(name: string): Promise<Failure> {
    const byName = nameSubject(this.#engine, name)
    const now = new Date(this.#engine.clock.realMs())
    const by = { hash: byName, pausesMs: limits.namePausesMs }
    return { byName, pauses: await this.#count(by, 'name', now) }
  }

  /** @returns the pause that begins with it. @throws GatewayError 429 */
  async #count(of: Subject, subject: Pause['subject'], now: Date): Promise<Pause[]> {
    const { lanes } = this.#engine
    const forgotten = new Date(now.getTime() - limits.loginForgottenMs)
    const [counted] = await lanes.single(countTry(of, now, forgotten, limits.loginFailures))
    if (counted !== undefined) {
      return counted.paused_until === null ? [] : [{ subject, pausedUntil: counted.paused_until }]
    }
    const [began] = await lanes.single(pausesOf([of.hash], now))
    throw wait(began?.paused_until ?? new Date(now.getTime() + 1000), now)
  }

  /**
   * Checks the authenticator's code, or a recovery code. The row of a recovery code is looked for with
   * any password, so that a refusal after the right one takes no statement more.
   */
  async #proof(person: PersonRow | undefined, { code, recoveryCode }: LoginRequest, nowMs: number) {
    const { vault, lanes } = this.#engine
    const secret = await openSecret(vault, person ?? this.#sealedNobody())
    const step = stepOf(secret, code ?? '', nowMs) ?? null
    if (step !== null) return { step, recoveryHash: null }
    if (code !== undefined || recoveryCode === undefined) return undefined
    const hash = recoveryHash(recoveryCode)
    const [unused] = await lanes.single(unusedRecoveryCode((person ?? this.#nobody).id, hash))
    return unused === undefined ? undefined : { step: null, recoveryHash: hash }
  }

  /** Sealed each time, since data keys rotate. Sealing costs microseconds, as opening does. */
  #sealedNobody(): Pick<PersonRow, 'id' | 'data_key_id' | 'sealed'> {
    const { id, secret } = this.#nobody
    const { dataKeyId, sealed } = sealSecret(this.#engine.vault, id, secret)
    return { id, data_key_id: dataKeyId, sealed }
  }

  /** Puts it on record and gives the refusal, the same for everything. */
  async failed(
    person: PersonRow | undefined,
    why: Why,
    { byName, pauses }: Failure,
    from: From,
  ): Promise<GatewayError> {
    const { lanes, log } = this.#engine
    log.info({ person: person?.id ?? '', why, from: from.address ?? '' }, 'a login failed')
    // A stranger beyond the limit costs the same statement and commit, or its time would tell the names.
    const isOnRecord = person !== undefined || this.#isOnRecord()
    const entry = { ...aboutPerson(person, from), action: 'person.login-failed', detail: { why } }
    await lanes.single(recordFailure(byName, isOnRecord, entry))
    await this.#tellPauses(person, pauses, from)
    return new GatewayError('800.900.300', {
      status: 401,
      description:
        'invalid authentication information: the name, the password or the code is wrong',
    })
  }

  async #tellPauses(
    person: PersonRow | undefined,
    pauses: readonly Pause[],
    from: From,
  ): Promise<void> {
    const { lanes, alarm } = this.#engine
    const about = aboutPerson(person, from)
    for (const { subject, pausedUntil } of pauses) {
      const detail = { subject, until: pausedUntil.toISOString() }
      const named = subject === 'name' && person !== undefined ? person.id : undefined
      alarm('lockout', {
        ...addressOf(from),
        until: detail.until,
        of: subject,
        subject: named ?? `${subject} ${from.network ?? from.address ?? ''}`,
      })
      await lanes.single(addAudit({ ...about, action: 'person.locked-out', detail }))
    }
  }

  /** Anybody can send unknown names, and these must not fill the trail. */
  #isOnRecord(): boolean {
    const nowMs = this.#engine.clock.elapsedMs()
    if (nowMs - this.#strangers.sinceMs >= limits.alarmMs) {
      this.#strangers = { sinceMs: nowMs, count: 0 }
    }
    this.#strangers.count += 1
    return this.#strangers.count <= limits.strangersOnRecord
  }
}

function whyNot(
  person: PersonRow | undefined,
  isRight: boolean,
  proof: object | undefined,
): Why | undefined {
  if (person === undefined) return 'unknown name'
  if (!isRight) return 'wrong password'
  if (person.disabled_at !== null) return 'disabled'
  if (person.invitation !== null) return 'not joined'
  return proof === undefined ? 'wrong code' : undefined
}

export const pauseOf = (of: Pause['subject'], pauses: readonly Pause[]): Date | null =>
  pauses.find(({ subject }) => subject === of)?.pausedUntil ?? null

const aboutPerson = (person: PersonRow | undefined, from: From) => ({
  actor: { ...whoIs(person), ...addressOf(from) },
  entityId: person?.entity_id ?? null,
  resource: person?.id ?? null,
})

const addressOf = ({ address }: From) => (address === undefined ? {} : { address })

/** Never the typed name, which may be a password. */
const whoIs = (person: PersonRow | undefined): Actor =>
  person === undefined
    ? { kind: 'operator', id: 'unknown', name: 'unknown' }
    : { kind: 'operator', id: person.id, name: person.name }

function wait(until: Date, now: Date): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
  return new GatewayError('800.120.100', {
    status: 429,
    retryAfterSeconds,
    description: `too many requests: too many logins failed for this name or from this address, try again in ${retryAfterSeconds} seconds`,
  })
}
