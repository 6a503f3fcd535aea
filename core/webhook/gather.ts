/** Questions in one statement, at most. */
const atOnce = 100

/** Turns many questions of one moment into one. */
export class Gather<Key, Value> {
  readonly #answer: (keys: readonly Key[]) => Promise<readonly Value[]>
  readonly #waiting: {
    key: Key
    done: (value: Value) => void
    failed: (error: unknown) => void
  }[] = []

  /** @param answer gives a value for each key, in their order. */
  constructor(answer: (keys: readonly Key[]) => Promise<readonly Value[]>) {
    this.#answer = answer
  }

  ask(key: Key): Promise<Value> {
    return new Promise((done, failed) => {
      this.#waiting.push({ key, done, failed })
      if (this.#waiting.length === 1) setImmediate(() => void this.#run())
    })
  }

  async #run(): Promise<void> {
    const asked = this.#waiting.splice(0, atOnce)
    if (this.#waiting.length > 0) setImmediate(() => void this.#run())
    try {
      const values = await this.#answer(asked.map(({ key }) => key))
      for (const [index, { done }] of asked.entries()) done(values[index]!)
    } catch (error) {
      for (const { failed } of asked) failed(error)
    }
  }
}
