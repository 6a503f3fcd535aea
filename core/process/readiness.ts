import { limits } from '@tollgate/schemas'

/**
 * Whether the database takes writes. One question at a time, however many probes ask: a server whose commits
 * wait for a lost standby keeps the connection of each write, and would run out of connections.
 */
export class Readiness {
  readonly #write: () => Promise<unknown>
  #asking: Promise<boolean> | undefined

  /** @param write Resolves once a small write is committed. */
  constructor(write: () => Promise<unknown>) {
    this.#write = write
  }

  /** False when there is no answer in time. */
  async ask(): Promise<boolean> {
    this.#asking ??= this.#write()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        this.#asking = undefined
      })
    const late = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => late.resolve(false), limits.readinessMs)
    try {
      return await Promise.race([this.#asking, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}
