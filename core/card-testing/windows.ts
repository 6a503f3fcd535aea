/**
 * Failures over sliding windows, in bounded memory. Pure: time is given. Each process counts its own
 * and learns what the others counted, as sums of a minute each: learning the same twice changes nothing.
 */
import { type Dimension, windowMs } from '../entity/card-testing-settings.ts'

/** What attempts at one merchant have in common. */
export type Key = {
  readonly merchantId: string
  readonly dimension: Dimension
  readonly value: string
}

export type Counted = {
  /** Failures that this process saw, and those that others saw. */
  readonly own: number
  readonly others: number
  /** Approvals that this process saw since the first failure. */
  readonly approved: number
}

/** What this process saw within one minute, for the others. */
export type Bucket = Key & { readonly at: number; readonly failures: number }

/** Beginning of a minute -> how many. */
type Buckets = Map<number, number>

type Entry = {
  readonly key: Key
  readonly own: Buckets
  readonly others: Buckets
  readonly approved: Buckets
}

const bucketMs = 60_000
/** Of those that nothing happened to for the longest time, so many are compared when one has to go. */
const compared = 8

export class Windows {
  /** By merchant, so that an attack on one pushes out nothing of another; in order of their last failures. */
  readonly #merchants = new Map<string, Map<string, Entry>>()
  readonly #lifted = new Map<string, number>()
  readonly #changed = new Map<Entry, Set<number>>()
  readonly #most: { readonly keys: number; readonly perMerchant: number }
  /** Which numbers were approved under a key -> when; the oldest give way. */
  readonly #approvedNumbers = new Map<string, number>()
  #size = 0

  constructor(most: { readonly keys: number; readonly perMerchant: number }) {
    this.#most = most
  }

  /** Keys that are held now. */
  get size(): number {
    return this.#size
  }

  /** This process saw a failure. */
  fail(key: Key, nowMs: number): void {
    const entry = this.#entry(key)
    const at = this.#bucketAt(key, nowMs)
    entry.own.set(at, (entry.own.get(at) ?? 0) + 1)
    const changed = this.#changed.get(entry)
    if (changed === undefined) this.#changed.set(entry, new Set([at]))
    else changed.add(at)
  }

  /**
   * This process saw an approval: told of what failed before, and of nothing else. Of one number it
   * counts once in a window, else one good card would speak for any number of stolen ones.
   */
  approve(keys: readonly Key[], number: string, nowMs: number): void {
    for (const key of keys) {
      const entry = this.#merchants.get(key.merchantId)?.get(nameOf(key))
      if (entry === undefined) continue
      const name = `${key.merchantId} ${nameOf(key)} ${number}`
      const knownAt = this.#approvedNumbers.get(name)
      const sinceAt = this.#lifted.get(placeOf(key)) ?? 0
      if (knownAt !== undefined && knownAt >= sinceAt && !isOver(knownAt, key.dimension, nowMs))
        continue
      const at = this.#bucketAt(key, nowMs)
      entry.approved.set(at, (entry.approved.get(at) ?? 0) + 1)
      this.#approvedNumbers.delete(name)
      this.#approvedNumbers.set(name, at)
      if (this.#approvedNumbers.size > this.#most.keys) {
        this.#approvedNumbers.delete(this.#approvedNumbers.keys().next().value!)
      }
    }
  }

  /** What all other processes together saw within one minute. */
  learn({ failures, at, ...key }: Bucket, nowMs: number): void {
    if (at < (this.#lifted.get(placeOf(key)) ?? 0) || isOver(at, key.dimension, nowMs)) return
    this.#entry(key).others.set(at, failures)
  }

  count(key: Key, nowMs: number): Counted {
    const entry = this.#merchants.get(key.merchantId)?.get(nameOf(key))
    if (entry === undefined) return nothing
    return {
      own: sum(entry.own, key.dimension, nowMs),
      others: sum(entry.others, key.dimension, nowMs),
      approved: sum(entry.approved, key.dimension, nowMs),
    }
  }

  /** How long it takes, without further failures, until fewer than `threshold` are left. */
  msUntilBelow(key: Key, threshold: number, nowMs: number): number {
    const entry = this.#merchants.get(key.merchantId)?.get(nameOf(key))
    if (entry === undefined) return 0
    const buckets = [...entry.own, ...entry.others].sort(([one], [other]) => one - other)
    let left = buckets.reduce((all, [, failures]) => all + failures, 0)
    for (const [at, failures] of buckets) {
      if (left < threshold) return 0
      left -= failures
      if (left < threshold) return Math.max(0, endOf(at, key.dimension) - nowMs)
    }
    return 0
  }

  /**
   * An operator lifted what stands on one dimension of a merchant: nothing from before counts any more.
   *
   * @returns whether that is new.
   */
  lift(merchantId: string, dimension: Dimension, atMs: number): boolean {
    const place = placeOf({ merchantId, dimension })
    if (atMs <= (this.#lifted.get(place) ?? 0)) return false
    this.#lifted.set(place, atMs)
    for (const entry of this.#merchants.get(merchantId)?.values() ?? []) {
      if (entry.key.dimension !== dimension) continue
      for (const buckets of [entry.own, entry.others, entry.approved]) {
        for (const at of buckets.keys()) if (at < atMs) buckets.delete(at)
      }
    }
    return true
  }

  /** What the others have not been told yet. */
  changes(most: number): Bucket[] {
    const told: Bucket[] = []
    for (const [entry, minutes] of this.#changed) {
      for (const at of minutes) {
        if (told.length === most) return told
        const failures = entry.own.get(at)
        if (failures === undefined) minutes.delete(at)
        else told.push({ ...entry.key, at, failures })
      }
      if (minutes.size === 0) this.#changed.delete(entry)
    }
    return told
  }

  /** The others can read these now; what came since is told next. */
  told(buckets: readonly Bucket[]): void {
    for (const { at, failures, ...key } of buckets) {
      const entry = this.#merchants.get(key.merchantId)?.get(nameOf(key))
      const minutes = entry && this.#changed.get(entry)
      if (entry?.own.get(at) === failures) minutes?.delete(at)
    }
  }

  /** Lets go of what is past its window. */
  forgetPast(nowMs: number): void {
    for (const [merchantId, entries] of this.#merchants) {
      for (const [name, entry] of entries) {
        const { dimension } = entry.key
        const left = sum(entry.own, dimension, nowMs) + sum(entry.others, dimension, nowMs)
        if (left === 0) this.#drop(merchantId, entries, name)
      }
    }
    for (const [name, at] of this.#approvedNumbers) {
      // All that many shoppers share has one window, so what follows is younger.
      if (!isOver(at, 'channel', nowMs)) break
      this.#approvedNumbers.delete(name)
    }
    for (const [place, atMs] of this.#lifted) {
      if (isOver(atMs, 'number', nowMs)) this.#lifted.delete(place)
    }
  }

  /** A lift splits its minute in two: what came after it has a bucket of its own. */
  #bucketAt(key: Key, nowMs: number): number {
    const minute = Math.floor(nowMs / bucketMs) * bucketMs
    return Math.max(minute, this.#lifted.get(placeOf(key)) ?? 0)
  }

  #entry(key: Key): Entry {
    const name = nameOf(key)
    const entries = this.#merchants.get(key.merchantId) ?? new Map<string, Entry>()
    const known = entries.get(name)
    if (known !== undefined) {
      entries.delete(name)
      entries.set(name, known)
      return known
    }
    const made = { key, own: new Map(), others: new Map(), approved: new Map() }
    entries.set(name, made)
    this.#merchants.set(key.merchantId, entries)
    this.#size += 1
    if (entries.size > this.#most.perMerchant) this.#makeRoom(entries)
    if (this.#size > this.#most.keys) this.#makeRoom(this.#largest())
    return made
  }

  /** The one with the fewest failures goes: what somebody tries again and again stays. */
  #makeRoom(entries: Map<string, Entry>): void {
    let least:
      | { readonly name: string; readonly entry: Entry; readonly failures: number }
      | undefined
    let seen = 0
    for (const [name, entry] of entries) {
      seen += 1
      // The newest is the one that room is made for.
      if (seen > compared || (seen > 1 && seen === entries.size)) break
      const failures = total(entry.own) + total(entry.others)
      if (least === undefined || failures < least.failures) least = { name, entry, failures }
    }
    if (least !== undefined) this.#drop(least.entry.key.merchantId, entries, least.name)
  }

  #largest(): Map<string, Entry> {
    let largest = new Map<string, Entry>()
    for (const entries of this.#merchants.values()) {
      if (entries.size > largest.size) largest = entries
    }
    return largest
  }

  #drop(merchantId: string, entries: Map<string, Entry>, name: string): void {
    const entry = entries.get(name)
    if (entry === undefined) return
    entries.delete(name)
    this.#changed.delete(entry)
    this.#size -= 1
    if (entries.size === 0) this.#merchants.delete(merchantId)
  }
}

const nothing: Counted = { own: 0, others: 0, approved: 0 }

const nameOf = ({ dimension, value }: Key) => `${dimension} ${value}`
const placeOf = ({ merchantId, dimension }: Pick<Key, 'merchantId' | 'dimension'>) =>
  `${merchantId} ${dimension}`

/** A minute counts to its end: a window is never shorter than it says, and up to a minute longer. */
const endOf = (at: number, dimension: Dimension) => at + bucketMs + windowMs(dimension)
const isOver = (at: number, dimension: Dimension, nowMs: number) => endOf(at, dimension) <= nowMs

/** What is in the window; what is past it goes. */
function sum(buckets: Buckets, dimension: Dimension, nowMs: number): number {
  let all = 0
  for (const [at, count] of buckets) {
    if (isOver(at, dimension, nowMs)) buckets.delete(at)
    else all += count
  }
  return all
}

function total(buckets: Buckets): number {
  let all = 0
  for (const count of buckets.values()) all += count
  return all
}
