import { limits } from '@tollgate/schemas'

/**
 * Whether the database answers. One question at a time, however many probes ask: probes of a database
 * that hangs would otherwise take all connections of reads.
 */
export class Readiness {
  readonly #ping: () => Promise<void>
  #asking: Promise<boolean> | undefined

  constructor(ping: () => Promise<void>) {
    this.#ping = ping
  }

  /** False when there is no answer in time. */
  async ask(): Promise<boolean> {
    this.#asking ??= this.#ping()
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
