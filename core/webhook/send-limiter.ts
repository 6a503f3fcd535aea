/** What goes on in one turn of the event loop, at most. */
const perTurn = 3

/**
 * Lets a few go on in each turn of the event loop. Where payments keep the process busy a turn is long,
 * and notifications take a share of it instead of all; where nothing else is to do, a turn takes no time.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []

  next(): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push(go)
      if (this.#waiting.length === 1) setImmediate(this.#some)
    })
  }

  readonly #some = (): void => {
    for (const go of this.#waiting.splice(0, perTurn)) go()
    if (this.#waiting.length > 0) setImmediate(this.#some)
  }
}
