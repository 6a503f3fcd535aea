/** npm repeats the terminal's Ctrl-C to its child, and both arrive: one press is one signal. */
const sameSignalMs = 500
const parentLookMs = 500
/** What a shell reports of a process that a second Ctrl-C ended. */
const forcedCode = 130

/** The first signal tells the command to end in order, and the second one ends the process. */
export class EndSignals {
  readonly #own: NodeJS.Process
  readonly #ending = new AbortController()
  #isListening = false
  #firstMs: number | undefined

  constructor(own: NodeJS.Process) {
    this.#own = own
  }

  /** Signals are heard from the first look at it. */
  get signal(): AbortSignal {
    if (!this.#isListening) this.#listen()
    return this.#ending.signal
  }

  hear(why: string): void {
    if (this.#firstMs === undefined) {
      this.#firstMs = performance.now()
      this.#ending.abort(why)
    } else if (performance.now() - this.#firstMs > sameSignalMs) this.#own.exit(forcedCode)
  }

  #listen(): void {
    this.#isListening = true
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      this.#own.on(signal, (name) => this.hear(name))
    }
    // npm tells the shell between us, which ends without a word: that is seen by whose child we are.
    if (this.#own.env.npm_lifecycle_event === undefined) return
    const parent = this.#own.ppid
    const look = setInterval(() => {
      if (this.#own.ppid === parent) return
      clearInterval(look)
      this.hear('end of npm')
    }, parentLookMs)
    look.unref()
  }
}
