/** What a command says, for tests that wait for its words. */
export type Ran = { readonly code: number | null; readonly out: string; readonly err: string }

export type Running = {
  /** The output so far. */
  readonly text: { readonly out: string; readonly err: string }
  readonly ended: Promise<Ran>
  /** Resolves when standard output or error contains the pattern; rejects when the command ends first. */
  said(pattern: RegExp): Promise<void>
}

export class Heard {
  readonly text = { out: '', err: '' }
  readonly #waiting = new Set<() => void>()

  hear(stream: 'out' | 'err', chunk: Buffer | string): void {
    this.text[stream] += chunk.toString()
    for (const look of this.#waiting) look()
  }

  /** @param code The exit code, at the end. */
  running(code: Promise<number | null>): Running {
    const { text } = this
    const ended = code.then((ended) => ({ code: ended, ...text }))
    return { text, ended, said: (pattern) => this.#said(pattern, ended) }
  }

  #said(pattern: RegExp, ended: Promise<Ran>): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!pattern.test(this.text.out) && !pattern.test(this.text.err)) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      ended.then(({ code, out, err }) => {
        this.#waiting.delete(look)
        reject(new Error(`ended with ${code} before it said ${pattern}: ${out}${err}`))
      }, reject)
      look()
    })
  }
}
