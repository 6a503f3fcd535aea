/** Limits concurrent tests and replays of webhook endpoints and report destinations, which occupy a connection for long. */
import type { Caller } from '../caller/caller.ts'
import { GatewayError } from '../errors.ts'

export class WebhookSlots {
  readonly #noun: string
  readonly #perToken: number
  readonly #place: string
  readonly #endpoints = new Set<string>()
  readonly #tokens = new Map<string, number>()

  /** @param noun and @param place name the work in refusals. */
  constructor(noun: string, perToken: number, place = 'webhook endpoint') {
    this.#noun = noun
    this.#perToken = perToken
    this.#place = place
  }

  /**
   * Carries out `work` if there is room for it.
   *
   * @throws GatewayError 429 while an endpoint or a token has used up its room.
   */
  async within<T>(caller: Caller, endpointId: string, work: () => Promise<T>): Promise<T> {
    const noun = this.#noun
    if (this.#endpoints.has(endpointId)) {
      throw refused(`a ${noun} of this ${this.#place} is still running: wait for its answer`)
    }
    const running = this.#tokens.get(caller.id) ?? 0
    // The embedding program is trusted, and is one caller for all its users.
    if (caller.entityId !== null && running >= this.#perToken) {
      throw refused(
        `${this.#perToken} ${noun}s of this access token are still running: wait for an answer`,
      )
    }
    this.#endpoints.add(endpointId)
    this.#tokens.set(caller.id, running + 1)
    try {
      return await work()
    } finally {
      this.#endpoints.delete(endpointId)
      const left = this.#tokens.get(caller.id)! - 1
      if (left === 0) this.#tokens.delete(caller.id)
      else this.#tokens.set(caller.id, left)
    }
  }
}

const refused = (why: string) =>
  new GatewayError('800.120.100', { status: 429, description: why, retryAfterSeconds: 5 })
