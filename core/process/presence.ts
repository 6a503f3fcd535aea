/** Records that a process runs, and its version, so that a breaking migration refuses to run meanwhile. */
import { limits } from '@tollgate/schemas'
import { patience } from '../db/database.ts'
import type { Lanes } from '../db/lanes.ts'
import { keepIdsNear, newId } from '../ids.ts'
import { beat, goodbye } from './store.ts'

export class Presence {
  readonly #lanes: Lanes
  /** A connection of its own: a check of readiness waits for no payment, and holds none up. */
  readonly #pool: ReturnType<Lanes['database']['pool']>
  readonly #id = newId()
  readonly #version: string
  readonly #role: string
  #timer: NodeJS.Timeout | undefined

  constructor(lanes: Lanes, version: string, role: string) {
    this.#lanes = lanes
    this.#pool = lanes.database.pool(1, 'readiness')
    this.#version = version
    this.#role = role
  }

  async start(): Promise<void> {
    await this.#beat()
    // Its connection is open then, when the first probe asks.
    await this.writes().catch(() => {})
    this.#timer = setInterval(() => {
      // The next heartbeat replaces a failed one.
      this.#beat().catch(() => {})
    }, limits.heartbeatMs)
    this.#timer.unref()
  }

  /** Writes, as proof that the database takes writes. Rejects otherwise. */
  async writes(): Promise<void> {
    await this.#lanes.database.run(this.#pool, this.#statement(), patience(limits.flushBudgetMs))
  }

  #statement() {
    return beat(this.#id, this.#version, this.#role)
  }

  async #beat(): Promise<void> {
    const [row] = await this.#lanes.single(this.#statement())
    keepIdsNear(row!.now.getTime())
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#lanes.single(goodbye(this.#id)).catch(() => {})
  }
}
