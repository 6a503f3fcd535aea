import { GatewayError } from '@tollgate/core'
import { limits } from '@tollgate/schemas'

/**
 * The rights of a caller who waits for an answer: a token may end while its request is under way, and
 * what happens afterwards is not for its eyes.
 */
export class WaitingCaller {
  readonly #login: () => Promise<unknown>
  #askedMs = performance.now()
  #refusal: GatewayError | undefined

  /** @param login throws when the caller's rights have ended. */
  constructor(login: () => Promise<unknown>) {
    this.#login = login
  }

  /** True once the rights are known to have ended. Asked several times a second while somebody waits. */
  hasNoRight(): boolean {
    if (this.#refusal === undefined && this.#isDue()) void this.#look()
    return this.#refusal !== undefined
  }

  /** Before the answer to a request that took long is given. @throws GatewayError 401, 403 */
  async mayStillRead(): Promise<void> {
    if (this.#refusal === undefined && this.#isDue()) await this.#look()
    if (this.#refusal !== undefined) throw this.#refusal
  }

  #isDue(): boolean {
    return performance.now() - this.#askedMs >= limits.waitingTokenMs
  }

  async #look(): Promise<void> {
    this.#askedMs = performance.now()
    try {
      await this.#login()
    } catch (error) {
      // A failed check ends nobody's rights.
      const isEnded =
        error instanceof GatewayError && (error.status === 401 || error.status === 403)
      if (isEnded) this.#refusal = error
    }
  }
}
