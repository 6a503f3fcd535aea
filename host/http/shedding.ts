import { setTimeout as pause } from 'node:timers/promises'
import { GatewayError } from '@tollgate/core'

/** Requests of one client that had an answer lately, by how they ended. */
type Standing = { served: number; failed: number }

/** A client is judged by its last one to two periods of this length. */
const periodMs = 5_000
/** Fewer requests say nothing. */
const judgedFrom = 20
/** It is failing when so many of its requests do. */
const failingShare = 2 / 3
/**
 * How soon a failing client gets an answer that turns him away, and how soon the place of a request of his that
 * ended is free: whoever asks again at once, on as many connections as he likes, takes no more than that.
 */
const holdMs = 100
/** More than these would be memory that anybody can take. */
const heldAtOnce = 1_000

/** One for all: a stack for each costs a tenth of turning away, and says nothing. */
const turnedAway = new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 1 })

export type SheddingOptions = {
  /** Requests that a failing client may have in a tenth of a second while the process is busy. */
  readonly failingAtOnce: number
  readonly isBusy?: () => boolean
  readonly nowMs?: () => number
  readonly wait?: (ms: number) => Promise<unknown>
}

/**
 * Keeps room for those whose requests succeed: while this process has no time left, a client most of
 * whose requests are declined or fail validation (one who tests stolen cards, a program that went wrong)
 * has a few under way at once, and is told to come back for the others: not at once, because turning
 * away takes time too, and programs that do not wait would ask as fast as they are answered.
 */
export class Shedding {
  readonly #options: Required<SheddingOptions>
  #before = new Map<string, Standing>()
  #now = new Map<string, Standing>()
  #periodFromMs: number
  readonly #underWay = new Map<string, number>()
  /** When requests of failing clients ended in the last tenth of a second; older ones go with the next. */
  readonly #ends = new Map<string, number[]>()
  #held = 0

  constructor(options: SheddingOptions) {
    this.#options = {
      isBusy: busyLoop(),
      nowMs: () => performance.now(),
      wait: pause,
      ...options,
    }
    this.#periodFromMs = this.#options.nowMs()
  }

  /**
   * Counts a request of `client`, to be ended with `leave`.
   *
   * @throws GatewayError 429
   */
  enter(client: string): void {
    const underWay = this.#underWay.get(client) ?? 0
    const { failingAtOnce, isBusy } = this.#options
    const taken = underWay + this.#endedLately(client).length
    if (taken >= failingAtOnce && this.#isFailing(client) && isBusy()) throw turnedAway
    this.#underWay.set(client, underWay + 1)
  }

  /** Resolves when the answer to a request that was turned away may go out. */
  async hold(): Promise<void> {
    if (this.#held >= heldAtOnce) return
    this.#held += 1
    try {
      await this.#options.wait(holdMs)
    } finally {
      this.#held -= 1
    }
  }

  /** @param status of the answer; 0 when there was nobody to answer. */
  leave(client: string, status: number): void {
    const underWay = this.#underWay.get(client) ?? 0
    if (underWay > 1) this.#underWay.set(client, underWay - 1)
    else this.#underWay.delete(client)
    const served = status >= 200 && status < 400
    // That we were full or broke says nothing about the client.
    if (!served && (status < 400 || status === 429 || status >= 500)) return
    this.#turn()
    const standing = this.#now.get(client) ?? { served: 0, failed: 0 }
    this.#now.set(client, standing)
    if (served) standing.served += 1
    else standing.failed += 1
    if (this.#isFailing(client)) this.#ended(client)
  }

  #ended(client: string): void {
    if (this.#options.failingAtOnce === Number.POSITIVE_INFINITY) return
    this.#ends.set(client, [...this.#endedLately(client), this.#options.nowMs()])
  }

  #endedLately(client: string): number[] {
    const fromMs = this.#options.nowMs() - holdMs
    return this.#ends.get(client)?.filter((endedMs) => endedMs > fromMs) ?? []
  }

  #isFailing(client: string): boolean {
    this.#turn()
    const [before, now] = [this.#before.get(client), this.#now.get(client)]
    const failed = (before?.failed ?? 0) + (now?.failed ?? 0)
    const all = failed + (before?.served ?? 0) + (now?.served ?? 0)
    return all >= judgedFrom && failed >= all * failingShare
  }

  /** What is older than two periods is forgotten, and so are clients that went away. */
  #turn(): void {
    const sinceMs = this.#options.nowMs() - this.#periodFromMs
    if (sinceMs < periodMs) return
    this.#before = sinceMs < 2 * periodMs ? this.#now : new Map()
    this.#now = new Map()
    this.#ends.clear()
    this.#periodFromMs += sinceMs
  }
}

/** Above this share of its time spent working, requests begin to wait for each other. */
const busyShare = 0.65
const lookEveryMs = 50

/** Whether the event loop was busy when it was last looked at. */
function busyLoop(): () => boolean {
  let last = performance.eventLoopUtilization()
  let atMs = performance.now()
  let isBusy = false
  return () => {
    const nowMs = performance.now()
    if (nowMs - atMs < lookEveryMs) return isBusy
    const current = performance.eventLoopUtilization()
    isBusy = performance.eventLoopUtilization(current, last).utilization > busyShare
    last = current
    atMs = nowMs
    return isBusy
  }
}
