/** How many test notifications may be on their way: each holds a connection to a stranger for long. */
import { limits } from '@tollgate/schemas'
import type { Caller } from '../caller/caller.ts'
import { GatewayError } from '../errors.ts'

export class WebhookTestSlots {
  readonly #endpoints = new Set<string>()
  readonly #tokens = new Map<string, number>()

  /**
   * Carries out `work` if there is room for it.
   *
   * @throws GatewayError 429 while another test of this endpoint runs, or as many of this token as may.
   */
  async within<T>(caller: Caller, endpointId: string, work: () => Promise<T>): Promise<T> {
    if (this.#endpoints.has(endpointId)) {
      throw refused('a test of this webhook endpoint is still running: wait for its answer')
    }
    const running = this.#tokens.get(caller.id) ?? 0
    // The embedding program is trusted, and is one caller for all its users.
    if (caller.entityId !== null && running >= limits.webhookTestsPerToken) {
      throw refused(
        `${limits.webhookTestsPerToken} tests of this access token are still running: wait for an answer`,
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
