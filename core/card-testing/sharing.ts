/**
 * Once a second: tells the other processes what failed and was approved here, learns the same of them and
 * what operators lifted, and puts blocks on their list. Safe to run twice: minutes are told and learnt as sums.
 */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import { type Dimension, dimensions, windowMs } from '../entity/card-testing-settings.ts'
import { newId } from '../ids.ts'
import {
  countsOfOthers,
  type DecidedRow,
  decidedOf,
  liftedBlocks,
  purgeCounts,
  purgeShort,
  tellCounts,
} from './store.ts'
import type { UnderWay } from './under-way.ts'
import type { Windows } from './windows.ts'

const longestMs = Math.max(...dimensions.map(windowMs))
const shortMs = windowMs('channel')
/** A row is seen this much after the moment that it carries, at most: no statement runs for longer. */
const lateMs = 10_000
/** A minute counts to its end, and rows are seen late. */
const purgeableMs = 60_000 + lateMs
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
  readonly #decidedElsewhere: (row: DecidedRow) => void
  readonly #processId = newId()
  /** What is to be listed, by reference: one entry for each merchant and dimension. */
  readonly #blocks = new Map<string, Block>()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #started: Promise<void> | undefined
  #isClosed = false
  /** What the database's clock shows beyond this machine's. */
  #aheadMs = 0
  #learntAt: Date | undefined
  #purgedMs = Number.NEGATIVE_INFINITY

  constructor(parts: {
    readonly lanes: Lanes
    readonly clock: Clock
    readonly log: Log
    readonly windows: Windows
    readonly underWay: UnderWay
    /** A payment that is open here was decided by another process. */
    readonly decidedElsewhere: (row: DecidedRow) => void
  }) {
    this.#lanes = parts.lanes
    this.#clock = parts.clock
    this.#log = parts.log
    this.#windows = parts.windows
    this.#underWay = parts.underWay
    this.#decidedElsewhere = parts.decidedElsewhere
  }

  /** The time of the database, by which all processes count. */
  nowMs(): number {
    return this.#clock.realMs() + this.#aheadMs
  }

  /** From now on, for this process has something to count. Ends once it knows what the others know. */
  async start(): Promise<void> {
    if (this.#isClosed) return
    this.#started ??= this.#run().then(() => this.#next())
    await this.#started
  }

  /** Puts it on the operators' list, with what is told next. */
  list(block: Block): void {
    this.#blocks.set(referenceOf(block.merchant, block.dimension), block)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#running
    if (this.#started !== undefined) await this.#run()
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
      countsOfOthers(this.#processId, since, limits.cardTestingKeys),
    )
    for (const { merchant_id, dimension, value, bucket_at, failures, approvals } of rows) {
      const bucket = { merchantId: merchant_id, dimension, value, failures, approvals }
      this.#windows.learn({ ...bucket, at: bucket_at.getTime() }, this.nowMs())
    }
    this.#learntAt = now
  }

  /** Of the payments that count as open here, those that another process saw decided: some at a time. */
  async #letGoDecided(): Promise<void> {
    const open = this.#underWay.someOpen(limits.cardTestingAskedAtOnce)
    if (open.length === 0) return
    for (const row of await this.#lanes.read(decidedOf(open))) this.#decidedElsewhere(row)
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
      await this.#lanes.single(tellCounts(this.#processId, buckets))
      this.#windows.told(buckets)
      if (buckets.length < rowsAtOnce) return
    }
  }

  async #purge(): Promise<void> {
    if (this.#clock.elapsedMs() - this.#purgedMs < limits.cardTestingPurgeMs) return
    for (const purge of [
      () => purgeShort(shortMs + purgeableMs, purgedAtOnce),
      () => purgeCounts(longestMs + purgeableMs, purgedAtOnce),
    ]) {
      for (;;) {
        const purged = await this.#lanes.single(purge())
        if (purged.length < purgedAtOnce) break
      }
    }
    this.#purgedMs = this.#clock.elapsedMs()
  }
}

/** One entry is open for each merchant and dimension, and ending it lifts what stands on the two. */
export const referenceOf = (merchantId: string, dimension: Dimension) =>
  `${merchantId} ${dimension}`
