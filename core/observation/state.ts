/** The present state of a process and of its database, for exporters. */
import type { ProcessState, SharedState } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { idTimeMs } from '../ids.ts'
import type { Queue } from '../queue/queue.ts'
import { openByKind, waitingNotifications } from './store.ts'

export class EngineState {
  readonly #engine: Engine
  readonly #queue: Queue
  #shared: Promise<SharedState> | undefined
  #readMs = Number.NEGATIVE_INFINITY

  constructor(engine: Engine, queue: Queue) {
    this.#engine = engine
    this.#queue = queue
  }

  /** Needs no database. */
  process(): ProcessState {
    const { lanes, inFlight } = this.#engine
    return {
      pools: lanes.database.poolStates(),
      rowsWaiting: lanes.waiting,
      underWay: inFlight.count,
      calls: Object.fromEntries(inFlight.byConnector),
    }
  }

  /** Asks the database at most once in five seconds, however often others ask here. @throws its error */
  shared(): Promise<SharedState> {
    const nowMs = this.#engine.clock.elapsedMs()
    if (this.#shared !== undefined && nowMs - this.#readMs < limits.observationMs) {
      return this.#shared
    }
    this.#readMs = nowMs
    const reading = this.#read()
    this.#shared = reading
    reading.catch(() => {
      if (this.#shared === reading) this.#shared = undefined
    })
    return reading
  }

  async #read(): Promise<SharedState> {
    const { lanes } = this.#engine
    const most = limits.observedRows
    const [jobs, [found], attention] = await Promise.all([
      this.#queue.counts(),
      lanes.read(waitingNotifications(most)),
      lanes.read(openByKind(most)),
    ])
    const { now, unclaimed, first_event: first, waiting, oldest } = found!
    const since = [
      ...(first === null ? [] : [idTimeMs(first)]),
      ...(oldest === null ? [] : [oldest.getTime()]),
    ]
    const oldestMs = since.length === 0 ? 0 : now.getTime() - Math.min(...since)
    return {
      most,
      jobs,
      notifications: { unclaimed, waiting, oldestSeconds: Math.max(0, oldestMs / 1000) },
      attention: attention.map(({ kind, open, oldest_seconds: oldestSeconds }) => ({
        ...{ kind, open },
        oldestSeconds: Math.max(0, oldestSeconds),
      })),
    }
  }
}
