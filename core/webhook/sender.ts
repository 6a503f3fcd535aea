/** Sends to many endpoints at once. Healthy endpoints never wait for failing ones. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { sendCallback, sendNotification, type Underway } from './attempt.ts'
import { givenUpAfterMs, pauseMs, probePauseMs } from './backoff.ts'
import { disable, giveUp, reasonOf, untellable } from './disable.ts'
import type { Lane } from './endpoint-queue.ts'
import { disabling, healthOf } from './health.ts'
import { Untellable } from './notification.ts'
import { Outcomes } from './outcomes.ts'
import { Reader, type Run } from './reader.ts'
import { Turns } from './send-limiter.ts'
import { freeWaiting, type OutcomeRow } from './store-delivery.ts'
import { saveHealth } from './store-queue.ts'
import type { Delivery, Endpoint, Tried } from './types.ts'

type Counted = { begins(): void; ends(): void }
/** An attempt, and the endpoint that it used; the endpoint may have changed since. */
type Sent = { readonly tried: Tried; readonly endpoint: Endpoint }

export class Sender {
  readonly #engine: Engine
  readonly #run: Run
  readonly #me: string
  readonly #outcomes: Outcomes
  readonly #reader: Reader
  readonly #underway: Underway = new Set()
  readonly #work = new Set<Promise<void>>()
  readonly #turns = new Turns()
  /** Lanes that wait for room in the process: healthy ones and failing ones. */
  readonly #starved = { working: new Set<Lane>(), failing: new Set<Lane>() }
  #running = 0
  #fast = 0
  #toFailing = 0
  #stopped = false
  readonly #onRoom: () => void

  /** @param onRoom called when waiting lanes got room. */
  constructor(engine: Engine, run: Run, me: string, onRoom: () => void) {
    this.#onRoom = onRoom
    this.#engine = engine
    this.#run = run
    this.#me = me
    this.#reader = new Reader(engine, run)
    this.#outcomes = new Outcomes((statement) => run(statement), engine.clock)
  }

  /** Whether healthy endpoints wait for room: further claims would wait as well. */
  get isBehind(): boolean {
    return this.#starved.working.size >= limits.webhooksStarved
  }

  /** Starts all attempts that may start, and reads deliveries that memory lacks. */
  pump(lane: Lane): void {
    while (!this.#stopped && !lane.ending && lane.room > 0 && lane.hasWork) {
      if (!this.#isHeld(lane)) return
      if (!this.#hasRoomFor(lane)) {
        this.#starvedLike(lane).add(lane)
        return
      }
      const delivery = lane.next()
      if (delivery === undefined) break
      this.#track(this.#deliver(lane, delivery))
    }
    if (lane.more && !lane.reading && !lane.ending && !this.#stopped)
      this.#track(this.#refill(lane))
  }

  /** The lease lasts long enough that no other process sends meanwhile. */
  #isHeld(lane: Lane): boolean {
    return lane.leaseUntilMs - this.#engine.clock.elapsedMs() >= limits.webhookLeaseMarginMs
  }

  #track(work: Promise<void>): void {
    this.#work.add(work)
    work.finally(() => this.#work.delete(work))
  }

  #hasRoomFor(lane: Lane): boolean {
    if (this.#running >= limits.webhooksRunning) return false
    return lane.failures > 0
      ? this.#toFailing < limits.webhooksToFailing
      : this.#fast < limits.webhooksFast
  }

  /** Counts an attempt. A slow attempt soon releases its place to others. */
  #count(lane: Lane): Counted {
    const isFailing = lane.failures > 0
    let isFast = !isFailing
    this.#running += 1
    if (isFailing) this.#toFailing += 1
    else this.#fast += 1
    const slow = () => {
      if (isFast) this.#fast -= 1
      isFast = false
      this.#feed()
    }
    let timer: NodeJS.Timeout | undefined
    return {
      begins() {
        timer = setTimeout(slow, limits.webhookSlowMs)
      },
      ends: () => {
        clearTimeout(timer)
        this.#running -= 1
        if (isFailing) this.#toFailing -= 1
        slow()
      },
    }
  }

  #starvedLike(lane: Lane): Set<Lane> {
    return lane.failures > 0 ? this.#starved.failing : this.#starved.working
  }

  /** Gives room to the lanes that waited longest. */
  #feed(): void {
    const wasBehind = this.isBehind
    for (const waiting of [this.#starved.working, this.#starved.failing]) {
      for (const lane of waiting) {
        // The lane's health changed since it began to wait, so it joins the other list.
        if (this.#starvedLike(lane) === waiting && !this.#hasRoomFor(lane)) break
        waiting.delete(lane)
        this.pump(lane)
      }
    }
    if (wasBehind && !this.isBehind) this.#onRoom()
  }

  async #refill(lane: Lane): Promise<void> {
    const { known } = lane
    if (known.length > limits.webhooksWaiting / 2 || (lane.isDown && known.length > 0)) return
    lane.reading = true
    lane.more = false
    let isMoving = false
    try {
      const found = await this.#reader.due(lane.endpointId, known)
      for (const delivery of found.deliveries) lane.add(delivery, 0)
      isMoving = found.deliveries.length > 0
      lane.dueAgain(found.nextDue)
      // The remaining deliveries wait behind those in memory, or for their next attempt.
      lane.more ||= found.more && known.length > 0
      lane.more ||= isMoving
    } catch (error) {
      lane.more = true
      this.#warn(lane, error, 'notifications could not be read')
    } finally {
      lane.reading = false
    }
    // A delivery written during the read may have blocked others.
    if (isMoving || (lane.more && known.some((id) => !lane.has(id)))) this.pump(lane)
  }

  async #deliver(lane: Lane, delivery: Delivery): Promise<void> {
    const counted = this.#count(lane)
    try {
      const tried = await this.#try(lane, delivery, counted)
      if (tried === 'left') this.#leave(lane, delivery)
      else if (tried === 'nothing') this.#drop(lane, delivery)
      else this.#settle(lane, delivery, tried)
    } catch (error) {
      if (error instanceof Untellable) this.#putAside(lane, delivery, error)
      else {
        // The database or the vault failed: nothing was sent, and the endpoint is not at fault.
        this.#leave(lane, delivery)
        lane.ending = true
        this.#warn(lane, error, 'a notification could not be prepared')
      }
    } finally {
      counted.ends()
      this.pump(lane)
    }
  }

  /** Leaves the delivery in the database unchanged. */
  #leave(lane: Lane, delivery: Delivery): void {
    lane.failed(delivery)
    lane.written(delivery)
  }

  async #try(lane: Lane, delivery: Delivery, counted: Counted): Promise<Sent | 'left' | 'nothing'> {
    lane.ready ??= await this.#reader.ready(lane.endpointId)
    const { ready } = lane
    if (ready === undefined || !ready.endpoint.active) {
      lane.ending = true
      const reason = reasonOf(ready?.endpoint)
      await giveUp(this.#engine, this.#run, lane.endpointId, reason, { whileOff: true })
      return 'left'
    }
    const { callback } = delivery
    const message = callback === null ? await this.#reader.message(delivery) : undefined
    if (callback === null && (message === undefined || ready.keys === null)) return 'nothing'
    await this.#turns.next()
    if (this.#stopped || !this.#isHeld(lane)) return 'left'
    counted.begins()
    const { endpoint, keys } = ready
    const { withOldKey } = lane
    const engine = this.#engine
    const tried =
      callback === null
        ? await sendNotification(engine, endpoint, keys!, message!, this.#underway, withOldKey)
        : await sendCallback(engine, callback, this.#underway)
    // A receiver that answers with a refusal may have only the other key.
    const mayHaveOther = endpoint.previousKeyUntil !== null && tried.status !== null
    if (mayHaveOther && !tried.delivered) lane.withOldKey = !withOldKey
    // Shutdown aborts attempts, which says nothing about the endpoint.
    return this.#stopped && tried.error === 'aborted' ? 'left' : { tried, endpoint }
  }

  #drop(lane: Lane, delivery: Delivery, reason = 'there is nothing to tell any more'): void {
    lane.delivered(delivery)
    const only = { only: delivery.id }
    const given = giveUp(this.#engine, this.#run, delivery.endpointId, reason, only)
    this.#track(given.then(() => lane.written(delivery)))
  }

  /**
   * A message that cannot be built never will be: the delivery is listed and given up, and the
   * others continue.
   */
  #putAside(lane: Lane, delivery: Delivery, error: Untellable): void {
    this.#warn(lane, error.cause, 'a notification cannot be told')
    this.#track(
      this.#run(untellable(delivery, error)).then(
        () => {
          this.#drop(lane, delivery, 'it cannot be told')
          this.pump(lane)
        },
        (unwritten: unknown) => {
          this.#leave(lane, delivery)
          lane.ending = true
          this.#warn(lane, unwritten, 'a notification could not be put aside')
        },
      ),
    )
  }

  #settle(lane: Lane, delivery: Delivery, { tried, endpoint }: Sent): void {
    const nowMs = this.#engine.clock.realMs()
    if (tried.delivered) {
      lane.delivered(delivery)
      this.#recovered(lane, nowMs)
      this.#write(lane, delivery, tried, { state: 'delivered', ended_at: new Date(nowMs) })
      return
    }
    lane.failed(delivery)
    lane.failures += 1
    lane.failingSince ??= tried.at
    const dueAt = new Date(nowMs + pauseMs(delivery.attempts + 1, tried.retryAfterMs))
    lane.dueAgain(dueAt)
    const isOver =
      nowMs - delivery.createdAt.getTime() >= givenUpAfterMs ||
      (delivery.callback !== null && tried.status === 410)
    const end = isOver
      ? { state: 'dead' as const, reason: 'not taken in time', ended_at: new Date(nowMs) }
      : { state: 'pending' as const, due_at: dueAt }
    const written = this.#write(lane, delivery, tried, end)
    const reason = disabling(lane, endpoint, tried, nowMs)
    if (reason !== undefined) {
      lane.ending = true
      this.#track(written.then(() => disable(this.#engine, this.#run, endpoint, reason)))
    } else if (lane.isDown || tried.retryAfterMs > 0) {
      lane.probeAt = new Date(nowMs + probePauseMs(lane.failures, tried.retryAfterMs))
      lane.ending = true
      lane.forgetWaiting()
    }
    this.#track(this.#save(lane))
  }

  /** A success after failures: deliveries that waited for a pause go at once. */
  #recovered(lane: Lane, nowMs: number): void {
    if (lane.failures === 0) return
    const wasDown = lane.isDown
    lane.failures = 0
    lane.failingSince = null
    lane.probeAt = null
    this.#track(
      this.#save(lane).then(async () => {
        if (wasDown) await this.#run(freeWaiting(lane.endpointId, new Date(nowMs)))
        lane.more = true
        this.pump(lane)
      }),
    )
  }

  #write(
    lane: Lane,
    delivery: Delivery,
    tried: Tried,
    end: Pick<OutcomeRow, 'state'> & Partial<OutcomeRow>,
  ): Promise<void> {
    const written = this.#outcomes
      .write({
        id: delivery.id,
        reason: null,
        attempts: delivery.attempts + 1,
        due_at: tried.at,
        ended_at: null,
        ...end,
        attempt_id: newId(),
        at: tried.at,
        duration_ms: tried.durationMs,
        status: tried.status,
        error: tried.error,
        request: tried.request,
        answer: tried.answer,
      })
      .then(() => {
        lane.written(delivery)
        if (lane.more) this.pump(lane)
      })
    this.#track(written)
    return written
  }

  async #save(lane: Lane): Promise<void> {
    await this.#run(saveHealth(this.#me, healthOf(lane))).catch((error: unknown) =>
      this.#warn(lane, error, 'the state of a webhook endpoint could not be written'),
    )
  }

  #warn(lane: Lane, error: unknown, message: string): void {
    const kind = error instanceof Error ? error.name : 'unknown'
    this.#engine.log.warn({ endpoint: lane.endpointId, error: kind }, message)
  }

  /**
   * Starts no further attempt; running ones get a grace time and are then left to other processes.
   */
  async close(graceMs: number): Promise<void> {
    this.#stopped = true
    const timer = setTimeout(() => {
      for (const call of this.#underway) call.finish()
    }, graceMs)
    const until = this.#engine.clock.elapsedMs() + graceMs + limits.flushBudgetMs
    while (this.#work.size > 0 && this.#engine.clock.elapsedMs() < until) {
      const left = until - this.#engine.clock.elapsedMs()
      await Promise.race([
        Promise.allSettled([...this.#work]),
        new Promise((over) => setTimeout(over, left).unref()),
      ])
    }
    clearTimeout(timer)
    await this.#outcomes.close()
  }
}
