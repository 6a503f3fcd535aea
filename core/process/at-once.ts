/** Limits work under way in one process by names, such as a person or an account. */
import { GatewayError } from '../errors.ts'

export class AtOnce {
  readonly #underWay = new Map<string, number>()
  readonly #why: string

  /** @param why Completes the sentence of a refusal. */
  constructor(why: string) {
    this.#why = why
  }

  /**
   * @param counted Each name with its limit.
   * @throws GatewayError 429 when the limit of a name is reached.
   */
  async run<T>(
    counted: readonly (readonly [name: string, most: number])[],
    work: () => Promise<T>,
  ): Promise<T> {
    if (counted.some(([name, most]) => (this.#underWay.get(name) ?? 0) >= most)) {
      throw new GatewayError('800.120.100', {
        status: 429,
        retryAfterSeconds: 1,
        description: `too many requests, try again later: ${this.#why}`,
      })
    }
    for (const [name] of counted) this.#count(name, 1)
    try {
      return await work()
    } finally {
      for (const [name] of counted) this.#count(name, -1)
    }
  }

  #count(name: string, by: number): void {
    const count = (this.#underWay.get(name) ?? 0) + by
    if (count > 0) this.#underWay.set(name, count)
    else this.#underWay.delete(name)
  }
}
