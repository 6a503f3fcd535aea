/** Everything that shoppers, their merchants and the page of the shop were told, one line each. */
import { closeSync, openSync, writeSync } from 'node:fs'

export type Told = {
  readonly checkout: string
  /**
   * `press`: an answer to the pay button. `again`: the same press after all is quiet. `end`: the
   * state after all is quiet. `result`: what the merchant read. `call`: a call of the shop's page.
   */
  readonly what: 'press' | 'again' | 'end' | 'result' | 'call'
  readonly nonce?: string
  readonly atMs: number
  /** Absent when no answer arrived. */
  readonly status?: number
  /** Of the checkout, or the result code of the payment that the merchant read. */
  readonly state?: string
  /** The payment that the merchant read, or the id of a call. */
  readonly about?: string
}

/** Columns of a line, as in the checker's table. */
export const shopperColumns =
  'checkout text, what text, nonce text, at_ms bigint, status integer, state text, about text'

export class ShopperHistory {
  readonly path: string
  readonly #file: number

  constructor(path: string) {
    this.path = path
    // The database server reads the file as another user.
    this.#file = openSync(path, 'w', 0o644)
  }

  add({ checkout, what, nonce, atMs, status, state, about }: Told): void {
    const values = [checkout, what, nonce, Math.floor(atMs), status, state, about]
    const line = values.map((value) => (value === undefined || value === '' ? '\\N' : value))
    writeSync(this.#file, `${line.join('\t')}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}
