/** Sends what is in memory to many endpoints at once, so that those that work never wait for those that do not. */
import { limits } from '@tollgate/schemas'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { sendCallback, sendNotification } from './attempt.ts'
import { openSecrets } from './endpoints.ts'
import { Gather } from './gather.ts'
import { givenUpAfterMs, pauseMs, probePauseMs } from './ladder.ts'
import type { Lane, Ready } from './lane.ts'
import { type Notification, notificationsOf, type StoredEvent } from './notification.ts'
import { Outcomes } from './outcomes.ts'
import { disableEndpoint, endpointsToSend, toEndpoint } from './store.ts'
import {
  bury,
  dueDeliveries,
  freeWaiting,
  type Health,
  moreDue,
  nextDue,
  type OutcomeRow,
  saveHealth,
  toDelivery,
} from './store-delivery.ts'
import type { Delivery, Endpoint, Tried } from './types.ts'

export type Run = <Row>(statement: Sql<Row>) => Promise<Row[]>

const buriedAtOnce = 1000

export class Sender {
  readonly #engine: Engine
  readonly #run: Run
  readonly #me: string
  readonly #outcomes: Outcomes
  readonly #aborting = new AbortController()
  readonly #work = new Set<Promise<void>>()
  /** Lanes that found no room in the process. */
  readonly #starved = new Set<Lane>()
  #running = 0
  #fast = 0
  #toFailing = 0
  #stopped = false

  constructor(engine: Engine, run: Run, me: string) {
    this.#engine = engine
    this.#run = run
    this.#me = me
    this.#outcomes = new Outcomes((statement) => run(statement))
  }

  get running(): number {
    return this.#running
  }

  readonly #bodies = new Gather<{ event: StoredEvent; kind: string }, Notification | undefined>(
    async (wanted) => {
      const events = new Map(wanted.map(({ event }) => [event.id, event]))
      const made = await notificationsOf(this.#engine, [...events.values()])
      const byKey = new Map(made.map((one) => [`${one.event.id} ${one.type}`, one]))
      return wanted.map(({ event, kind }) => byKey.get(`${event.id} ${kind}`))
    },
  )
  readonly #endpoints = new Gather<string, Endpoint | undefined>(async (ids) => {
    const rows = await this.#run(endpointsToSend([...new Set(ids)]))
    const byId = new Map(rows.map((row) => [row.id, toEndpoint(row)]))
    return ids.map((id) => byId.get(id))
  })

  /** Sends what may go now, and reads what memory lacks. */
  pump(lane: Lane): void {
    while (!this.#stopped && !lane.ending && lane.room > 0 && lane.hasWork) {
      if (lane.leaseUntilMs - this.#engine.clock.elapsedMs() < limits.webhookLeaseMarginMs) return
      if (!this.#hasRoomFor(lane)) {
        this.#starved.add(lane)
        return
      }
      const delivery = lane.next()
      if (delivery === undefined) break
      this.#track(this.#deliver(lane, delivery))
    }
    if (lane.more && !lane.reading && !lane.ending && !this.#stopped)
      this.#track(this.#refill(lane))
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

  /** Counts one on its way; what is not answered soon gives its place to others. */
  #count(lane: Lane): () => void {
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
    const timer = setTimeout(slow, limits.webhookSlowMs)
    return () => {
      clearTimeout(timer)
      this.#running -= 1
      if (isFailing) this.#toFailing -= 1
      slow()
    }
  }

  #feed(): void {
    for (const lane of [...this.#starved]) {
      if (!this.#hasRoomFor(lane)) continue
      this.#starved.delete(lane)
      this.pump(lane)
    }
  }

  async #refill(lane: Lane): Promise<void> {
    if (lane.known.length > limits.webhooksWaiting / 2 || (lane.isDown && lane.known.length > 0))
      return
    lane.reading = true
    lane.more = false
    try {
      const now = new Date(this.#engine.clock.realMs())
      const room = lane.isDown ? 1 : limits.webhooksWaiting - lane.known.length
      const rows = await this.#run(dueDeliveries(lane.endpointId, now, lane.known, room))
      for (const row of rows) lane.add(toDelivery(row), false)
      if (rows.length > 0) lane.more = true
      else {
        const [rest] = await this.#run(moreDue(lane.endpointId, now, lane.known))
        // What is left waits behind what is in memory, or behind what waits for its next try.
        if (rest?.more === true && lane.known.length > 0) lane.more = true
        const [next] = await this.#run(nextDue(lane.endpointId, now))
        lane.nextDue = next?.at ?? null
      }
      lane.reading = false
      if (rows.length > 0) this.pump(lane)
    } catch (error) {
      lane.more = true
      this.#warn(lane, error, 'notifications could not be read')
    } finally {
      lane.reading = false
    }
  }

  async #deliver(lane: Lane, delivery: Delivery): Promise<void> {
    const uncount = this.#count(lane)
    try {
      const tried = await this.#try(lane, delivery)
      if (tried === 'left') this.#leave(lane, delivery)
      else this.#settle(lane, delivery, tried)
    } catch (error) {
      // The database or the vault: nothing was sent, and nobody is to blame for it.
      this.#leave(lane, delivery)
      lane.ending = true
      this.#warn(lane, error, 'a notification could not be prepared')
    } finally {
      uncount()
      this.pump(lane)
    }
  }

  /** Stays in the database as it is. */
  #leave(lane: Lane, delivery: Delivery): void {
    lane.failed(delivery)
    lane.written(delivery)
  }

  async #try(lane: Lane, delivery: Delivery): Promise<Tried | 'left' | 'nothing'> {
    lane.ready ??= await this.#readyFor(lane.endpointId)
    const { ready } = lane
    if (ready === undefined || !ready.endpoint.active) {
      lane.ending = true
      await this.#bury(lane.endpointId, reasonOf(ready?.endpoint), null)
      return 'left'
    }
    const { signal } = this.#aborting
    if (delivery.callback !== null)
      return this.#unlessStopped(sendCallback(this.#engine, delivery.callback, signal))
    if (delivery.event === null || ready.secrets === null) return 'nothing'
    const message = await this.#bodies.ask({ event: delivery.event, kind: delivery.kind })
    if (message === undefined) return 'nothing'
    const sequence = delivery.kind === 'REGISTRATION' ? delivery.seq + 1 : delivery.seq
    return this.#unlessStopped(
      sendNotification(
        this.#engine,
        ready.endpoint,
        ready.secrets,
        { ...message, sequence },
        signal,
      ),
    )
  }

  /** A process that ends breaks what it sends: that says nothing about the endpoint. */
  async #unlessStopped(sending: Promise<Tried>): Promise<Tried | 'left'> {
    const tried = await sending
    return this.#stopped && tried.error === 'aborted' ? 'left' : tried
  }

  async #readyFor(id: string): Promise<Ready | undefined> {
    const endpoint = await this.#endpoints.ask(id)
    if (endpoint === undefined) return undefined
    return { endpoint, secrets: await openSecrets(this.#engine, endpoint) }
  }

  #settle(lane: Lane, delivery: Delivery, tried: Tried | 'nothing'): void {
    const nowMs = this.#engine.clock.realMs()
    if (tried === 'nothing') {
      lane.delivered(delivery)
      const reason = 'there is nothing to tell any more'
      this.#track(
        this.#bury(delivery.endpointId, reason, null, delivery.id).then(() =>
          lane.written(delivery),
        ),
      )
      return
    }
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
    if (lane.nextDue === null || dueAt < lane.nextDue) lane.nextDue = dueAt
    const isOver = nowMs - delivery.createdAt.getTime() >= givenUpAfterMs
    const end = isOver
      ? { state: 'dead' as const, reason: 'not taken in time', ended_at: new Date(nowMs) }
      : { state: 'pending' as const, due_at: dueAt }
    const written = this.#write(lane, delivery, tried, end)
    const reason = disabling(lane, tried, nowMs)
    if (reason !== undefined) {
      lane.ending = true
      this.#track(written.then(() => this.#disable(lane, reason)))
    } else if (lane.isDown || tried.retryAfterMs > 0) {
      lane.probeAt = new Date(nowMs + probePauseMs(lane.failures, tried.retryAfterMs))
      lane.ending = true
      lane.forgetWaiting()
    }
    this.#track(this.#save(lane))
  }

  /** Success after failures: what waited for its own next try goes at once. */
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

  async #disable(lane: Lane, reason: string): Promise<void> {
    const { endpointId } = lane
    const now = new Date(this.#engine.clock.realMs())
    const [disabled] = await this.#run(disableEndpoint(endpointId, reason, now, newId()))
    if (disabled !== undefined) {
      this.#engine.log.warn({ endpoint: endpointId, reason }, 'a webhook endpoint was disabled')
      this.#engine.events.emit({
        id: newId(),
        type: 'webhook.disabled',
        resource: endpointId,
        channelId: disabled.entity_id,
        sequence: 1,
        at: now,
        data: { reason },
      })
    }
    await this.#bury(endpointId, `the endpoint was disabled: ${reason}`, null)
  }

  /** Gives up what is older than `before`, or all, or one. */
  async #bury(
    endpointId: string,
    reason: string,
    before: Date | null,
    only?: string,
  ): Promise<void> {
    for (;;) {
      const now = new Date(this.#engine.clock.realMs())
      const gone = await this.#run(
        bury(endpointId, reason, before, now, only ?? null, buriedAtOnce),
      )
      if (gone.length < buriedAtOnce) return
    }
  }

  /** Gives up what nobody could take in time. */
  giveUpOld(endpointId: string): Promise<void> {
    const before = new Date(this.#engine.clock.realMs() - givenUpAfterMs)
    return this.#bury(endpointId, 'not taken in time', before)
  }

  #warn(lane: Lane, error: unknown, message: string): void {
    const kind = error instanceof Error ? error.name : 'unknown'
    this.#engine.log.warn({ endpoint: lane.endpointId, error: kind }, message)
  }

  /** Starts nothing more; what runs gets a moment, then it is broken off and left to others. */
  async close(graceMs: number): Promise<void> {
    this.#stopped = true
    const timer = setTimeout(() => this.#aborting.abort(), graceMs)
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

export const healthOf = (lane: Lane): Health => ({
  endpointId: lane.endpointId,
  failures: lane.failures,
  failingSince: lane.failingSince,
  probeAt: lane.probeAt,
})

function disabling(lane: Lane, tried: Tried, nowMs: number): string | undefined {
  if (lane.ready?.endpoint.kind === 'callback') return undefined
  if (tried.status === 410) return 'it answered 410 Gone'
  const sinceMs = nowMs - (lane.failingSince?.getTime() ?? nowMs)
  return sinceMs >= givenUpAfterMs
    ? `nothing but failures for ${limits.webhookDays} days`
    : undefined
}

function reasonOf(endpoint: Endpoint | undefined): string {
  if (endpoint?.disabledReason != null)
    return `the endpoint was disabled: ${endpoint.disabledReason}`
  return 'the endpoint was removed or switched off'
}
