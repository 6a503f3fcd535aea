/**
 * Stored events get their turn: those about one operation in order of arrival, others independently
 * of each other. One that waits or fails is looked at again after a growing pause; one that failed too
 * often is put aside for operators. Safe to run twice and anywhere: a taken event is moved on, and what
 * is worked on asks before it acts.
 */
import { limits } from '@tollgate/schemas'
import { neverReached, outcomeUnknown, sqlState } from '../db/database.ts'
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

/** Works on what is due about one operation, one event after the other. */
export async function workOnKey(
  engine: Engine,
  connector: string,
  account: string,
  key: string,
): Promise<void> {
  for (;;) {
    const [row] = await engine.lanes.single(takeNext(connector, account, key, limits.eventTurnMs))
    if (row === undefined) return
    await workOn(engine, row)
  }
}

/** Works on what is due of all acquirers; what came free by that gets its turn as well. */
export async function workOnDue(engine: Engine): Promise<void> {
  for (let left: number = limits.timersPerClaim; left > 0; ) {
    const rows = await engine.lanes.single(
      takeDue(Math.min(left, limits.eventsAtOnce), limits.eventTurnMs),
    )
    if (rows.length === 0) return
    left -= rows.length
    await Promise.all(rows.map((row) => workOn(engine, row)))
  }
}

/** Never throws because of an event: what is wrong with one is no reason to leave others. */
async function workOn(engine: Engine, row: InboundRow): Promise<void> {
  try {
    await processEvent(engine, row)
  } catch (error) {
    // A database that is away is no fault of the event: it is taken for a while only, and comes back.
    if (neverReached(error) || (sqlState(error) !== undefined && outcomeUnknown(error))) return
    await failed(engine, row, nameOf(error)).catch((unwritten: unknown) => {
      // It is taken for a while only: it comes back.
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
  // Whatever proves nothing may come from anybody: it fills no list.
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

/** What may be told about an error: never its message. */
function nameOf(error: unknown): string {
  const name = error instanceof Error ? error.name : typeof error
  return /^\w{1,100}$/.test(name) ? name : 'error'
}
