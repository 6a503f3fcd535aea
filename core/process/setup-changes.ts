/** Limits a token's changes of the configuration, since every change adds a permanent audit row. */
import { limits } from '@tollgate/schemas'
import type { Caller } from '../caller/caller.ts'
import type { Clock } from '../clock.ts'
import { GatewayError } from '../errors.ts'

export class SetupChanges {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  /** In the order of their beginnings. */
  readonly #windows = new Map<string, { readonly beginMs: number; changes: number }>()

  constructor(clock: Pick<Clock, 'elapsedMs'>) {
    this.#clock = clock
  }

  /** Counts the next change of a token. @throws GatewayError 429 when the token has used up its changes. */
  count({ id, entityId }: Caller): void {
    // The embedding program is trusted, and is one caller for all its users.
    if (entityId === null) return
    const nowMs = this.#clock.elapsedMs()
    this.#forget(nowMs)
    const window = this.#windows.get(id)
    if (window === undefined) {
      this.#windows.set(id, { beginMs: nowMs, changes: 1 })
    } else if (window.changes < limits.setupChangesPerToken) {
      window.changes += 1
    } else {
      throw new GatewayError('800.120.100', {
        status: 429,
        description: `this access token changed its set-up ${limits.setupChangesPerToken} times lately`,
        retryAfterSeconds: Math.ceil((window.beginMs + limits.setupChangesMs - nowMs) / 1000),
      })
    }
  }

  #forget(nowMs: number): void {
    for (const [id, { beginMs }] of this.#windows) {
      if (nowMs - beginMs < limits.setupChangesMs) return
      this.#windows.delete(id)
    }
  }
}
