import { GatewayError } from '@tollgate/core'
import { limits } from '@tollgate/schemas'

/** What a piece of a body costs beside its bytes: a client may send each byte as a piece of its own. */
const pieceBytes = 256
/** Bodies up to here are those of ordinary payments. Larger ones leave a quarter of all to them. */
const ordinaryBytes = 64 * 1024
const largeShare = 0.75

const full = new GatewayError('800.800.801', {
  status: 503,
  retryAfterSeconds: 1,
  description:
    'payment system is under maintenance: too much is being sent to this process at once, send the request again later',
})
const yoursFull = new GatewayError('800.120.100', {
  status: 429,
  retryAfterSeconds: 1,
  description: `too many requests, try again later: one client may have at most ${limits.clientBodiesBytes} bytes of requests under way`,
})

/**
 * Memory for the bodies of all requests under way. A client that opens many connections and stalls on
 * each of them is turned away by his own share, long before others notice.
 */
export class BodyBudget {
  #held = 0
  readonly #ofClient = new Map<string, number>()

  /** Bytes that are held now. */
  get held(): number {
    return this.#held
  }

  /** What one request of a client takes, to be let go when it was answered. */
  share(client: string): BodyShare {
    let own = 0
    return {
      take: (bytes) => {
        const cost = bytes + pieceBytes
        const ofClient = (this.#ofClient.get(client) ?? 0) + cost
        if (ofClient > limits.clientBodiesBytes) throw yoursFull
        const room = limits.bodiesBytes * (own + cost > ordinaryBytes ? largeShare : 1)
        if (this.#held + cost > room) throw full
        own += cost
        this.#held += cost
        this.#ofClient.set(client, ofClient)
      },
      letGo: () => {
        if (own === 0) return
        this.#held -= own
        const left = this.#ofClient.get(client)! - own
        if (left > 0) this.#ofClient.set(client, left)
        else this.#ofClient.delete(client)
        own = 0
      },
    }
  }
}

export type BodyShare = {
  /** @throws GatewayError 429 when the client holds too much, 503 when all do. */
  take(bytes: number): void
  letGo(): void
}
