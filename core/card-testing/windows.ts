/**
 * Failures, and approvals beside them, over sliding windows, in bounded memory. Pure: time is given. Each
 * process counts its own and learns what the others counted, as sums of a minute each: learning the same
 * twice changes nothing.
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
  /** Approvals that all of them saw since the first failure. */
  readonly approved: number
}

/** What this process saw within one minute, for the others. */
export type Bucket = Key & {
  readonly at: number
  readonly failures: number
  readonly approvals: number
}

/** Beginning of a minute -> how many. */
type Buckets = Map<number, number>

type Sums = { readonly failures: Buckets; readonly approvals: Buckets }

type Entry = { readonly key: Key; readonly own: Sums; readonly others: Sums }

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
    this.#add(entry, entry.own.failures, nowMs)
  }

  /** Whether something failed under one of these: approvals count for nothing else. */
  knows(keys: readonly Key[]): boolean {
    return keys.some((key) => this.#known(key) !== undefined)
  }

  /**
   * This process saw an approval: told of what failed before, and of nothing else. Of one number it
   * counts once in a window, else one good card would speak for any number of stolen ones.
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

  /** What all other processes together saw within one minute. */
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

  /** How long it takes, without further failures, until fewer than `threshold` are left. */
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
      for (const { failures, approvals } of [entry.own, entry.others]) {
        for (const buckets of [failures, approvals]) {
          for (const at of buckets.keys()) if (at < atMs) buckets.delete(at)
        }
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
        const counted = ownAt(entry, at)
        if (counted.failures + counted.approvals === 0) minutes.delete(at)
        else told.push({ ...entry.key, at, ...counted })
      }
      if (minutes.size === 0) this.#changed.delete(entry)
    }
    return told
  }

  /** The others can read these now; what came since is told next. */
  told(buckets: readonly Bucket[]): void {
    for (const { at, failures, approvals, ...key } of buckets) {
      const entry = this.#known(key)
      if (entry === undefined) continue
      const now = ownAt(entry, at)
      const isSame = now.failures === failures && now.approvals === approvals
      if (isSame) this.#changed.get(entry)?.delete(at)
    }
  }

  /** Lets go of what is past its window. */
  forgetPast(nowMs: number): void {
    for (const [merchantId, entries] of this.#merchants) {
      for (const [name, entry] of entries) {
        const { own, others } = this.count(entry.key, nowMs)
        if (own + others === 0) this.#drop(merchantId, entries, name)
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

  #known(key: Key): Entry | undefined {
    return this.#merchants.get(key.merchantId)?.get(nameOf(key))
  }

  /** One more of what this process saw, for the others to be told. */
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
