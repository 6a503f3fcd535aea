/**
 * Counts recent card numbers with the same first six and last four digits, by token and by channel.
 * An attacker who guesses the digits between sends many such numbers; shops hardly ever see a
 * handful. In memory, with numbers only as keyed hashes.
 *
 * At the limit, a number passes only for a sender that has used it before. If it passed for other
 * senders as well, the passing number would be a shopper's. Refusals count, too, so that an attacker
 * cannot try all candidates and see which one passes.
 */
import { createSecretKey } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import { mac, newKeyBytes } from '../crypto/cipher.ts'

/** Hash of a number -> time of its last request. */
type Seen = Map<string, number>

/** The first refusal, and their number. */
type Refusals = { readonly sinceMs: number; readonly count: number }

/** After this many attempts per accepted number, all numbers are refused, also known ones. */
const triesPerNumber = 3

export type Threshold = { readonly most: number; readonly windowMs: number }

export class DistinctNumbers {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  /** The key exists in this process only. */
  readonly #key = createSecretKey(newKeyBytes())
  /** Entries with a single number, nearly all. Separate, so that they do not displace the others. */
  readonly #once = new Map<string, { readonly hash: string; readonly atMs: number }>()
  readonly #several = new Map<string, Seen>()
  readonly #refused = new Map<string, Refusals>()

  constructor(clock: Pick<Clock, 'elapsedMs'>) {
    this.#clock = clock
  }

  /** Digits and token or channel that are remembered. */
  get size(): number {
    return this.#once.size + this.#several.size + this.#refused.size
  }

  /**
   * Counts a number for each of these scopes, unless one of them has reached its limit of different
   * numbers.
   *
   * @param scopes the sender comes last: its token, or the channel without one.
   * @returns the milliseconds until the next try; 0: counted.
   */
  count(scopes: readonly string[], number: string, threshold: Threshold): number {
    const nowMs = this.#clock.elapsedMs()
    const hash = mac(this.#key, number).toString('base64', 0, 12)
    const keys = scopes.map((scope) => `${scope} ${number.slice(0, 6)}${number.slice(-4)}`)
    const sender = keys.at(-1)!
    const sinceMs = nowMs - threshold.windowMs
    const waits = keys.map((key) => this.#wait(key, sinceMs, threshold.most))
    const isKnown = this.#once.get(sender)?.hash === hash || this.#several.get(sender)?.has(hash)
    const tooManyMs = this.#waitAfterRefusals(sender, sinceMs, threshold.most)
    const waitMs = Math.max(tooManyMs, isKnown === true ? 0 : Math.max(...waits))
    if (waitMs > 0) this.#refuse(sender, nowMs)
    else for (const key of keys) this.#note(key, hash, nowMs)
    return waitMs
  }

  /** Drops numbers past the window. Returns the time until another number fits; 0: now. */
  #wait(key: string, sinceMs: number, most: number): number {
    const once = this.#once.get(key)
    if (once !== undefined) {
      if (once.atMs <= sinceMs) this.#once.delete(key)
      else return most > 1 ? 0 : once.atMs - sinceMs
    }
    const seen = this.#several.get(key)
    if (seen === undefined) return 0
    // In the order in which they came last: the first ones are the oldest.
    for (const [known, atMs] of seen) {
      if (atMs > sinceMs) break
      seen.delete(known)
    }
    const [oldest] = seen.values()
    return oldest === undefined || seen.size < most ? 0 : oldest - sinceMs
  }

  #waitAfterRefusals(sender: string, sinceMs: number, most: number): number {
    const refusals = this.#refused.get(sender)
    if (refusals === undefined) return 0
    if (refusals.sinceMs <= sinceMs) this.#refused.delete(sender)
    else if (refusals.count >= most * (triesPerNumber - 1)) return refusals.sinceMs - sinceMs
    return 0
  }

  #refuse(sender: string, nowMs: number): void {
    const { sinceMs, count } = this.#refused.get(sender) ?? { sinceMs: nowMs, count: 0 }
    this.#refused.delete(sender)
    keep(this.#refused, sender, { sinceMs, count: count + 1 }, limits.distinctSeveral)
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
