import type { ServerResponse } from 'node:http'

/** Requests that were not answered yet. */
export class UnderWay {
  readonly #requests = new Map<ServerResponse, string>()

  begin(response: ServerResponse, requestId: string): void {
    this.#requests.set(response, requestId)
  }

  end(response: ServerResponse): void {
    this.#requests.delete(response)
  }

  /**
   * Those that are under way now and still are after a time: whoever should have answered them is gone.
   * What came later is not among them.
   */
  forgotten(afterMs: number, answer: (response: ServerResponse, requestId: string) => void): void {
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
