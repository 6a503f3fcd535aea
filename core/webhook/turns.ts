/**
 * Lets one go on in each turn of the event loop. Where payments keep the process busy a turn is long,
 * and notifications take their share of it without taking the payments'; where nothing else is to do, a turn
 * takes no time.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []

  next(): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push(go)
      if (this.#waiting.length === 1) setImmediate(this.#one)
    })
  }

  readonly #one = (): void => {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) setImmediate(this.#one)
  }
}
