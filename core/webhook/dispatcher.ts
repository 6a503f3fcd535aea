/**
 * Delivers events to endpoints: claims committed events, holds the leases of the endpoints that
 * this process serves, and hands endpoints without a process to a job.
 */
import { limits } from '@tollgate/schemas'
import { byIndex } from '../db/lanes.ts'
import { tellFailure } from '../db/tell-failure.ts'
import type { Engine } from '../engine.ts'
import { idTimeMs, lowestId, lowestIdAt, newId } from '../ids.ts'
import { giveUpOld, reasonOf } from './disable.ts'
import { EndpointQueue } from './endpoint-queue.ts'
import type { Run } from './reader.ts'
import { Sender } from './sender.ts'
import { type ClaimedRow, claim } from './store-claim.ts'
import { dueDeliveries, toDelivery } from './store-delivery.ts'
import {
  claimQueues,
  type Found,
  keepQueues,
  releaseQueues,
  takeQueue,
  wakeForgotten,
} from './store-queue.ts'

/** Normal claims search this far back; rare claims search further, for slow commits. */
const recentMs = 120_000
const wholeEveryMs = 30_000
/** An idle endpoint stays in memory this long, since the next event may come soon. */
const keepIdleMs = 10_000
const closeGraceMs = 2_000
const forgottenEveryMs = 600_000

export type Asked = { readonly now: Date; readonly floor: string }

export class WebhookDispatcher {
  readonly #engine: Engine
  readonly #run: Run
  readonly #me = newId()
  readonly #sender: Sender
  readonly #queues = new Map<string, EndpointQueue>()
  /** Claims, leases and releases run one after the other, so no release overtakes a claim. */
  #turn: Promise<void> = Promise.resolve()
  #giveToJob: (endpointIds: readonly string[]) => Promise<void> = async () => {}
  #isAttending = false
  #claiming: NodeJS.Timeout | 'now' | undefined
  #claimAgain = false
  #claimedAtMs = Number.NEGATIVE_INFINITY
  #claimEveryMs: number = limits.webhookClaimMs
  #wholeAtMs = Number.NEGATIVE_INFINITY
  /** A full claim: events older than the recent minutes may remain. */
  #isBehind = false
  #forgottenAtMs = 0
  #listening = true
  #stopped = false
  #stopListening: (() => void) | undefined

  constructor(engine: Engine) {
    this.#engine = engine
    const { database } = engine.lanes
    const pool = database.pool(3, 'webhooks', {
      lock_timeout: String(limits.singleLockTimeoutMs),
      ...byIndex,
    })
    this.#run = (statement) => database.run(pool, statement)
    this.#sender = new Sender(engine, this.#run, this.#me, () => this.wake())
  }

  /** @param giveToJob sends a job for each endpoint without a process. */
  start(giveToJob: (endpointIds: readonly string[]) => Promise<void>): void {
    this.#giveToJob = giveToJob
    this.#stopListening = this.#engine.events.on(() => this.wake())
  }

  /** The next poll's question: normal ones look at recent events only. */
  asks(): Asked {
    const isWhole = this.#engine.clock.elapsedMs() - this.#wholeAtMs > wholeEveryMs
    const now = new Date(this.#engine.clock.realMs())
    return { now, floor: isWhole ? lowestId : idBefore(recentMs) }
  }

  /** Acts on the answer, unless it still acts on an earlier one. */
  attend(asked: Asked, found: Found): void {
    if (this.#isAttending || this.#stopped) return
    this.#isAttending = true
    void this.#inTurn(() => this.#act(asked, found)).finally(() => {
      this.#isAttending = false
    })
  }

  /** A commit of this process: claims its events at once. */
  wake(): void {
    if (!this.#listening || this.#stopped) return
    if (this.#claiming !== undefined) {
      this.#claimAgain ||= this.#claiming === 'now'
      return
    }
    const sinceMs = this.#engine.clock.elapsedMs() - this.#claimedAtMs
    this.#claiming = setTimeout(
      () => void this.#claimNow(),
      Math.max(0, this.#claimEveryMs - sinceMs),
    )
  }

  async #claimNow(): Promise<void> {
    this.#claiming = 'now'
    await this.#inTurn(() => this.#claimAll(this.#isBehind ? lowestId : idBefore(recentMs)))
    this.#claiming = undefined
    if (!this.#claimAgain) return
    this.#claimAgain = false
    this.wake()
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work).catch((error: unknown) => {
      tellFailure(this.#engine.log, error, 'webhooks could not be looked after')
    })
    return this.#turn
  }

  async #claimAll(floor: string): Promise<void> {
    while (!this.#stopped) {
      this.#claimedAtMs = this.#engine.clock.elapsedMs()
      if (this.#sender.isBehind) {
        // The deliveries wait in the database, where every process can take them, oldest first.
        this.#isBehind = true
        this.#claimEveryMs = limits.webhookClaimMs
        return
      }
      const now = new Date(this.#engine.clock.realMs())
      const rows = await this.#run(claim(this.#me, now, floor, limits.webhookClaim))
      const touched = new Set<EndpointQueue>()
      const isFullFor = this.#memory()
      for (const row of rows) {
        if (row.id !== null) touched.add(this.#take(row, isFullFor(row.merchant)))
      }
      for (const queue of touched) this.#sender.pump(queue)
      const picked = rows[0]?.picked ?? 0
      // Under load, fewer and larger claims leave more connections to payments.
      const isBusy = picked >= limits.webhookBusyClaim && picked < limits.webhookClaim
      this.#claimEveryMs = isBusy ? limits.webhookBusyClaimMs : limits.webhookClaimMs
      if (picked === limits.webhookClaim) this.#isBehind = true
      else if (floor === lowestId) this.#isBehind = false
      if (picked < limits.webhookClaim) return
    }
  }

  /**
   * Takes a delivery into memory when there is room and nothing older waits in the database.
   * Otherwise new deliveries would overtake older ones under constant load. The row stays in the
   * database.
   */
  #take(row: ClaimedRow, isFull: boolean): EndpointQueue {
    const queue = this.#queueOf(row.endpoint_id, row.merchant, row.gained ? row : undefined)
    if (queue.isDown || queue.ending || queue.more || isFull) queue.more = true
    else queue.add(toDelivery(row), row.blockers)
    return queue
  }

  /** Whether memory is full for a merchant: by its own deliveries, or by the parts of all merchants. */
  #memory(): (merchant: string) => boolean {
    const most = limits.webhooksInMemoryPerMerchant
    const sizes = new Map<string, number>()
    for (const { merchant, size } of this.#queues.values()) {
      sizes.set(merchant, (sizes.get(merchant) ?? 0) + size)
    }
    let all = 0
    for (const size of sizes.values()) all += Math.min(size, most)
    return (merchant) => all >= limits.webhooksInMemory || (sizes.get(merchant) ?? 0) >= most
  }

  #queueOf(
    endpointId: string,
    merchant: string,
    gained:
      | { readonly failures: number; readonly failing_since: Date | null; readonly clean?: boolean }
      | undefined,
  ): EndpointQueue {
    const known = this.#queues.get(endpointId)
    if (known !== undefined && gained === undefined) return known
    const queue = known ?? new EndpointQueue(endpointId, merchant)
    this.#queues.set(endpointId, queue)
    queue.leaseUntilMs = this.#engine.clock.elapsedMs() + limits.webhookLeaseMs
    if (gained !== undefined && known === undefined) {
      queue.failures = gained.failures
      queue.failingSince = gained.failing_since
      queue.more = gained.clean !== true
    }
    return queue
  }

  /** Takes the lease of an endpoint without a process, when its pause is over. */
  async adopt(endpointId: string): Promise<void> {
    if (this.#stopped) return
    await this.#inTurn(async () => {
      const now = new Date(this.#engine.clock.realMs())
      const [taken] = await this.#run(takeQueue(endpointId, this.#me, now))
      if (taken === undefined) return
      const queue = this.#queueOf(endpointId, taken.merchant, taken)
      const { active, disabled_reason: disabledReason, removed_at: removedAt } = taken
      // Outside of this turn: they can be very many.
      if (!active) return this.#sender.giveUpAll(queue, reasonOf({ disabledReason, removedAt }))
      await giveUpOld(this.#engine, this.#run, endpointId).catch((error: unknown) => {
        // The next to take the endpoint tries this again.
        queue.ending = true
        throw error
      })
      queue.more = true
      this.#sender.pump(queue)
    })
  }

  async #act({ now, floor }: Asked, found: Found): Promise<void> {
    const nowMs = this.#engine.clock.elapsedMs()
    this.#listening = found.listening
    if (floor === lowestId) this.#wholeAtMs = nowMs
    if (found.waiting) await this.#claimAll(floor)
    if (nowMs - this.#forgottenAtMs > forgottenEveryMs) {
      this.#forgottenAtMs = nowMs
      await this.#run(wakeForgotten(now))
    }
    if (this.#queues.size > 0) await this.#keep()
    if (found.webhooks_due) {
      const again = new Date(now.getTime() + limits.webhookLeaseMs)
      const due = await this.#run(claimQueues(now, again, limits.timersPerClaim))
      await this.#giveToJob(due.map(({ endpoint_id }) => endpoint_id))
    }
  }

  /** Renews the leases in use and releases the others. */
  async #keep(): Promise<void> {
    const startedMs = this.#engine.clock.elapsedMs()
    const now = new Date(this.#engine.clock.realMs())
    for (const row of await this.#run(keepQueues(this.#me, now))) {
      const queue = this.#queues.get(row.endpoint_id)
      if (queue === undefined) continue
      queue.leaseUntilMs = startedMs + limits.webhookLeaseMs
      if (!row.woken) continue
      queue.more = true
      queue.woken = queue.ending
      queue.ready = undefined
    }
    const done: EndpointQueue[] = []
    for (const queue of this.#queues.values()) {
      if (queue.nextDue !== null && queue.nextDue <= now) {
        queue.nextDue = null
        queue.more = true
      }
      const isOver = startedMs > queue.leaseUntilMs
      if (isOver && queue.running === 0) this.#forget(queue)
      else if (this.#isDone(queue, startedMs)) done.push(queue)
      else this.#sender.pump(queue)
    }
    await this.#release(done)
  }

  #isDone(queue: EndpointQueue, nowMs: number): boolean {
    // Waiting deliveries in memory would hold the lease for ever; the database has them as well.
    if (queue.ending) queue.forgetWaiting()
    if (!queue.isIdle) {
      queue.idleSinceMs = 0
      return false
    }
    if (queue.ending) return true
    if (queue.more) return false
    if (queue.idleSinceMs === 0) queue.idleSinceMs = nowMs
    return nowMs - queue.idleSinceMs > keepIdleMs
  }

  async #release(queues: readonly EndpointQueue[]): Promise<void> {
    for (const queue of queues) this.#forget(queue)
    for (let from = 0; from < queues.length; from += limits.webhookClaim) {
      const some = queues.slice(from, from + limits.webhookClaim)
      const wakeAt = await this.#wakeAts(some)
      const rows = some.map((queue) => ({
        endpoint_id: queue.endpointId,
        woken: queue.woken && queue.ending,
        wake_at: wakeAt.get(queue) ?? null,
      }))
      await this.#run(releaseQueues(this.#me, rows))
    }
  }

  #forget(queue: EndpointQueue): void {
    queue.left = true
    this.#queues.delete(queue.endpointId)
  }

  /**
   * The next time that each endpoint needs a process; missing endpoints have received everything.
   */
  async #wakeAts(queues: readonly EndpointQueue[]): Promise<Map<EndpointQueue, Date>> {
    const now = new Date(this.#engine.clock.realMs())
    const wakeAt = new Map<EndpointQueue, Date>()
    const asked = new Map<string, EndpointQueue>()
    for (const queue of queues) {
      if (queue.ending && !queue.woken) {
        const pauseMs = limits.webhookLadderMs[0]
        wakeAt.set(queue, queue.probeAt ?? new Date(now.getTime() + pauseMs))
      } else if (queue.ending || queue.more) wakeAt.set(queue, now)
      else asked.set(queue.endpointId, queue)
    }
    if (asked.size === 0) return wakeAt
    for (const due of await this.#run(dueDeliveries([...asked.keys()], now, [], 1))) {
      const isDue = due.id !== null || (due.next_due === null && due.more)
      const at = isDue ? now : due.next_due
      if (at !== null) wakeAt.set(asked.get(due.of_endpoint)!, at)
    }
    return wakeAt
  }

  stop(): void {
    this.#stopped = true
    if (typeof this.#claiming === 'object') clearTimeout(this.#claiming)
    this.#stopListening?.()
  }

  /** Finishes the calls under way and leaves the rest to other processes at once. */
  async stopped(): Promise<void> {
    await this.#turn
    await this.#sender.close(closeGraceMs)
    const queues = [...this.#queues.values()]
    for (const queue of queues) queue.more = true
    await this.#release(queues).catch(() => {})
  }
}

/** An id below every id made since. */
const idBefore = (ms: number): string => lowestIdAt(idTimeMs(newId()) - ms)
