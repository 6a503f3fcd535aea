import type { Engine } from '../engine.ts'
import { type Brought, comeBack, type Onward } from './come-back.ts'

/** Shoppers who were sent away to pay. */
export class Shoppers {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * Asks the acquirer about the payment of a shopper who came back, and says where the shopper goes.
   *
   * @param token of the address that the shopper was sent away with
   * @returns undefined when there is no such payment, or the token is not its own.
   */
  readonly cameBack = (
    paymentId: string,
    token: string,
    brought: Brought,
  ): Promise<Onward | undefined> =>
    this.#engine.inFlight.track(comeBack(this.#engine, paymentId, token, brought))
}
