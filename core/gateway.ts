import type { GatewayEvent, Inbound, InboundReply } from '@tollgate/plugin-kit'
import { receive } from './acquirer-events/receive.ts'
import { type Alarm, GuessedIds } from './audit/alarm.ts'
import { AuditTrail } from './audit-chain/trail.ts'
import type { Call, Reply } from './call.ts'
import { refuseUnknownOptions } from './caller/call-options.ts'
import type { Caller } from './caller/caller.ts'
import { buildNumber, callerIn } from './caller/embedder.ts'
import { Checkouts } from './checkout/api.ts'
import type { PluginPages } from './connector/plugin-pages.ts'
import type { Database } from './db/database.ts'
import { clientOf, inOpenTransaction } from './db/open-transaction.ts'
import type { TransactionClient } from './db/program-client.ts'
import type { Engine, Environment } from './engine.ts'
import type { Entities } from './entity/entities.ts'
import { GatewayError } from './errors.ts'
import { Events } from './event-feed/api.ts'
import {
  type SubscribeOptions,
  type Subscription,
  type SubscriptionHandler,
  Subscriptions,
} from './event-feed/subscriptions.ts'
import { closedError, type End } from './gateway-guard.ts'
import type { GatewayParts, StepsOf } from './gateway-parts.ts'
import type { Dispatcher } from './jobs/dispatcher.ts'
import { isEngineName } from './jobs/engine-jobs.ts'
import type { Accounts } from './merchant-account/accounts.ts'
import { answer, isEngineOperation, refusalReply } from './operations.ts'
import { Operator } from './operator/operator.ts'
import type { OperatorAccounts } from './operator-access/api.ts'
import { Payments } from './payment/api.ts'
import { Authentications } from './payment/authentications.ts'
import { type HeldKind, holds } from './pod-lookup/holds.ts'
import type { Leadership } from './process/leadership.ts'
import type { Presence } from './process/presence.ts'
import { Readiness } from './process/readiness.ts'
import { Query } from './query/api.ts'
import { checkJob } from './queue/payload.ts'
import { type Queue, wrongName } from './queue/queue.ts'
import { Registrations } from './registration/api.ts'
import { Reports } from './report/api.ts'
import { ReportDestinations } from './report-delivery/api.ts'
import { Schedules } from './schedule/api.ts'
import { ServedFiles } from './served-files/api.ts'
import { Settlements } from './settlement/api.ts'
import { Shoppers } from './shopper-return/api.ts'
import { searchedDays } from './step/find.ts'
import { type StepOperation, stepsFor } from './step/operations.ts'
import { inspect } from './step/steps.ts'
import { TestClocks } from './test-clock/api.ts'
import type { InstallationKey } from './vault/installation-key.ts'
import { Webhooks } from './webhook/api.ts'
import { Widget } from './widget/api.ts'

/** A running engine. Close it, or bind it with `await using`. */
export class Gateway {
  readonly #engine: Engine
  readonly #database: Database
  readonly #queue: Queue
  readonly #dispatcher: Dispatcher | undefined
  readonly #outgoing: { close(): Promise<void> }
  readonly #presence: Presence
  readonly #leadership: Leadership
  readonly #graceMs: number
  readonly #closeExporters: () => Promise<void>
  readonly #end: End
  readonly #readiness: Readiness
  readonly entities: Entities
  /** Acquirer accounts of channels. */
  readonly accounts: Accounts
  readonly payments: Payments & { readonly steps: StepsOf }
  readonly query: Query
  readonly schedules: Schedules & { readonly steps: StepsOf }
  readonly testClocks: TestClocks
  readonly webhooks: Webhooks
  readonly registrations: Registrations & { readonly steps: StepsOf }
  readonly shoppers: Shoppers
  /** The script, frames and files of the widget. */
  readonly widget: Widget
  readonly checkouts: Checkouts
  /** Pages of plugins in test set-ups, for hosts that serve them. */
  readonly pages: PluginPages
  readonly threeDSecure: Authentications
  /** Decisions that only people can make. */
  readonly operator: Operator
  /** The operators: their accounts, logins and rights. */
  readonly people: OperatorAccounts
  /** Settlement files of acquirers. */
  readonly settlement: Settlements
  /** Settlements by payout, and report files. */
  readonly reports: Reports
  readonly reportDestinations: ReportDestinations
  readonly servedFiles: ServedFiles
  readonly events: Events
  /** The audit trail: actors, origins, times and actions. */
  readonly audit: AuditTrail
  /** Writes an alarm to the security log, once a minute for each kind and subject. */
  readonly alarm: Alarm
  readonly #guessed: GuessedIds
  readonly #subscriptions: Subscriptions
  readonly name: string
  readonly environment: Environment
  /** The number of its database among those of its installation; 0 for the only one. */
  readonly pod: number
  #closed: Promise<void> | undefined

  /** @internal `createGateway` makes it. */
  constructor(parts: GatewayParts) {
    this.#engine = parts.engine
    this.#database = parts.database
    this.#queue = parts.queue
    this.#dispatcher = parts.dispatcher
    this.#outgoing = parts.outgoing
    this.#presence = parts.presence
    this.#leadership = parts.leadership
    this.#graceMs = parts.graceMs
    this.#closeExporters = parts.closeExporters
    this.#end = parts.end
    this.#readiness = new Readiness(() => parts.presence.writes())
    this.entities = parts.entities
    this.accounts = parts.accounts
    this.payments = Object.assign(new Payments(parts.engine), {
      steps: this.#stepsOf('payments.steps'),
    })
    this.query = new Query(parts.engine)
    this.shoppers = new Shoppers(parts.engine)
    this.registrations = Object.assign(new Registrations(parts.engine), {
      steps: this.#stepsOf('registrations.steps'),
    })
    this.checkouts = new Checkouts(parts.engine)
    this.pages = parts.pages
    this.threeDSecure = new Authentications(parts.engine)
    this.schedules = Object.assign(new Schedules(parts.engine), {
      steps: this.#stepsOf('schedules.steps'),
    })
    this.testClocks = new TestClocks(parts.engine)
    this.webhooks = new Webhooks(parts.engine)
    this.widget = new Widget(parts.engine)
    this.operator = new Operator(parts.engine)
    this.settlement = new Settlements(parts.engine)
    this.reports = new Reports(parts.engine)
    this.reportDestinations = new ReportDestinations(parts.engine)
    this.servedFiles = new ServedFiles(parts.engine)
    this.events = new Events(parts.engine)
    const { engine } = parts
    this.audit = new AuditTrail(engine.lanes, (id) => engine.vault.chainKey(id))
    this.people = parts.people(this.operator, this.audit)
    this.alarm = engine.alarm
    this.#guessed = new GuessedIds(engine.alarm, engine.clock)
    this.#subscriptions = new Subscriptions(engine)
    this.name = parts.engine.name
    this.environment = parts.engine.environment
    this.pod = parts.engine.pod
  }

  /**
   * The steps of a resource, for operators. If several payments match, returns their ids.
   *
   * @param reference An id, a short id, a merchantTransactionId, the key of an attempt or the `ndc` of
   * the request.
   * @param options.days How many days to search for short ids and references. Default: 35.
   * @throws GatewayError 404 when no resource matches.
   */
  inspect(reference: string, { days = searchedDays }: { days?: number } = {}) {
    return inspect(this.#engine, reference, days)
  }

  #stepsOf(operation: StepOperation): StepsOf {
    return async (id, options = {}) => stepsFor(this.#engine, callerIn(options), operation, id)
  }

  /**
   * The caller of an Authorization header.
   *
   * @param from The client's address. Without it, tokens with networks are refused.
   * @throws GatewayError 401, 403.
   */
  authenticate(authorization: string | undefined, from?: string): Promise<Caller> {
    return this.#engine.directory.authenticate(authorization, from)
  }

  /** The merchant of a caller, or the caller's entity above merchants. Undefined: all entities. */
  merchantOf(caller: Caller): Promise<string | undefined> {
    return this.#engine.directory.merchantBehind(caller)
  }

  /** Answers a raw request for an operation of the endpoints table. Never throws. */
  async call(operation: string, caller: Caller | null, call: Call): Promise<Reply> {
    if (this.#end.isClosed) return this.refuse(closedError(), call.requestId)
    const { address } = call
    const from = caller === null || address === undefined ? caller : { ...caller, address }
    const reply = await answer(this.#engine, operation, from, call, buildNumber)
    if (reply.status === 404 && caller !== null && call.path?.id !== undefined) {
      this.#guessed.missed(caller.id, call.path.id, address)
    }
    return reply
  }

  /** True when `call` answers this operation; the host answers the others. */
  answers(operation: string): boolean {
    return isEngineOperation(operation)
  }

  /** The key of the installation, which another pod needs at its first start. */
  installationKey(): Promise<InstallationKey> {
    return this.#engine.vault.installationKey()
  }

  /** Whether this database holds the resource: where a host has several, it asks each of them. */
  holds(kind: HeldKind, value: string): Promise<boolean> {
    return holds(this.#engine, kind, value)
  }

  /** The reply for an error. */
  refuse(error: unknown, requestId: string): Reply {
    return refusalReply(this.#engine, error, requestId, buildNumber)
  }

  /**
   * Stores a message of an acquirer.
   *
   * @returns the reply that the acquirer expects; undefined: 200 with any body.
   * @param message The message, or a function that reads the message once the account is found.
   * @param address The sender's address, for the limit of unverified messages.
   * @throws GatewayError 404, 400, 429, 503.
   */
  inbound(
    connector: string,
    account: string,
    message: Inbound | (() => Promise<Inbound>),
    address?: string,
  ): Promise<Required<InboundReply> | undefined> {
    return receive(this.#engine, connector, account, message, address)
  }

  /**
   * Calls `handler` after each commit of this process. A crash can lose calls. Returns a function that ends the calls.
   *
   * @throws GatewayError 200.300.404 for what is no function.
   */
  on(handler: (event: GatewayEvent) => void): () => void {
    if (typeof handler !== 'function') {
      const message = 'must be a function: on(handler)'
      throw new GatewayError('200.300.404', { parameterErrors: [{ name: 'handler', message }] })
    }
    return this.#engine.events.on(handler)
  }

  /**
   * Hands every event of the feed to a handler, in order and once for each name: of several processes
   * with the same name, one handles an event. The position is stored, so events from the time when no
   * process ran come later. The handler gets an event again after an error, in a second at first, then
   * ever more slowly, and the events after it wait.
   *
   * @param name 1 to 100 visible ASCII characters.
   * @throws GatewayError 200.300.404 naming a wrong argument.
   */
  subscribe(
    name: string,
    handler: SubscriptionHandler,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    return this.#subscriptions.start(name, handler, options)
  }

  /**
   * Queues a job of the embedding program or of a plugin. At most one job of a name and `key` is queued or
   * running, and jobs without a key all run.
   * With a `client`, the job is a part of its transaction.
   *
   * @throws GatewayError 200.300.404 naming `name`: no process has such a job · `payload`: no object, or not as JSON ·
   * `client`: not in a transaction, or of another database.
   */
  async sendJob(
    name: string,
    payload: object,
    options: string | { readonly key?: string; readonly client?: TransactionClient } = {},
  ): Promise<void> {
    const given = typeof options === 'string' ? { key: options } : options
    refuseUnknownOptions(given, ['key', 'client'])
    if (typeof name !== 'string' || isEngineName(name)) throw wrongName()
    checkJob(payload, given.key)
    if (!('client' in given)) return this.#queue.send(name, payload, given.key)
    await inOpenTransaction(this.#engine.lanes, clientOf(given), (within) =>
      this.#queue.send(name, payload, given.key, within),
    )
  }

  /** Open entries of the operators' list, oldest first. */
  attention(limit = 100) {
    return this.operator.attention(limit)
  }

  /**
   * True while the process takes requests and can open the current keys of the vault, and the database carries out a
   * write of it within a second.
   */
  async isReady(): Promise<boolean> {
    const { inFlight, vault } = this.#engine
    return !inFlight.closing && vault.whyShut() === undefined && (await this.#readiness.ask())
  }

  /** Which current key of the vault this process cannot open, in a sentence; undefined while it can open all. */
  whyShut(): string | undefined {
    return this.#engine.vault.whyShut()
  }

  /** @internal Texts of every statement prepared so far. */
  statements() {
    return this.#database.statements()
  }

  /** Accepts no new work, finishes the running work, then closes all resources. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const { inFlight } = this.#engine
    this.#dispatcher?.stop()
    await inFlight.close(this.#graceMs)
    await this.#subscriptions.close()
    await this.#queue.stop(Math.min(this.#graceMs, 10_000))
    await this.#dispatcher?.stopped()
    this.#end.isClosed = true
    await this.#closeExporters()
    await this.#engine.steps.close()
    await this.#engine.cardTesting.close()
    await this.#leadership.stop()
    await this.#presence.stop()
    await this.#engine.directory.tokenUse.write()
    await this.#engine.vault.close()
    await this.#outgoing.close()
    await this.#engine.toMerchants.close()
    await this.#database.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
