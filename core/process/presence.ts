/** Records that a process runs, and its version, so that a breaking migration refuses to run meanwhile. */
import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import { keepIdsNear, newId } from '../ids.ts'
import { beat, goodbye } from './store.ts'

export class Presence {
  readonly #lanes: Lanes
  readonly #id = newId()
  readonly #version: string
  readonly #role: string
  #timer: NodeJS.Timeout | undefined

  constructor(lanes: Lanes, version: string, role: string) {
    this.#lanes = lanes
    this.#version = version
    this.#role = role
  }

  async start(): Promise<void> {
    await this.#beat()
    this.#timer = setInterval(() => {
      // The next heartbeat replaces a failed one.
      this.#beat().catch(() => {})
    }, limits.heartbeatMs)
    this.#timer.unref()
  }

  async #beat(): Promise<void> {
    const [row] = await this.#lanes.single(beat(this.#id, this.#version, this.#role))
    keepIdsNear(row!.now.getTime())
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#lanes.single(goodbye(this.#id)).catch(() => {})
  }
}
