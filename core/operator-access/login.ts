/**
 * How a person gets in: name, password, and a code of the authenticator or a recovery code. Whatever is
 * wrong is answered alike and after the same work, so that nobody learns which names there are. Every try
 * is counted as failed before it is made, by name and by address, in the database: neither more processes
 * nor more tries at once give anybody more of them.
 */
import { hash as digestOf } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Actor } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Passwords } from '../crypto/passwords.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newToken } from '../ids.ts'
import { newCodeSecret, recoveryHash, stepOf } from './codes.ts'
import { openSecret } from './secret.ts'
import { type PersonRow, personByName } from './store.ts'
import {
  beginSession,
  countTry,
  pausesOf,
  recoveryCodesLeft,
  type Subject,
  sessionBegan,
} from './store-login.ts'

export type LoginRequest = {
  readonly name: string
  readonly password: string
  /** Of the authenticator. One of the two codes has to be there. */
  readonly code?: string
  readonly recoveryCode?: string
}

/** Where a request came from. */
export type From = {
  readonly address?: string
  /** What stands for the address where failures are counted: the network that it was chosen from. */
  readonly network?: string
}

export type LoggedIn = {
  /** What the browser keeps; 256 random bits, of which only a digest is stored. */
  readonly session: string
  readonly personId: string
  /** How many are left, when one was used. */
  readonly recoveryCodes?: number
}

type Why = 'unknown name' | 'disabled' | 'wrong password' | 'wrong code' | 'code used before'

type Failed = { readonly subject: 'name' | 'address'; readonly pausedUntil: Date }

export const normalName = (name: string): string => name.normalize('NFKC').trim().toLowerCase()

/** What is stored of a session. */
export const sessionHash = (session: string): Buffer =>
  digestOf('sha256', `operator session\n${session}`, 'buffer')

/** What failures of a name are counted under. A password that was typed there by mistake is not stored. */
export const nameSubject = ({ vault }: Pick<Engine, 'vault'>, name: string): Buffer =>
  vault.requestFingerprint(`login name\n${name}`)

export class Logins {
  readonly #engine: Engine
  readonly #passwords: Passwords
  /** Compared with where there is nobody. */
  readonly #nobodysSecret = newCodeSecret()
  #strangers = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 }

  constructor(engine: Engine, passwords: Passwords) {
    this.#engine = engine
    this.#passwords = passwords
  }

  /** @throws GatewayError 401 when anything is wrong, 429 while the name or the address has to wait. */
  async login(request: LoginRequest, from: From = {}): Promise<LoggedIn> {
    const { lanes, clock } = this.#engine
    const name = normalName(request.name)
    const now = new Date(clock.realMs())
    const { byName, byAddress, pauses } = await this.#countBoth(name, from, now)
    const [person] = await lanes.single(personByName(name))
    const isRight = await this.#passwords.matches(request.password, person?.password)
    const proof = await this.#proof(person, request, now.getTime())
    const why = whyNot(person, isRight, proof)
    if (person === undefined || proof === undefined || why !== undefined) {
      throw await this.#failed(person, why ?? 'wrong code', pauses, from)
    }
    const session = newToken()
    const hash = sessionHash(session)
    const rehashed = this.#passwords.isOld(person.password)
      ? await this.#passwords.digest(request.password)
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
          nameSubject: byName.hash,
          addressSubject: byAddress.hash,
          addressPausedUntil:
            pauses.find(({ subject }) => subject === 'address')?.pausedUntil ?? null,
        },
        actor,
      ),
    )
    // A login whose answer was lost was run again, and found its code used.
    const [own] = begun === undefined ? await lanes.single(sessionBegan(hash)) : [begun]
    if (own === undefined) throw await this.#failed(person, 'code used before', pauses, from)
    if (proof.recoveryHash === null) return { session, personId: person.id }
    const [left] = await lanes.single(recoveryCodesLeft(person.id))
    return { session, personId: person.id, recoveryCodes: Number(left!.codes) }
  }

  /** @throws GatewayError 429, alike for names that nobody has. */
  async #countBoth(name: string, { network, address }: From, now: Date) {
    const { lanes, vault } = this.#engine
    const byName: Subject = {
      hash: nameSubject(this.#engine, name),
      pausesMs: limits.namePausesMs,
    }
    const byAddress: Subject = {
      hash: vault.requestFingerprint(`login address\n${network ?? address ?? ''}`),
      pausesMs: limits.addressPausesMs,
    }
    const [paused] = await lanes.single(pausesOf([byName.hash, byAddress.hash], now))
    if (paused !== undefined) throw wait(paused.paused_until, now)
    // The address first: whoever has to wait there counts for no name.
    const ofAddress = await this.#count(byAddress, now)
    const ofName = await this.#count(byName, now)
    const pauses: Failed[] = []
    if (ofAddress !== null) pauses.push({ subject: 'address', pausedUntil: ofAddress })
    if (ofName !== null) pauses.push({ subject: 'name', pausedUntil: ofName })
    return { byName, byAddress, pauses }
  }

  /** Counts a try of somebody who is logged in and proves anew who they are. @throws GatewayError 429 */
  async countAgain(name: string): Promise<Buffer> {
    const hash = nameSubject(this.#engine, name)
    const now = new Date(this.#engine.clock.realMs())
    await this.#count({ hash, pausesMs: limits.namePausesMs }, now)
    return hash
  }

  /** @returns until when nothing is tried after this. @throws GatewayError 429 */
  async #count(of: Subject, now: Date): Promise<Date | null> {
    const { lanes } = this.#engine
    const forgotten = new Date(now.getTime() - limits.loginForgottenMs)
    const [counted] = await lanes.single(countTry(of, now, forgotten, limits.loginFailures))
    if (counted !== undefined) return counted.paused_until
    const [began] = await lanes.single(pausesOf([of.hash], now))
    throw wait(began?.paused_until ?? new Date(now.getTime() + 1000), now)
  }

  /** What proves that they have the authenticator, or one of the codes on paper. */
  async #proof(person: PersonRow | undefined, { code, recoveryCode }: LoginRequest, nowMs: number) {
    const secret =
      person === undefined ? this.#nobodysSecret : await openSecret(this.#engine.vault, person)
    const step = stepOf(secret, code ?? '', nowMs) ?? null
    if (step !== null) return { step, recoveryHash: null }
    if (code !== undefined || recoveryCode === undefined) return undefined
    return { step: null, recoveryHash: recoveryHash(recoveryCode) }
  }

  /** Puts it on record and gives the refusal, the same for everything. */
  async #failed(
    person: PersonRow | undefined,
    why: Why,
    pauses: readonly Failed[],
    from: From,
  ): Promise<GatewayError> {
    const { lanes, alarm, log } = this.#engine
    const actor: Actor = { ...whoIs(person), ...addressOf(from) }
    const about = { actor, entityId: person?.entity_id ?? null, resource: person?.id ?? null }
    log.info({ person: person?.id ?? '', why, from: from.address ?? '' }, 'a login failed')
    if (person !== undefined || this.#isOnRecord()) {
      await lanes.single(addAudit({ ...about, action: 'person.login-failed', detail: { why } }))
    }
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
    return new GatewayError('800.900.300', {
      status: 401,
      description:
        'invalid authentication information: the name, the password or the code is wrong',
    })
  }

  /** Anybody can send names that nobody has: the trail is not theirs to fill. */
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
  return proof === undefined ? 'wrong code' : undefined
}

const addressOf = ({ address }: From) => (address === undefined ? {} : { address })

/** Never what was typed in as a name: it may be a password. */
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
