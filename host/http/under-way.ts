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
   * Responses under way now and still after a time: their handlers are gone. Later responses do not
   * count.
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
