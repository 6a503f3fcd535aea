/**
 * How many different card numbers with the same first six and last four digits came lately by one token
 * and on one channel. Whoever tries candidates for a number of which he knows these ten digits sends
 * many of them; shops hardly ever see a handful. In memory, and numbers only as keyed hashes.
 */
import { createSecretKey } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import { mac, newKeyBytes } from './cipher.ts'

/** Numbers by their hash, with when each came last. */
type Seen = Map<string, number>

export type Threshold = { readonly most: number; readonly windowMs: number }

export class DistinctNumbers {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  /** Of this process alone: what is kept here means nothing anywhere else. */
  readonly #key = createSecretKey(newKeyBytes())
  /** Nearly all come with one number. Apart, so that they do not crowd out the others. */
  readonly #once = new Map<string, { readonly hash: string; readonly atMs: number }>()
  readonly #several = new Map<string, Seen>()

  constructor(clock: Pick<Clock, 'elapsedMs'>) {
    this.#clock = clock
  }

  /** Digits and token or channel that are remembered. */
  get size(): number {
    return this.#once.size + this.#several.size
  }

  /**
   * Counts a number for each of these tokens and channels, unless one of them has come with as many
   * different ones as it may.
   *
   * @returns after how many milliseconds there is room for another one; 0: it was counted.
   */
  count(scopes: readonly string[], number: string, { most, windowMs }: Threshold): number {
    const nowMs = this.#clock.elapsedMs()
    const hash = mac(this.#key, number).toString('base64', 0, 12)
    const keys = scopes.map((scope) => `${scope} ${number.slice(0, 6)}${number.slice(-4)}`)
    const waits = keys.map((key) => this.#wait(key, hash, nowMs, most, windowMs))
    const longest = Math.max(0, ...waits)
    if (longest === 0) for (const key of keys) this.#note(key, hash, nowMs)
    return longest
  }

  #wait(key: string, hash: string, nowMs: number, most: number, windowMs: number): number {
    const once = this.#once.get(key)
    const sinceMs = nowMs - windowMs
    if (once !== undefined) {
      if (once.atMs <= sinceMs) this.#once.delete(key)
      else return once.hash === hash || most > 1 ? 0 : once.atMs - sinceMs
    }
    const seen = this.#several.get(key)
    if (seen === undefined) return 0
    // In the order in which they came last: the first ones are the oldest.
    for (const [known, atMs] of seen) {
      if (atMs > sinceMs) break
      seen.delete(known)
    }
    if (seen.has(hash) || seen.size < most) return 0
    const [oldest = nowMs] = seen.values()
    return oldest - sinceMs
  }

  #note(key: string, hash: string, nowMs: number): void {
    const once = this.#once.get(key)
    const seen = this.#several.get(key) ?? new Map<string, number>()
    if (once !== undefined && once.hash !== hash) seen.set(once.hash, once.atMs)
    this.#once.delete(key)
    this.#several.delete(key)
    seen.delete(hash)
    seen.set(hash, nowMs)
    if (seen.size > 1) keep(this.#several, key, seen, limits.distinctSeveral)
    else keep(this.#once, key, { hash, atMs: nowMs }, limits.distinctOnce)
  }
}

/** Adds an entry as the youngest; the oldest gives way. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  if (map.size >= most) {
    const [oldest] = map.keys()
    map.delete(oldest!)
  }
  map.set(key, value)
}
