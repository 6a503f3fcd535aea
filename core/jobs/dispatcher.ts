/**
 * Asks twice a second, in one statement, for all that a worker may have to do: due work, jobs that
 * wait, webhooks, and rows of the audit trail without a link.
 */
import type { Job } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { EventTurns } from '../acquirer-events/fair-turns.ts'
import { ChainWatch } from '../audit-chain/watch.ts'
import { patience } from '../db/database.ts'
import { byIndex } from '../db/lanes.ts'
import { tellFailure } from '../db/tell-failure.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { restores } from '../payment/restoration.ts'
import type { Queue } from '../queue/queue.ts'
import { planFetchTimers } from '../settlement/fetch.ts'
import { planDays } from '../settlement/simulated/plan.ts'
import { WebhookDispatcher } from '../webhook/dispatcher.ts'
import { auditLinks } from './audit-links.ts'
import type { JobDefinition } from './define.ts'
import { engineJobs } from './engine-jobs.ts'
import { housekeeping } from './housekeeping.ts'
import { scheduleTick } from './schedule-tick.ts'
import { type Look, lookAtAll } from './store-due.ts'
import { webhookRetry } from './webhook-retry.ts'

export class Dispatcher {
  readonly #engine: Engine
  readonly #queue: Queue
  readonly #tick: ReturnType<typeof scheduleTick>
  readonly #webhooks: WebhookDispatcher
  readonly #retry: ReturnType<typeof webhookRetry>
  readonly #chain: ChainWatch
  readonly #id = newId()
  /** A connection of its own: a look waits for no payment, and no payment waits for a look. */
  readonly #pool: ReturnType<Engine['lanes']['database']['pool']>
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  /** Work that follows from a look. The looks do not wait for it. */
  #following: Promise<void> | undefined
  #housekeptAtMs = Number.NEGATIVE_INFINITY
  #fetchesPlannedAtMs = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(engine: Engine, queue: Queue) {
    this.#engine = engine
    this.#queue = queue
    const turns = new EventTurns(engine)
    this.#tick = scheduleTick(queue.enqueue, queue.enqueueWithin, () => turns.fill())
    this.#chain = new ChainWatch({ ...engine, open: (id) => engine.vault.chainKey(id) })
    this.#webhooks = new WebhookDispatcher(engine)
    this.#pool = engine.lanes.database.pool(1, 'dispatcher', {
      statement_timeout: String(limits.statementTryMs - limits.tryAheadMs),
      ...byIndex,
    })
    this.#retry = webhookRetry((endpointId) => this.#webhooks.adopt(endpointId))
  }

  /** Starts the workers of all queues, which are there. */
  async start(own: readonly Job[]): Promise<void> {
    for (const job of engineJobs(this.#tick, this.#retry)) await this.#work(job)
    for (const job of own) await this.#queue.workOwn(job)
    this.#webhooks.start((endpointIds) =>
      this.#queue.enqueue(
        this.#retry,
        endpointIds.map((endpointId) => ({ endpointId })),
      ),
    )
    this.#next()
  }

  #work<Payload extends object>(job: JobDefinition<Payload>): Promise<void> {
    return this.#queue.work(job, (payload, signal) => job.run(payload, this.#engine, signal))
  }

  #next(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => this.#next())
    }, limits.dispatcherPollMs)
  }

  async #look(): Promise<void> {
    try {
      const asked = this.#webhooks.asks()
      const { database } = this.#engine.lanes
      const [found] = await database.run(
        this.#pool,
        lookAtAll({ ...asked, workers: this.#queue.workers }),
        patience(limits.statementTryMs),
      )
      // What a failover lost comes back first.
      if (restores(this.#engine)) return
      this.#queue.wake(found!.ready)
      this.#webhooks.attend(asked, found!)
      this.#following ??= this.#follow(found!).finally(() => {
        this.#following = undefined
      })
    } catch (error) {
      tellFailure(this.#engine.log, error, 'the dispatcher could not look for due work')
    }
  }

  async #follow(found: Look): Promise<void> {
    await Promise.all([this.#followDue(found), this.#followAudit(found)])
  }

  async #followAudit(found: Look): Promise<void> {
    try {
      if (this.#chain.see(found)) await this.#queue.enqueue(auditLinks, [{}])
      await this.#chain.tell()
    } catch (error) {
      tellFailure(this.#engine.log, error, 'the dispatcher could not look at the audit trail')
    }
  }

  async #followDue({ due }: Look): Promise<void> {
    try {
      const nowMs = this.#engine.clock.elapsedMs()
      if (nowMs - this.#housekeptAtMs > limits.housekeepingMs) {
        await this.#queue.enqueue(housekeeping, [{}])
        this.#housekeptAtMs = nowMs
      }
      if (nowMs - this.#fetchesPlannedAtMs > limits.settlementPlanMs) {
        await planFetchTimers(this.#engine)
        await planDays(this.#engine)
        this.#fetchesPlannedAtMs = nowMs
      }
      // The key names the process: a job of a dead process must not block other processes.
      if (due) await this.#queue.enqueue(this.#tick, [{ processId: this.#id }])
    } catch (error) {
      tellFailure(this.#engine.log, error, 'the dispatcher could not look for due work')
    }
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#webhooks.stop()
  }

  async stopped(): Promise<void> {
    await this.#looking
    await this.#following
    // During a database outage, the next process logs the end.
    await this.#chain.last().catch(() => {})
    await this.#webhooks.stopped()
  }
}
