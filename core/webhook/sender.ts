/** Sends to many endpoints at once. Healthy endpoints never wait for failing ones. */
import { limits } from '@tollgate/schemas'
import { tellFailure } from '../db/tell-failure.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { notifications } from '../telemetry.ts'
import { sendCallback, sendNotification, type Underway } from './attempt.ts'
import { givenUpAfterMs, pauseMs, probePauseMs } from './backoff.ts'
import { giveUp, reasonOf, untellable } from './disable.ts'
import type { EndpointQueue } from './endpoint-queue.ts'
import { disabling, HealthWriter } from './health.ts'
import { Untellable } from './notification.ts'
import { Outcomes } from './outcomes.ts'
import { Reader, type Run } from './reader.ts'
import { Turns } from './send-limiter.ts'
import { type Counted, SendRoom } from './send-room.ts'
import type { OutcomeRow } from './store-delivery.ts'
import type { Delivery, Endpoint, Tried } from './types.ts'

/** An attempt, and the endpoint that it used; the endpoint may have changed since. */
type Sent = { readonly tried: Tried; readonly endpoint: Endpoint }

export class Sender {
  readonly #engine: Engine
  readonly #run: Run
  readonly #outcomes: Outcomes
  readonly #health: HealthWriter
  readonly #reader: Reader
  readonly #underway: Underway = new Set()
  readonly #work = new Set<Promise<void>>()
  readonly #turns = new Turns()
  readonly #room: SendRoom
  #stopped = false

  /** @param onRoom called when waiting queues got room. */
  constructor(engine: Engine, run: Run, me: string, onRoom: () => void) {
    this.#room = new SendRoom((queue) => this.pump(queue), onRoom)
    this.#engine = engine
    this.#run = run
    this.#reader = new Reader(engine, run)
    this.#outcomes = new Outcomes((statement) => run(statement), engine.clock)
    this.#health = new HealthWriter(engine, run, me)
  }

  /** Whether healthy endpoints wait for room: further claims would wait as well. */
  get isBehind(): boolean {
    return this.#room.isBehind
  }

  /** Starts all attempts that may start, and reads deliveries that memory lacks. */
  pump(queue: EndpointQueue): void {
    while (!this.#stopped && !queue.ending && queue.room > 0 && queue.hasWork) {
      if (!this.#isHeld(queue)) return
      if (!this.#room.isFreeFor(queue)) {
        this.#room.waitFor(queue)
        return
      }
      const delivery = queue.next()
      if (delivery === undefined) break
      this.#track(this.#deliver(queue, delivery))
    }
    if (queue.more && !queue.reading && !queue.ending && !this.#stopped)
      this.#track(this.#refill(queue))
  }

  /** The lease lasts long enough that no other process sends meanwhile. */
  #isHeld(queue: EndpointQueue): boolean {
    return queue.leaseUntilMs - this.#engine.clock.elapsedMs() >= limits.webhookLeaseMarginMs
  }

  #track(work: Promise<void>): void {
    this.#work.add(work)
    work.finally(() => this.#work.delete(work))
  }

  async #refill(queue: EndpointQueue): Promise<void> {
    const { known } = queue
    if (known.length > limits.webhooksWaiting / 2 || (queue.isDown && known.length > 0)) return
    queue.reading = true
    queue.more = false
    let isMoving = false
    try {
      const found = await this.#reader.due(queue.endpointId, known)
      for (const delivery of found.deliveries) queue.add(delivery, 0)
      isMoving = found.deliveries.length > 0
      queue.dueAgain(found.nextDue)
      // The remaining deliveries wait behind those in memory, or for their next attempt.
      queue.more ||= found.more && known.length > 0
      queue.more ||= isMoving
    } catch (error) {
      queue.more = true
      this.#warn(queue, error, 'notifications could not be read')
    } finally {
      queue.reading = false
    }
    // A delivery written during the read may have blocked others.
    if (isMoving || (queue.more && known.some((id) => !queue.has(id)))) this.pump(queue)
  }

  async #deliver(queue: EndpointQueue, delivery: Delivery): Promise<void> {
    const counted = this.#room.count(queue)
    try {
      const tried = await this.#try(queue, delivery, counted)
      if (tried === 'left') this.#leave(queue, delivery)
      else if (tried === 'nothing') this.#drop(queue, delivery)
      else this.#settle(queue, delivery, tried)
    } catch (error) {
      if (error instanceof Untellable) this.#putAside(queue, delivery, error)
      else {
        // The database or the vault failed: nothing was sent, and the endpoint is not at fault.
        this.#leave(queue, delivery)
        queue.ending = true
        this.#warn(queue, error, 'a notification could not be prepared')
      }
    } finally {
      counted.ends()
      this.pump(queue)
    }
  }

  /** Leaves the delivery in the database unchanged. */
  #leave(queue: EndpointQueue, delivery: Delivery): void {
    queue.failed(delivery)
    queue.written(delivery)
  }

  async #try(
    queue: EndpointQueue,
    delivery: Delivery,
    counted: Counted,
  ): Promise<Sent | 'left' | 'nothing'> {
    queue.ready ??= await this.#reader.ready(queue.endpointId)
    const { ready } = queue
    if (ready === undefined || !ready.endpoint.active) {
      queue.ending = true
      const reason = reasonOf(ready?.endpoint)
      await giveUp(this.#engine, this.#run, queue.endpointId, reason, { whileOff: true })
      return 'left'
    }
    const { callback } = delivery
    const message = callback === null ? await this.#reader.message(delivery) : undefined
    if (callback === null && (message === undefined || ready.keys === null)) return 'nothing'
    await this.#turns.next()
    if (this.#stopped || !this.#isHeld(queue)) return 'left'
    counted.begins()
    const { endpoint, keys } = ready
    const { withOldKey } = queue
    const engine = this.#engine
    const send = () =>
      callback === null
        ? sendNotification(engine, endpoint, keys!, message!, this.#underway, withOldKey)
        : sendCallback(engine, callback, this.#underway)
    const tried = await notifications.run(send, {
      about: () => toldOf(engine, delivery),
      ended: ({ delivered, status }) => ({ delivered, ...(status === null ? {} : { status }) }),
    })
    // A receiver that answers with a refusal may have only the other key.
    const mayHaveOther = endpoint.previousKeyUntil !== null && tried.status !== null
    if (mayHaveOther && !tried.delivered) queue.withOldKey = !withOldKey
    // Shutdown aborts attempts, which says nothing about the endpoint.
    return this.#stopped && tried.error === 'aborted' ? 'left' : { tried, endpoint }
  }

  #drop(
    queue: EndpointQueue,
    delivery: Delivery,
    reason = 'there is nothing to tell any more',
  ): void {
    queue.delivered(delivery)
    const only = { only: delivery.id }
    this.#track(
      giveUp(this.#engine, this.#run, delivery.endpointId, reason, only)
        .catch((error: unknown) => {
          // The delivery stays in the database, and this finds it again after a pause.
          queue.ending = true
          this.#warn(queue, error, 'a notification could not be given up')
        })
        .then(() => queue.written(delivery)),
    )
  }

  /**
   * A message that cannot be built never will be: the delivery is listed and given up, and the
   * others continue.
   */
  #putAside(queue: EndpointQueue, delivery: Delivery, error: Untellable): void {
    this.#warn(queue, error.cause, 'a notification cannot be told')
    this.#track(
      this.#run(untellable(delivery, error)).then(
        () => {
          this.#drop(queue, delivery, 'it cannot be told')
          this.pump(queue)
        },
        (unwritten: unknown) => {
          this.#leave(queue, delivery)
          queue.ending = true
          this.#warn(queue, unwritten, 'a notification could not be put aside')
        },
      ),
    )
  }

  #settle(queue: EndpointQueue, delivery: Delivery, { tried, endpoint }: Sent): void {
    const nowMs = this.#engine.clock.realMs()
    if (tried.delivered) {
      queue.delivered(delivery)
      const end = { state: 'delivered' as const, ended_at: new Date(nowMs) }
      const write = () => this.#write(queue, delivery, tried, end)
      if (queue.failures === 0) void write()
      else this.#recovered(queue, delivery, write)
      return
    }
    queue.failed(delivery)
    queue.failures += 1
    queue.failingSince ??= tried.at
    const dueAt = new Date(nowMs + pauseMs(delivery.attempts + 1, tried.retryAfterMs))
    queue.dueAgain(dueAt)
    const isOver =
      nowMs - delivery.createdAt.getTime() >= givenUpAfterMs ||
      (delivery.callback !== null && tried.status === 410)
    const end = isOver
      ? { state: 'dead' as const, reason: 'not taken in time', ended_at: new Date(nowMs) }
      : { state: 'pending' as const, due_at: dueAt }
    const written = this.#write(queue, delivery, tried, end)
    queue.verdict = disabling(queue, endpoint, tried, nowMs) ?? queue.verdict
    if (queue.verdict !== undefined) {
      // No pause, so that the notifications of an endpoint that is off are given up at once.
      queue.probeAt = null
      queue.ending = true
    } else if (queue.isDown || tried.retryAfterMs > 0) {
      queue.probeAt = new Date(nowMs + probePauseMs(queue.failures, tried.retryAfterMs))
      queue.ending = true
      queue.forgetWaiting()
    }
    queue.unsaved = true
    // A notification that is given up with its endpoint has this attempt in its log.
    this.#track(written.then(async () => void (await this.#health.save(queue))))
  }

  /**
   * A success after failures: deliveries that waited for a pause go at once. Where some wait, the health comes before
   * the outcome: after a crash between them, the notification is sent once more and frees the others. A verdict would
   * give the notification up meanwhile.
   */
  #recovered(queue: EndpointQueue, delivery: Delivery, write: () => Promise<void>): void {
    const isHealthFirst = queue.isDown && queue.verdict === undefined
    queue.recovers()
    if (!isHealthFirst) void write()
    this.#track(
      this.#health.save(queue).then(async (isSaved) => {
        if (isSaved) queue.more = true
        if (isHealthFirst && isSaved) await write()
        else if (isHealthFirst) queue.written(delivery)
        else this.pump(queue)
      }),
    )
  }

  /** Gives up what waits at an endpoint that is off: the process that disabled it may have died before it did. */
  giveUpAll(queue: EndpointQueue, reason: string): void {
    const { endpointId } = queue
    queue.reading = true
    this.#track(
      giveUp(this.#engine, this.#run, endpointId, reason, { whileOff: true }, () => this.#stopped)
        .catch((error: unknown) => {
          // The next to take the endpoint tries this again.
          queue.ending = true
          this.#warn(
            queue,
            error,
            'the notifications of an endpoint that is off could not be given up',
          )
        })
        .then(() => {
          queue.reading = false
          queue.more = true
          this.pump(queue)
        }),
    )
  }

  #write(
    queue: EndpointQueue,
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
        queue.written(delivery)
        if (queue.more) this.pump(queue)
      })
    this.#track(written)
    return written
  }

  #warn(queue: EndpointQueue, error: unknown, message: string): void {
    tellFailure(this.#engine.log, error, message, { endpoint: queue.endpointId })
  }

  /**
   * Starts no further attempt; running ones get a grace time and are then left to other processes.
   */
  async close(graceMs: number): Promise<void> {
    this.#stopped = true
    this.#health.stop()
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

/** What listeners learn of an attempt before it begins. */
const toldOf = ({ name, clock }: Engine, { id, endpointId, createdAt, attempts }: Delivery) => ({
  engine: name,
  notificationId: id,
  endpointId,
  ageMs: Math.max(0, clock.realMs() - createdAt.getTime()),
  earlier: attempts,
})
