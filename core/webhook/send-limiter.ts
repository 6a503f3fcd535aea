/** The most messages in one turn of the event loop. */
const perTurn = 3

/**
 * Limits the messages in each turn of the event loop. When payments keep the process busy, turns
 * are long and notifications get only a share; in an idle process a turn takes no time.
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
