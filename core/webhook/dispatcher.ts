/**
 * Delivers events to endpoints: claims committed events, holds the leases of the endpoints that
 * this process serves, and hands endpoints without a process to a job.
 */
import { limits } from '@tollgate/schemas'
import { byIndex } from '../db/lanes.ts'
import type { Engine } from '../engine.ts'
import { idTimeMs, lowestId, lowestIdAt, newId } from '../ids.ts'
import { giveUpOld } from './disable.ts'
import { Lane } from './endpoint-queue.ts'
import type { Run } from './reader.ts'
import { Sender } from './sender.ts'
import { type ClaimedRow, claim } from './store-claim.ts'
import { dueDeliveries, toDelivery } from './store-delivery.ts'
import {
  claimQueues,
  keepQueues,
  look,
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

export class WebhookDispatcher {
  readonly #engine: Engine
  readonly #run: Run
  readonly #me = newId()
  readonly #sender: Sender
  readonly #lanes = new Map<string, Lane>()
  /** Claims, leases and releases run one after the other, so no release overtakes a claim. */
  #turn: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
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
    this.#stopListening = this.#engine.events.on(() => this.wake())
    const next = () => {
      if (this.#stopped) return
      this.#timer = setTimeout(() => {
        this.#inTurn(() => this.#poll(giveToJob)).finally(next)
      }, limits.webhookPollMs)
    }
    next()
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
      const kind = error instanceof Error ? error.name : 'unknown'
      this.#engine.log.warn({ error: kind }, 'webhooks could not be looked after')
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
      const touched = new Set<Lane>()
      const isFull = this.#isFull()
      for (const row of rows) if (row.id !== null) touched.add(this.#take(row, isFull))
      for (const lane of touched) this.#sender.pump(lane)
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
  #take(row: ClaimedRow, isFull: boolean): Lane {
    const lane = this.#laneOf(row.endpoint_id, row.gained ? row : undefined)
    if (lane.isDown || lane.ending || lane.more || isFull) lane.more = true
    else lane.add(toDelivery(row), row.blockers)
    return lane
  }

  #isFull(): boolean {
    let waiting = 0
    for (const lane of this.#lanes.values()) waiting += lane.size
    return waiting >= limits.webhooksInMemory
  }

  #laneOf(
    endpointId: string,
    gained:
      | { readonly failures: number; readonly failing_since: Date | null; readonly clean?: boolean }
      | undefined,
  ): Lane {
    const known = this.#lanes.get(endpointId)
    if (known !== undefined && gained === undefined) return known
    const lane = known ?? new Lane(endpointId)
    this.#lanes.set(endpointId, lane)
    lane.leaseUntilMs = this.#engine.clock.elapsedMs() + limits.webhookLeaseMs
    if (gained !== undefined && known === undefined) {
      lane.failures = gained.failures
      lane.failingSince = gained.failing_since
      lane.more = gained.clean !== true
    }
    return lane
  }

  /** Takes the lease of an endpoint without a process, when its pause is over. */
  async adopt(endpointId: string): Promise<void> {
    if (this.#stopped) return
    await this.#inTurn(async () => {
      const now = new Date(this.#engine.clock.realMs())
      const [taken] = await this.#run(takeQueue(endpointId, this.#me, now))
      if (taken === undefined) return
      const lane = this.#laneOf(endpointId, taken)
      await giveUpOld(this.#engine, this.#run, endpointId)
      lane.more = true
      this.#sender.pump(lane)
    })
  }

  async #poll(giveToJob: (endpointIds: readonly string[]) => Promise<void>): Promise<void> {
    const nowMs = this.#engine.clock.elapsedMs()
    const isWhole = nowMs - this.#wholeAtMs > wholeEveryMs
    const floor = isWhole ? lowestId : idBefore(recentMs)
    const now = new Date(this.#engine.clock.realMs())
    const [found] = await this.#run(look(now, floor))
    this.#listening = found!.listening
    if (isWhole) this.#wholeAtMs = nowMs
    if (found!.waiting) await this.#claimAll(floor)
    if (nowMs - this.#forgottenAtMs > forgottenEveryMs) {
      this.#forgottenAtMs = nowMs
      await this.#run(wakeForgotten(now))
    }
    if (this.#lanes.size > 0) await this.#keep()
    if (found!.due) {
      const again = new Date(now.getTime() + limits.webhookLeaseMs)
      const due = await this.#run(claimQueues(now, again, limits.timersPerClaim))
      await giveToJob(due.map(({ endpoint_id }) => endpoint_id))
    }
  }

  /** Renews the leases in use and releases the others. */
  async #keep(): Promise<void> {
    const startedMs = this.#engine.clock.elapsedMs()
    const now = new Date(this.#engine.clock.realMs())
    for (const row of await this.#run(keepQueues(this.#me, now))) {
      const lane = this.#lanes.get(row.endpoint_id)
      if (lane === undefined) continue
      lane.leaseUntilMs = startedMs + limits.webhookLeaseMs
      if (!row.woken) continue
      lane.more = true
      lane.woken = lane.ending
      lane.ready = undefined
    }
    const done: Lane[] = []
    for (const lane of this.#lanes.values()) {
      if (lane.nextDue !== null && lane.nextDue <= now) {
        lane.nextDue = null
        lane.more = true
      }
      const isOver = startedMs > lane.leaseUntilMs
      if (isOver && lane.running === 0) this.#lanes.delete(lane.endpointId)
      else if (this.#isDone(lane, startedMs)) done.push(lane)
      else this.#sender.pump(lane)
    }
    await this.#release(done)
  }

  #isDone(lane: Lane, nowMs: number): boolean {
    // Waiting deliveries in memory would hold the lease for ever; the database has them as well.
    if (lane.ending) lane.forgetWaiting()
    if (!lane.isIdle) {
      lane.idleSinceMs = 0
      return false
    }
    if (lane.ending) return true
    if (lane.more) return false
    if (lane.idleSinceMs === 0) lane.idleSinceMs = nowMs
    return nowMs - lane.idleSinceMs > keepIdleMs
  }

  async #release(lanes: readonly Lane[]): Promise<void> {
    for (const lane of lanes) {
      this.#lanes.delete(lane.endpointId)
      if (lane.woken && lane.ending) lane.probeAt = null
    }
    for (let from = 0; from < lanes.length; from += limits.webhookClaim) {
      const some = lanes.slice(from, from + limits.webhookClaim)
      const wakeAt = await this.#wakeAts(some)
      const rows = some.map((lane) => ({
        ...releasedAs(lane),
        wake_at: wakeAt.get(lane) ?? null,
      }))
      await this.#run(releaseQueues(this.#me, rows))
    }
  }

  /**
   * The next time that each endpoint needs a process; missing endpoints have received everything.
   */
  async #wakeAts(lanes: readonly Lane[]): Promise<Map<Lane, Date>> {
    const now = new Date(this.#engine.clock.realMs())
    const wakeAt = new Map<Lane, Date>()
    const asked = new Map<string, Lane>()
    for (const lane of lanes) {
      if (lane.ending && !lane.woken) {
        const pauseMs = limits.webhookLadderMs[0]
        wakeAt.set(lane, lane.probeAt ?? new Date(now.getTime() + pauseMs))
      } else if (lane.ending || lane.more) wakeAt.set(lane, now)
      else asked.set(lane.endpointId, lane)
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
    clearTimeout(this.#timer)
    if (typeof this.#claiming === 'object') clearTimeout(this.#claiming)
    this.#stopListening?.()
  }

  /** Finishes the calls under way and leaves the rest to other processes at once. */
  async stopped(): Promise<void> {
    await this.#turn
    await this.#sender.close(closeGraceMs)
    const lanes = [...this.#lanes.values()]
    for (const lane of lanes) lane.more = true
    await this.#release(lanes).catch(() => {})
  }
}

const releasedAs = ({ endpointId, failures, failingSince, probeAt }: Lane) => ({
  endpoint_id: endpointId,
  failures,
  failing_since: failingSince,
  probe_at: probeAt,
})

/** An id below every id made since. */
const idBefore = (ms: number): string => lowestIdAt(idTimeMs(newId()) - ms)
