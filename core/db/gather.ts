import type { Clock } from '../clock.ts'

/** Maximum number of queries in one statement. */
const atOnce = 200

/**
 * Combines concurrent queries into one statement. Under load, the queries of the next `everyMs` share a
 * statement: a further query costs less than a further statement.
 */
export class Gather<Key, Value> {
  readonly #everyMs: number
  readonly #clock: Pick<Clock, 'elapsedMs'>
  #startedMs = Number.NEGATIVE_INFINITY
  readonly #answer: (keys: readonly Key[]) => Promise<readonly Value[]>
  readonly #waiting: {
    key: Key
    done: (value: Value) => void
    failed: (error: unknown) => void
  }[] = []

  /** @param answer Returns a value for each key, in the order of the keys. */
  constructor(
    answer: (keys: readonly Key[]) => Promise<readonly Value[]>,
    everyMs: number,
    clock: Pick<Clock, 'elapsedMs'>,
  ) {
    this.#answer = answer
    this.#everyMs = everyMs
    this.#clock = clock
  }

  ask(key: Key): Promise<Value> {
    return new Promise((done, failed) => {
      this.#waiting.push({ key, done, failed })
      if (this.#waiting.length === 1) this.#start()
      else if (this.#waiting.length === atOnce) void this.#run()
    })
  }

  #start(): void {
    const leftMs = this.#startedMs + this.#everyMs - this.#clock.elapsedMs()
    if (leftMs > 0) setTimeout(() => void this.#run(), leftMs)
    else setImmediate(() => void this.#run())
  }

  async #run(): Promise<void> {
    const asked = this.#waiting.splice(0, atOnce)
    if (asked.length === 0) return
    this.#startedMs = this.#clock.elapsedMs()
    if (this.#waiting.length > 0) this.#start()
    try {
      const values = await this.#answer(asked.map(({ key }) => key))
      for (const [index, { done }] of asked.entries()) done(values[index]!)
    } catch (error) {
      for (const { failed } of asked) failed(error)
    }
  }
}
