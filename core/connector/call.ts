/** One call of a connector's handler: its context, its deadline, and whether bytes were sent. */
import { hash } from 'node:crypto'
import {
  type Context,
  type Http,
  type Log,
  type Operation,
  type Records,
  Sensitive,
  type Transfer,
  TransferError,
  type TransferSession,
  type TransferTarget,
} from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { noteAction } from '../call-trace.ts'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import type { Outgoing, OutgoingCall, TranscriptEntry } from '../net/http.ts'
import { personalValues } from '../redaction/classes.ts'
import { createScrubber, hidden, isSecretName, type Scrubber } from '../redaction/scrub.ts'
import { openRecords } from './records.ts'
import type { Loaded, Mode } from './registry.ts'
import { nextInSequence } from './store.ts'
import type { TokenCache } from './token-cache.ts'

export type Services = {
  readonly lanes: Lanes
  readonly clock: Clock
  readonly outgoing: Outgoing
  readonly tokens: TokenCache
  readonly log: Log
  /** File protocols by their scheme. */
  readonly transfers: ReadonlyMap<string, Transfer>
  /** The address behind a name at which a connector may open a folder. @throws TransferError */
  addressOf(host: string, port: number): Promise<string>
}

export type CallTarget = {
  readonly loaded: Loaded
  /** Key of records, sequences and tokens: the merchant account, or `internal` for the simulator. */
  readonly accountKey: string
  readonly account: Readonly<Record<string, unknown>>
  readonly mode: Mode
  readonly channelId: string
  readonly notifyUrl?: string
  readonly pagesUrl?: string
}

/** Parts of an operation that no transcript may show. */
type Hidden = Pick<Operation, 'request'> & {
  readonly instrument?: object
  readonly threeDSecure?: object
  readonly returnUrl?: string
}

export type Bounds = {
  /** The end of the call on the monotonic clock. */
  readonly deadlineMs: number
  /** The latest moment at which its first moving byte may leave. */
  readonly sendByWallMs: number
  /** The position of the payment's test clock, which stands still during a call. */
  readonly at?: Date
}

/**
 * Thrown by `context.sending()` and by moving requests after the send-by time: another process may
 * soon hold the lease, so nothing may move any more.
 */
export class TooLateToSend extends Error {
  override readonly name = 'TooLateToSend'
}

/** Context of one call. `sent` tells whether money may have moved. */
export class ConnectorCall implements Context {
  readonly config: Readonly<Record<string, unknown>>
  readonly account: Readonly<Record<string, unknown>>
  readonly mode: Mode
  readonly log: Log
  readonly #services: Services
  readonly #target: CallTarget
  readonly #bounds: Bounds
  readonly #operation: Hidden | undefined
  #abort: AbortController | undefined
  #aborted = false
  #call: OutgoingCall | undefined
  #scrubber: Scrubber | undefined
  #persons: readonly string[] | null | undefined
  #marked = false
  readonly #sessions: TransferSession[] = []
  /** Secrets that an answer brought. */
  readonly #told: string[] = []

  constructor(services: Services, target: CallTarget, bounds: Bounds, operation?: Hidden) {
    noteAction()
    this.#services = services
    this.#target = target
    this.#bounds = bounds
    this.#operation = operation
    this.config = target.loaded.config
    this.account = target.account
    this.mode = target.mode
    this.log = services.log
    if (target.notifyUrl !== undefined) this.notifyUrl = target.notifyUrl
    if (target.pagesUrl !== undefined) this.pagesUrl = target.pagesUrl
  }

  declare readonly notifyUrl?: string
  declare readonly pagesUrl?: string

  /** Created on first use: most connectors leave the end of a call to `http`. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#aborted) this.#abort.abort()
    return this.#abort.signal
  }

  get clock(): { now(): Date } {
    const { at } = this.#bounds
    return { now: () => at ?? this.#services.clock.businessAt(this.#target.channelId) }
  }

  /** Created on first use: a connector inside the process needs none. */
  get http(): Http {
    this.#call ??= this.#services.outgoing.forCall({
      deadlineMs: this.#bounds.deadlineMs,
      sendBy: { monotonicMs: this.#bounds.deadlineMs, wallMs: this.#bounds.sendByWallMs },
      secrets: () => this.#hidden(),
    })
    if (this.#aborted) this.#call.abort()
    return this.#call.http
  }

  /** Values that no transcript may contain: secrets and personal data. */
  #hidden(): unknown[] {
    return [
      ...secretsOf(this.#target),
      ...revealed(this.#operation),
      ...returnToken(this.#operation),
      ...this.#told,
      ...(this.#personal() ?? []),
    ]
  }

  /** A secret of the answer, which no transcript may contain either. */
  hides(secret: Sensitive): void {
    this.#told.push(String(secret.reveal()))
    this.#scrubber = undefined
  }

  #personal(): readonly string[] | null {
    if (this.#persons === undefined) {
      const { request, instrument } = this.#operation ?? {}
      const holder =
        instrument !== undefined && 'holder' in instrument ? instrument.holder : undefined
      this.#persons = personalValues(request, typeof holder === 'string' ? holder : undefined)
    }
    return this.#persons
  }

  /** Secret values of this call: credentials of the account, values of the instrument and of answers. */
  secrets(): string[] {
    const own = secretsOf(this.#target).filter((value) => typeof value === 'string')
    return [...own, ...revealed(this.#operation), ...this.#told].filter((secret) => secret !== '')
  }

  /** The same value, with every text scrubbed for storage. */
  scrubbed(value: unknown, name = ''): unknown {
    if (Sensitive.is(value) || isSecretName(name)) return hidden
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'string') {
      if (this.#scrubber === undefined) {
        this.#scrubber = createScrubber()
        for (const secret of this.#hidden()) this.#scrubber.know(secret)
      }
      return this.#scrubber.scrub(value.slice(0, 2048)).slice(0, 500)
    }
    if (Array.isArray(value)) return value.slice(0, 20).map((one) => this.scrubbed(one))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, 60)
        .map(([key, inner]) => [String(this.scrubbed(key)), this.scrubbed(inner, key)]),
    )
  }

  // Plugin authors may destructure these functions, so they must not need `this`.
  get sending(): Context['sending'] {
    return () => this.#send()
  }

  get token(): Context['token'] {
    return async (name, get) => {
      const token = await this.#services.tokens.get(this.#tokenKey(name), get)
      // The answer that brought it is in the transcript, under a name of the acquirer's.
      this.hides(token)
      return token
    }
  }

  get dropToken(): Context['dropToken'] {
    return (name, refused) => this.#services.tokens.drop(this.#tokenKey(name), refused)
  }

  get sequence(): Context['sequence'] {
    return async (name, max) => {
      const { loaded, accountKey } = this.#target
      const [row] = await this.#services.lanes.single(
        nextInSequence(loaded.connector.name, accountKey, name, max),
      )
      return Number(row!.value)
    }
  }

  get transfer(): Context['transfer'] {
    return (scheme, target) => this.#transfer(scheme, target)
  }

  #send(): void {
    const { clock } = this.#services
    if (clock.elapsedMs() > this.#bounds.deadlineMs || clock.realMs() > this.#bounds.sendByWallMs) {
      throw new TooLateToSend('the time in which this attempt may be sent is over')
    }
    this.#marked = true
  }

  #tokenKey(name: string): string {
    const { loaded, accountKey, account } = this.#target
    return `${loaded.connector.name} ${accountKey} ${digestOf(account)} ${name}`
  }

  async #transfer(scheme: Transfer['scheme'], target: TransferTarget): Promise<TransferSession> {
    const { transfers, addressOf } = this.#services
    const found = transfers.get(scheme)
    if (found === undefined) {
      const why = `no plugin speaks ${scheme}: load one such as @tollgate/file-transfer`
      throw new TransferError('protocol', why)
    }
    const { signal } = this
    const session = await found.open(target, { addressOf, stepMs: limits.transferStepMs, signal })
    this.#sessions.push(session)
    return session
  }

  get records(): Records {
    const { loaded, accountKey } = this.#target
    return openRecords(this.#services.lanes, loaded.connector.name, accountKey)
  }

  /**
   * Ends the call: aborts the connector's running requests and refuses further ones.
   *
   * @returns true unless certainly no moving request left this process.
   */
  finish(): boolean {
    for (const session of this.#sessions.splice(0)) void session.close()
    return this.#call?.finish() === 'moved' || this.#marked
  }

  /** The scrubbed exchange; without bodies when too much in them needs scrubbing. */
  transcript(): readonly TranscriptEntry[] {
    const entries = this.#call?.transcript() ?? []
    if (entries.length === 0 || this.#personal() !== null) return entries
    return entries.map(({ request, answer, ...entry }) => ({
      ...entry,
      request: { ...request, ...withheld(request) },
      ...(answer === undefined ? {} : { answer: { ...answer, ...withheld(answer) } }),
    }))
  }

  abort(): void {
    this.#aborted = true
    this.#abort?.abort()
    this.#call?.abort()
  }
}

const digests = new WeakMap<object, string>()

/** Other credentials get another token: replaced ones must not live on in it. */
function digestOf(account: CallTarget['account']): string {
  const known = digests.get(account)
  if (known !== undefined) return known
  const digest = hash('sha256', JSON.stringify(account))
  digests.set(account, digest)
  return digest
}

const withheld = ({ body }: { readonly body?: string }) =>
  body === undefined ? {} : { body: '[withheld]' }

/** Secret settings of the account and the installation, for the transcript's scrub. */
function secretsOf(target: CallTarget): unknown[] {
  const { connector, config } = target.loaded
  const named = (table: typeof connector.config, values: Readonly<Record<string, unknown>>) =>
    (table?.fields ?? [])
      .filter((field) => field.class === 'secret')
      .map((field) => values[field.name])
  return [...named(connector.config, config), ...named(connector.account, target.account)]
}

/** The return token, a secret: any browser with the token counts as the returning shopper. */
const returnToken = (operation: Hidden | undefined): string[] =>
  operation?.returnUrl === undefined
    ? []
    : [operation.returnUrl.slice(operation.returnUrl.lastIndexOf('/') + 1)]

/** Every sensitive value of an operation, revealed. */
export function revealed(operation: Hidden | undefined): string[] {
  const groups = [operation?.instrument, operation?.threeDSecure]
  return groups
    .flatMap((group) => (group === undefined ? [] : Object.values(group)))
    .flatMap((value) => (Sensitive.is(value) ? [String(value.reveal())] : []))
}
