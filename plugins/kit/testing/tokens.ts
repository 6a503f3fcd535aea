import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { Sensitive } from '../sensitive.ts'

type Load = () => Promise<{ value: Sensitive; expiresInMs: number }>

/** The access tokens of one case, kept as an engine keeps them; none gets too old, because a case is short. */
export class Tokens {
  readonly #known = new Map<string, Sensitive>()
  readonly #loading = new Map<string, Promise<Sensitive>>()

  /** @param key the name with everything that the token was made of: other credentials get another token */
  async get(key: string, load: Load): Promise<Sensitive> {
    const known = this.#known.get(key) ?? this.#loading.get(key)
    if (known !== undefined) return known
    const loading = load()
      .then(({ value, expiresInMs }) => {
        assert.ok(expiresInMs > 0, 'expiresInMs of a token is a time above 0')
        this.#known.set(key, value)
        return value
      })
      .finally(() => this.#loading.delete(key))
    this.#loading.set(key, loading)
    return loading
  }

  drop(key: string, refused: Sensitive): void {
    if (this.#known.get(key)?.reveal() === refused.reveal()) this.#known.delete(key)
  }

  /** The acquirer forgets all tokens: each becomes one of the same form that it never gave. */
  forget(): void {
    for (const [key, token] of this.#known) {
      const other = String(token.reveal()).replace(/[A-Za-z0-9]/g, () => randomInt(16).toString(16))
      this.#known.set(key, new Sensitive(other))
    }
  }
}
