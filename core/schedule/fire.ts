/** Turns due times into executions, each exactly once. */
import { limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { decideDueTimes, type MisfirePolicy, type Missed } from './misfire.ts'
import { nextDueTime } from './plan.ts'
import { misfireOf } from './policy.ts'
import { toSchedule } from './store.ts'
import {
  boundTransaction,
  type DueRow,
  type Fired,
  lockDue,
  lockDueOfClock,
  writeFired,
} from './store-fire.ts'
import { stateThen } from './store-then.ts'
import { planOf } from './stored-plan.ts'

/** Executions of one merchant, to be charged by one job. */
export type Batch = { readonly merchantId: string; readonly occurrenceIds: readonly string[] }

/** Adds the jobs of fired executions in the same transaction. */
export type Hand = (client: Client, batches: readonly Batch[]) => Promise<void>

/**
 * Executions per job: enough to be worth a worker's half second of polling, few enough for other
 * jobs to take turns.
 */
const perBatch = 200

/**
 * Fires the due schedules of real time in batches: executions, their jobs and the next due times
 * commit together. Any number of processes may run this at once.
 */
export async function fireDue(engine: Engine, hand: Hand): Promise<void> {
  for (;;) {
    const claimed = await firing(engine, async (client) => {
      const rows = await engine.lanes.database.query(client, lockDue(limits.timersPerClaim))
      const settings = new Map<string, Readonly<Record<string, unknown>>>()
      for (const { channel_id } of rows) {
        if (!settings.has(channel_id)) {
          settings.set(channel_id, await engine.directory.settings(channel_id))
        }
      }
      const fired = new Firing()
      for (const row of rows) {
        fired.add(row, decided(engine, row, misfireOf(settings.get(row.channel_id)!)))
      }
      await hand(client, fired.batches(await fired.write(engine, client)))
      return rows.length
    })
    if (claimed < limits.timersPerClaim) return
  }
}

/**
 * Fires the due schedules of a test clock. Advancing the clock is no outage, so nothing is missed.
 */
export async function fireOfClock(engine: Engine, clockId: string, at: Date): Promise<void> {
  for (;;) {
    const claimed = await firing(engine, async (client) => {
      const statement = lockDueOfClock(clockId, at, limits.timersPerClaim)
      const rows = await engine.lanes.database.query(client, statement)
      // A schedule behind the clock is due again at once.
      let isDueAgain = false
      const fired = new Firing()
      for (const row of rows) {
        const dueTime = row.next_at!
        const nextAt = nextDueTime(planOf(toSchedule(row)), dueTime)
        isDueAgain ||= nextAt !== null && nextAt <= at
        fired.add(row, { charge: [dueTime], missed: [], nextAt })
      }
      await fired.write(engine, client)
      return isDueAgain ? limits.timersPerClaim : rows.length
    })
    if (claimed < limits.timersPerClaim) return
  }
}

async function firing(engine: Engine, work: (client: Client) => Promise<number>): Promise<number> {
  const { lanes } = engine
  await faultPoint('before-fire', engine.name)
  const claimed = await lanes.database.transaction(lanes.pools.single, async (client) => {
    await lanes.database.query(client, boundTransaction)
    const count = await work(client)
    await faultPoint('in-fire', engine.name)
    return count
  })
  await faultPoint('after-fire', engine.name)
  return claimed
}

/** An unreadable schedule, such as one whose zone no longer exists, must not stop the others. */
function decided(engine: Engine, row: DueRow, policy: MisfirePolicy): Decided {
  try {
    return decideDueTimes(planOf(toSchedule(row)), row.next_at!, row.now, policy)
  } catch (error) {
    const kind = error instanceof Error ? error.name : 'unknown'
    engine.log.warn({ schedule: row.id, error: kind }, 'a schedule cannot be read')
    return { charge: [], missed: [], nextAt: new Date(row.now.getTime() + unreadableMs) }
  }
}

/**
 * Pause before the next look at an unreadable schedule, whose due times until then are recorded as
 * missed.
 */
const unreadableMs = 3_600_000

type Decided = {
  readonly charge: readonly Date[]
  readonly missed: readonly Missed[]
  readonly nextAt: Date | null
}

/** The rows of a batch of schedules. */
class Firing {
  readonly #schedules: Fired['schedules'][number][] = []
  readonly #executions: Fired['executions'][number][] = []
  readonly #missed: Fired['missed'][number][] = []
  readonly #events: Fired['events'][number][] = []
  readonly #ended: Fired['ended'][number][] = []
  readonly #merchants = new Map<string, string>()

  add(row: DueRow, { charge, missed, nextAt }: Decided): void {
    let { seq } = row
    const then = stateThen({ ...toSchedule(row), nextAt })
    const tell = (type: string, data: object) => {
      seq += 1
      const { id: resource, channel_id } = row
      const told = { ...data, then }
      this.#events.push({ id: newId(), resource, seq, channel_id, type, data: told })
    }
    for (const at of charge) {
      const id = newId()
      this.#merchants.set(id, row.merchant_id)
      const { id: schedule_id, clock_id } = row
      this.#executions.push({ id, schedule_id, at: at.toISOString(), clock_id })
    }
    for (const { first, last, count } of missed) {
      const range = { first_at: first.toISOString(), last_at: last.toISOString(), count }
      this.#missed.push({ id: newId(), schedule_id: row.id, ...range })
      tell('schedule.missed', { from: range.first_at, to: range.last_at, count })
    }
    if (nextAt === null) this.#ended.push({ id: newId(), ref: row.id, clock_id: row.clock_id })
    this.#schedules.push({ id: row.id, next_at: nextAt?.toISOString() ?? null, seq })
  }

  /** @returns ids of the new occurrences. */
  async write(engine: Engine, client: Client): Promise<ReadonlySet<string>> {
    if (this.#schedules.length === 0) return new Set()
    const rows = await engine.lanes.database.query(
      client,
      writeFired({
        schedules: this.#schedules,
        executions: this.#executions,
        missed: this.#missed,
        events: this.#events,
        ended: this.#ended,
      }),
    )
    return new Set(rows.map(({ id }) => id))
  }

  batches(written: ReadonlySet<string>): Batch[] {
    const ids = this.#executions.map(({ id }) => id).filter((id) => written.has(id))
    return batchesOf(ids.map((id) => ({ id, merchantId: this.#merchants.get(id)! })))
  }
}

/** Batches of one merchant each. */
export function batchesOf(
  executions: readonly { readonly id: string; readonly merchantId: string }[],
): Batch[] {
  return [...Map.groupBy(executions, ({ merchantId }) => merchantId)].flatMap(
    ([merchantId, all]) => {
      const count = Math.ceil(all.length / perBatch)
      return Array.from({ length: count }, (_, no) => ({
        merchantId,
        occurrenceIds: all.slice(no * perBatch, (no + 1) * perBatch).map(({ id }) => id),
      }))
    },
  )
}
