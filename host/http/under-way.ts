import type { HttpAnswer } from './exchange.ts'

/** Requests that were not answered yet. */
export class UnderWay {
  readonly #requests = new Map<HttpAnswer, string>()
  readonly #waiting: (() => void)[] = []

  begin(response: HttpAnswer, requestId: string): void {
    this.#requests.set(response, requestId)
  }

  end(response: HttpAnswer): void {
    this.#requests.delete(response)
    if (this.#requests.size > 0) return
    for (const goOn of this.#waiting.splice(0)) goOn()
  }

  /** Resolves when no request is under way. */
  quiet(): Promise<void> {
    if (this.#requests.size === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  /**
   * Responses under way now and still after a time: their handlers are gone. Later responses do not
   * count.
   */
  forgotten(afterMs: number, answer: (response: HttpAnswer, requestId: string) => void): void {
    const now = [...this.#requests]
    if (now.length === 0) return
    const timer = setTimeout(() => {
      for (const [response, requestId] of now) {
        if (this.#requests.get(response) !== requestId) continue
        this.end(response)
        answer(response, requestId)
      }
    }, afterMs)
    timer.unref()
  }
}
