/**
 * Works on stored events: those about one operation in order of arrival, others independently. An
 * event that waits or fails is retried after a growing pause; after too many failures it is put
 * aside for operators. Safe to run twice and anywhere: taking an event moves its due time, and
 * every treatment checks before it acts.
 */
import { limits } from '@tollgate/schemas'
import { isUnavailable } from '../db/failures.ts'
import { tellFailure } from '../db/tell-failure.ts'
import type { Engine } from '../engine.ts'
import { entryAbout } from './list.ts'
import { processEvent } from './process.ts'
import {
  failEvent,
  type InboundRow,
  postponeEvent,
  quarantineEvent,
  takeDue,
  takeNext,
} from './store.ts'

/** Works on the due events about one operation, one after the other, at all accounts of the merchant. */
export async function workOnKey(
  engine: Engine,
  connector: string,
  account: string,
  key: string,
): Promise<void> {
  while (!engine.inFlight.closing) {
    const [row] = await engine.lanes.single(takeNext(connector, account, key, limits.eventTurnMs))
    if (row === undefined) return
    await workOn(engine, row)
  }
}

/**
 * Works on the due events of all acquirers, many at once. An acquirer that answers slowly holds only its own share of
 * the places. A process that ends leaves the rest to others.
 */
export class EventTurns {
  readonly #engine: Engine
  /** Events under work by connector. */
  readonly #underWork = new Map<string, number>()
  #isFilling = false
  #mayFindMore = false

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Takes due events into free places; the end of each event fills its place again. */
  async fill(): Promise<void> {
    this.#mayFindMore = true
    if (!this.#isFilling) await this.#tracked(this.#take())
  }

  async #take(): Promise<void> {
    const { inFlight, lanes } = this.#engine
    this.#isFilling = true
    try {
      while (this.#mayFindMore && !inFlight.closing) {
        this.#mayFindMore = false
        const { limit, full } = this.#room()
        if (limit === 0) return
        for (const row of await lanes.single(takeDue(limit, limits.eventTurnMs, full))) {
          this.#mayFindMore = true
          this.#count(row, 1)
          void this.#begin(row)
        }
      }
    } finally {
      // In the same step as the last look at the flag: a place that becomes free later is filled anew.
      this.#isFilling = false
    }
  }

  async #begin(row: InboundRow): Promise<void> {
    await this.#tracked(workOn(this.#engine, row))
    this.#count(row, -1)
    await this.fill()
  }

  #tracked(work: Promise<void>): Promise<void> {
    const { inFlight, log } = this.#engine
    return inFlight.track(work).catch((error: unknown) => tellFailure(log, error, notWorkedOn))
  }

  #count({ connector }: InboundRow, change: 1 | -1): void {
    this.#underWork.set(connector, (this.#underWork.get(connector) ?? 0) + change)
  }

  /** The number of events to take now, and the connectors that have all their places. */
  #room(): { readonly limit: number; readonly full: readonly string[] } {
    let free: number = limits.eventsAtOnce
    let ofOne: number = limits.eventsOfOneConnector
    const full: string[] = []
    for (const [connector, count] of this.#underWork) {
      free -= count
      const left = limits.eventsOfOneConnector - count
      if (left === 0) full.push(connector)
      else ofOne = Math.min(ofOne, left)
    }
    return { limit: Math.min(free, ofOne), full }
  }
}

const notWorkedOn = 'acquirers’ events could not be worked on'

/** Never throws because of an event, so that one faulty event does not stop the others. */
async function workOn(engine: Engine, row: InboundRow): Promise<void> {
  try {
    await processEvent(engine, row)
  } catch (error) {
    // A database outage is not the event's fault: the event comes back after a while.
    if (isUnavailable(error)) return
    await failed(engine, row, nameOf(error)).catch((unwritten: unknown) => {
      // The event comes back after a while.
      const { connector, event_id } = row
      engine.log.warn(
        { connector, event: event_id, error: nameOf(unwritten) },
        'the failure of an event could not be written',
      )
    })
    return
  }
  const { min, max } = limits.eventWaitMs
  await engine.lanes.single(postponeEvent(row, Math.min(Math.round(min * 1.5 ** row.waits), max)))
}

async function failed(engine: Engine, row: InboundRow, error: string): Promise<void> {
  const { connector, account, event_id, claim, tries } = row
  engine.log.warn(
    { connector, account, event: event_id, error },
    'an event of an acquirer could not be worked on',
  )
  const pauseMs = limits.eventRetryMs[tries]
  if (pauseMs !== undefined) {
    await engine.lanes.single(failEvent(row, pauseMs))
    return
  }
  // Anybody may send unverified messages, so these fill no list.
  const about = { connector, account, eventId: event_id, key: claim.key }
  const entry = claim.verified
    ? [
        await entryAbout(engine, 'event', about, {
          why: `it could not be worked on, ${tries + 1} times`,
          error,
          said: claim.outcome.is,
          minor: claim.minor,
          currency: claim.currency,
        }),
      ]
    : []
  await engine.lanes.together(quarantineEvent(row), entry)
}

/** The class name of an error; its message may contain secrets. */
function nameOf(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error
  return /^\w{1,100}$/.test(name) ? name : 'error'
}
