/**
 * Once a second: tells the other processes what failed here, learns what failed there and what operators
 * lifted, and puts blocks on their list. Safe to run twice: minutes are told and learnt as sums.
 */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import { type Dimension, dimensions, windowMs } from '../entity/card-testing-settings.ts'
import { newId } from '../ids.ts'
import { decidedOf, failuresOfOthers, liftedBlocks, purgeFailures, tellFailures } from './store.ts'
import type { UnderWay } from './under-way.ts'
import type { Windows } from './windows.ts'

const longestMs = Math.max(...dimensions.map(windowMs))
/** A row is seen this much after the moment that it carries, at most: no statement runs for longer. */
const lateMs = 10_000
const rowsAtOnce = 500
const purgedAtOnce = 5_000

/** What is told of a block: nothing by which somebody could pay. */
export type Block = {
  readonly merchant: string
  readonly dimension: Dimension
  /** The channel, token, BIN or address; of a number its first six and last four digits. */
  readonly of: string
  readonly failures: number
  readonly threshold: number
}

export class Sharing {
  readonly #lanes: Lanes
  readonly #clock: Clock
  readonly #log: Log
  readonly #windows: Windows
  readonly #underWay: UnderWay
  readonly #processId = newId()
  /** What is to be listed, by reference: one entry for each merchant and dimension. */
  readonly #blocks = new Map<string, Block>()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isAwake = false
  #isClosed = false
  /** What the database's clock shows beyond this machine's. */
  #aheadMs = 0
  #learntAt: Date | undefined
  #purgedMs = Number.NEGATIVE_INFINITY

  constructor(lanes: Lanes, clock: Clock, log: Log, windows: Windows, underWay: UnderWay) {
    this.#lanes = lanes
    this.#clock = clock
    this.#log = log
    this.#windows = windows
    this.#underWay = underWay
  }

  /** The time of the database, by which all processes count. */
  nowMs(): number {
    return this.#clock.realMs() + this.#aheadMs
  }

  async start(): Promise<void> {
    if (this.#isAwake) return
    this.#isAwake = true
    await this.#run()
    this.#next()
  }

  /** From now on, for this process has something to count. */
  wake(): void {
    if (!this.#isAwake && !this.#isClosed) void this.start()
  }

  /** Puts it on the operators' list, with what is told next. */
  list(block: Block): void {
    this.#blocks.set(referenceOf(block.merchant, block.dimension), block)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#running
    if (this.#isAwake) await this.#run()
  }

  #next(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      void this.#run().then(() => this.#next())
    }, limits.cardTestingShareMs)
    this.#timer.unref()
  }

  #run(): Promise<void> {
    this.#running ??= this.#share()
      .catch((error: unknown) => {
        const kind = error instanceof Error ? error.name : 'unknown'
        this.#log.warn({ error: kind }, 'failed payments could not be counted with other processes')
      })
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async #share(): Promise<void> {
    this.#underWay.giveUp(this.#clock.elapsedMs())
    await this.#learn()
    await this.#letGoDecided()
    this.#windows.forgetPast(this.nowMs())
    await this.#listBlocks()
    await this.#tell()
    await this.#purge()
  }

  async #learn(): Promise<void> {
    const wallMs = this.#clock.realMs()
    const [row] = await this.#lanes.single(liftedBlocks(longestMs))
    const { now, lifts } = row!
    this.#aheadMs = now.getTime() - (wallMs + this.#clock.realMs()) / 2
    for (const [reference, atMs] of Object.entries(lifts)) {
      const [merchantId = '', dimension = ''] = reference.split(' ')
      // A block that was met before this process heard of the lifting is no new one.
      if (this.#windows.lift(merchantId, dimension as Dimension, atMs)) {
        this.#blocks.delete(reference)
      }
    }
    const since = new Date(
      (this.#learntAt ?? new Date(now.getTime() - longestMs)).getTime() - lateMs,
    )
    const rows = await this.#lanes.single(
      failuresOfOthers(this.#processId, since, limits.cardTestingKeys),
    )
    for (const { merchant_id, dimension, value, bucket_at, failures } of rows) {
      const bucket = { merchantId: merchant_id, dimension, value, failures }
      this.#windows.learn({ ...bucket, at: bucket_at.getTime() }, this.nowMs())
    }
    this.#learntAt = now
  }

  /** Of the payments that count as open here, those that another process saw decided. */
  async #letGoDecided(): Promise<void> {
    const open = this.#underWay.openIds
    if (open.length === 0) return
    const nowMs = this.#clock.elapsedMs()
    for (const { id, state } of await this.#lanes.single(decidedOf(open))) {
      this.#underWay.decidedElsewhere(id, state === 'approved', nowMs)
    }
  }

  async #listBlocks(): Promise<void> {
    for (const [reference, block] of this.#blocks) {
      const detail = { why: 'too many payments were declined: attempts are refused', ...block }
      await this.#lanes.single(
        addAttention(newId(), 'card-testing', null, null, 0, detail, reference),
      )
      if (this.#blocks.get(reference) === block) this.#blocks.delete(reference)
    }
  }

  async #tell(): Promise<void> {
    for (;;) {
      const buckets = this.#windows.changes(rowsAtOnce)
      if (buckets.length === 0) return
      await this.#lanes.single(tellFailures(this.#processId, buckets))
      this.#windows.told(buckets)
      if (buckets.length < rowsAtOnce) return
    }
  }

  async #purge(): Promise<void> {
    if (this.#clock.elapsedMs() - this.#purgedMs < limits.cardTestingPurgeMs) return
    for (;;) {
      const purged = await this.#lanes.single(purgeFailures(longestMs + lateMs, purgedAtOnce))
      if (purged.length < purgedAtOnce) break
    }
    this.#purgedMs = this.#clock.elapsedMs()
  }
}

/** One entry is open for each merchant and dimension, and ending it lifts what stands on the two. */
export const referenceOf = (merchantId: string, dimension: Dimension) =>
  `${merchantId} ${dimension}`
