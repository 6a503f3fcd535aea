import { GatewayError } from '@tollgate/core'
import { limits } from '@tollgate/schemas'

/** A caller may begin for so long after the check of the token. */
const beginsWithinMs = 1_000

/**
 * Checks the rights of a waiting caller: a token may end during its request, and the caller must
 * not see later results.
 */
export class WaitingCaller {
  readonly #login: () => Promise<unknown>
  #askedMs = performance.now()
  #refusal: GatewayError | undefined

  /** @param login throws when the caller's rights have ended. */
  constructor(login: () => Promise<unknown>) {
    this.#login = login
  }

  /**
   * Before the work, since a body takes as long as its sender likes, and a read waits for answers
   * before it. Checks nothing if neither took long.
   *
   * @throws as the login.
   */
  async mayBegin(): Promise<void> {
    if (performance.now() - this.#askedMs < beginsWithinMs) return
    this.#askedMs = performance.now()
    await this.#login()
  }

  /** True once the rights have ended. Called several times a second during a wait. */
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
      // A failed check ends no rights.
      const isEnded =
        error instanceof GatewayError && (error.status === 401 || error.status === 403)
      if (isEnded) this.#refusal = error
    }
  }
}
