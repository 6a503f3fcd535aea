/**
 * Failures and approvals over sliding windows, in bounded memory. Pure: the caller gives the time.
 * Each process counts its own and loads the counts of others as sums per minute, so a repeat
 * changes nothing.
 */
import { type Dimension, windowMs } from '../entity/card-testing-settings.ts'

/** A shared feature of attempts at one merchant. */
export type Key = {
  readonly merchantId: string
  readonly dimension: Dimension
  readonly value: string
}

export type Counted = {
  /** Failures of this process, and of others. */
  readonly own: number
  readonly others: number
  /** Approvals of all processes since the first failure. */
  readonly approved: number
}

/** This process's counts of one minute, for the others. */
export type Bucket = Key & {
  readonly at: number
  readonly failures: number
  readonly approvals: number
}

/** Begin of a minute -> count. */
type Buckets = Map<number, number>

type Sums = { readonly failures: Buckets; readonly approvals: Buckets }

type Entry = { readonly key: Key; readonly own: Sums; readonly others: Sums }

const bucketMs = 60_000
/** The number of oldest entries to compare when one has to go. */
const compared = 8

export class Windows {
  /**
   * By merchant, so that an attack on one displaces no entry of another; ordered by last failure.
   */
  readonly #merchants = new Map<string, Map<string, Entry>>()
  readonly #lifted = new Map<string, number>()
  readonly #changed = new Map<Entry, Set<number>>()
  readonly #most: { readonly keys: number; readonly perMerchant: number }
  /** Approved numbers under a key -> time; the oldest are displaced. */
  readonly #approvedNumbers = new Map<string, number>()
  #size = 0

  constructor(most: { readonly keys: number; readonly perMerchant: number }) {
    this.#most = most
  }

  /** Keys in memory. */
  get size(): number {
    return this.#size
  }

  /** Counts a failure of this process. */
  fail(key: Key, nowMs: number): void {
    const entry = this.#entry(key)
    this.#add(entry, entry.own.failures, nowMs)
  }

  /** Whether one of these keys has failures; approvals count only beside failures. */
  knows(keys: readonly Key[]): boolean {
    return keys.some((key) => this.#known(key) !== undefined)
  }

  /**
   * Counts an approval of this process beside earlier failures. One number counts once per window,
   * since otherwise one good card could balance any number of stolen ones.
   */
  approve(keys: readonly Key[], number: string, nowMs: number): void {
    for (const key of keys) {
      const entry = this.#known(key)
      if (entry === undefined) continue
      const name = `${key.merchantId} ${nameOf(key)} ${number}`
      const knownAt = this.#approvedNumbers.get(name)
      const sinceAt = this.#lifted.get(placeOf(key)) ?? 0
      if (knownAt !== undefined && knownAt >= sinceAt && !isOver(knownAt, key.dimension, nowMs))
        continue
      const at = this.#add(entry, entry.own.approvals, nowMs)
      this.#approvedNumbers.delete(name)
      this.#approvedNumbers.set(name, at)
      if (this.#approvedNumbers.size > this.#most.keys) {
        this.#approvedNumbers.delete(this.#approvedNumbers.keys().next().value!)
      }
    }
  }

  /** Loads the sum of all other processes for one minute. */
  learn({ failures, approvals, at, ...key }: Bucket, nowMs: number): void {
    if (at < (this.#lifted.get(placeOf(key)) ?? 0) || isOver(at, key.dimension, nowMs)) return
    const entry = failures > 0 ? this.#entry(key) : this.#known(key)
    if (failures > 0) entry?.others.failures.set(at, failures)
    if (approvals > 0) entry?.others.approvals.set(at, approvals)
  }

  count(key: Key, nowMs: number): Counted {
    const entry = this.#known(key)
    if (entry === undefined) return nothing
    const { own, others } = entry
    const within = (buckets: Buckets) => sum(buckets, key.dimension, nowMs)
    return {
      own: within(own.failures),
      others: within(others.failures),
      approved: within(own.approvals) + within(others.approvals),
    }
  }

  /** The time, without further failures, until fewer than `threshold` remain. */
  msUntilBelow(key: Key, threshold: number, nowMs: number): number {
    const entry = this.#known(key)
    if (entry === undefined) return 0
    const { own, others } = entry
    const buckets = [...own.failures, ...others.failures].sort(([one], [other]) => one - other)
    let left = buckets.reduce((all, [, failures]) => all + failures, 0)
    for (const [at, failures] of buckets) {
      if (left < threshold) return 0
      left -= failures
      if (left < threshold) return Math.max(0, endOf(at, key.dimension) - nowMs)
    }
    return 0
  }

  /**
   * Applies an operator's lift of one dimension of a merchant: earlier failures no longer count.
   *
   * @returns whether the lift is new.
   */
  lift(merchantId: string, dimension: Dimension, atMs: number): boolean {
    const place = placeOf({ merchantId, dimension })
    if (atMs <= (this.#lifted.get(place) ?? 0)) return false
    this.#lifted.set(place, atMs)
    for (const entry of this.#merchants.get(merchantId)?.values() ?? []) {
      if (entry.key.dimension !== dimension) continue
      for (const { failures, approvals } of [entry.own, entry.others]) {
        for (const buckets of [failures, approvals]) {
          for (const at of buckets.keys()) if (at < atMs) buckets.delete(at)
        }
      }
    }
    return true
  }

  /** Counts that are not shared yet. */
  changes(most: number): Bucket[] {
    const told: Bucket[] = []
    for (const [entry, minutes] of this.#changed) {
      for (const at of minutes) {
        if (told.length === most) return told
        const counted = ownAt(entry, at)
        if (counted.failures + counted.approvals === 0) minutes.delete(at)
        else told.push({ ...entry.key, at, ...counted })
      }
      if (minutes.size === 0) this.#changed.delete(entry)
    }
    return told
  }

  /** Marks counts as shared; later changes are shared next. */
  told(buckets: readonly Bucket[]): void {
    for (const { at, failures, approvals, ...key } of buckets) {
      const entry = this.#known(key)
      if (entry === undefined) continue
      const now = ownAt(entry, at)
      const isSame = now.failures === failures && now.approvals === approvals
      if (isSame) this.#changed.get(entry)?.delete(at)
    }
  }

  /** Drops counts past their window. */
  forgetPast(nowMs: number): void {
    for (const [merchantId, entries] of this.#merchants) {
      for (const [name, entry] of entries) {
        const { own, others } = this.count(entry.key, nowMs)
        if (own + others === 0) this.#drop(merchantId, entries, name)
      }
    }
    for (const [name, at] of this.#approvedNumbers) {
      // All shared features have one window, so the following entries are younger.
      if (!isOver(at, 'channel', nowMs)) break
      this.#approvedNumbers.delete(name)
    }
    for (const [place, atMs] of this.#lifted) {
      if (isOver(atMs, 'number', nowMs)) this.#lifted.delete(place)
    }
  }

  /** A lift splits its minute: later failures have a bucket of their own. */
  #bucketAt(key: Key, nowMs: number): number {
    const minute = Math.floor(nowMs / bucketMs) * bucketMs
    return Math.max(minute, this.#lifted.get(placeOf(key)) ?? 0)
  }

  #known(key: Key): Entry | undefined {
    return this.#merchants.get(key.merchantId)?.get(nameOf(key))
  }

  /** Adds one to this process's counts, for sharing. */
  #add(entry: Entry, buckets: Buckets, nowMs: number): number {
    const at = this.#bucketAt(entry.key, nowMs)
    buckets.set(at, (buckets.get(at) ?? 0) + 1)
    const changed = this.#changed.get(entry)
    if (changed === undefined) this.#changed.set(entry, new Set([at]))
    else changed.add(at)
    return at
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
    const made = { key, own: noSums(), others: noSums() }
    entries.set(name, made)
    this.#merchants.set(key.merchantId, entries)
    this.#size += 1
    if (entries.size > this.#most.perMerchant) this.#makeRoom(entries)
    if (this.#size > this.#most.keys) this.#makeRoom(this.#largest())
    return made
  }

  /** Drops the entry with the fewest failures, so that repeated attempts stay. */
  #makeRoom(entries: Map<string, Entry>): void {
    let least:
      | { readonly name: string; readonly entry: Entry; readonly failures: number }
      | undefined
    let seen = 0
    for (const [name, entry] of entries) {
      seen += 1
      // The newest entry is the reason for making room.
      if (seen > compared || (seen > 1 && seen === entries.size)) break
      const failures = total(entry.own.failures) + total(entry.others.failures)
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

const noSums = (): Sums => ({ failures: new Map(), approvals: new Map() })
const ownAt = ({ own }: Entry, at: number) => ({
  failures: own.failures.get(at) ?? 0,
  approvals: own.approvals.get(at) ?? 0,
})

const nameOf = ({ dimension, value }: Key) => `${dimension} ${value}`
const placeOf = ({ merchantId, dimension }: Pick<Key, 'merchantId' | 'dimension'>) =>
  `${merchantId} ${dimension}`

/** A minute counts to its end, so a window is up to a minute longer than its setting. */
const endOf = (at: number, dimension: Dimension) => at + bucketMs + windowMs(dimension)
const isOver = (at: number, dimension: Dimension, nowMs: number) => endOf(at, dimension) <= nowMs

/** Sums the counts in the window and drops the others. */
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
