import { GatewayError } from '@tollgate/core'
import { type Endpoint, limits } from '@tollgate/schemas'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

export type ThrottleOptions = {
  /** Requests that change something, per token and second. */
  readonly writesPerSecond: number
  readonly readsPerSecond: number
}

/** The rates are far above normal use, so that only a faulty client reaches them. */
export const defaultThrottle: ThrottleOptions = {
  writesPerSecond: 10_000,
  readsPerSecond: 20_000,
}

/** The refused requests of strangers in the last minute, by address: a refusal costs more than its request. */
export class Refusals {
  readonly #ofAddress = new RateLimiterMemory({ points: limits.officeRefusals, duration: 60 })

  /** @throws GatewayError 429 */
  async refuseBeyond(network: string): Promise<void> {
    const counted = await this.#ofAddress.get(network)
    if (counted === null || counted.consumedPoints < limits.officeRefusals) return
    throw new GatewayError('800.120.100', {
      status: 429,
      retryAfterSeconds: Math.max(1, Math.ceil(counted.msBeforeNext / 1000)),
    })
  }

  async count(network: string): Promise<void> {
    await this.#ofAddress.penalty(network, 1)
  }
}

/**
 * Limits of this process, by token and class of operation; without a token, by the client's
 * address.
 */
export class Throttle {
  readonly #classes: Readonly<Record<'write' | 'read', RateLimiterMemory>>

  constructor(options: ThrottleOptions) {
    this.#classes = {
      write: new RateLimiterMemory({ points: options.writesPerSecond, duration: 1 }),
      read: new RateLimiterMemory({ points: options.readsPerSecond, duration: 1 }),
    }
  }

  /** @throws GatewayError 429 with the seconds to wait. */
  async admit(kind: Endpoint['throttle'], key: string): Promise<void> {
    if (kind === 'none') return
    try {
      await this.#classes[kind].consume(key)
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal
      throw new GatewayError('800.120.100', {
        status: 429,
        retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)),
      })
    }
  }
}
