/**
 * Once a second, shares this process's failures and approvals, loads those of the others and the
 * operators' lifts, and lists blocks. Safe to run twice: each minute is shared as a sum.
 */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import { tellFailure } from '../db/tell-failure.ts'
import { type Dimension, dimensions, windowMs } from '../entity/card-testing-settings.ts'
import { newId } from '../ids.ts'
import {
  countsOfOthers,
  type DecidedRow,
  decidedOf,
  liftedBlocks,
  listBlock,
  purgeCounts,
  purgeShort,
  tellCounts,
} from './store.ts'
import type { UnderWay } from './under-way.ts'
import type { Windows } from './windows.ts'

const longestMs = Math.max(...dimensions.map(windowMs))
const shortMs = windowMs('channel')
/** A row becomes visible at most this long after its time, since no statement runs longer. */
const lateMs = 10_000
/** A minute counts to its end, and rows become visible late. */
const purgeableMs = 60_000 + lateMs
const rowsAtOnce = 500
const purgedAtOnce = 5_000

/** The description of a block, without payment data. */
export type Block = {
  readonly merchant: string
  readonly dimension: Dimension
  /** The channel, token, BIN or address; for a number its first six and last four digits. */
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
  /** Blocks to list, by reference: one entry per merchant and dimension. */
  readonly #blocks = new Map<string, Block>()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #started: Promise<void> | undefined
  #isClosed = false
  /** The offset of the database's clock from this machine's. */
  #aheadMs = 0
  #learntAt: Date | undefined
  #purgedMs = Number.NEGATIVE_INFINITY

  constructor(parts: {
    readonly lanes: Lanes
    readonly clock: Clock
    readonly log: Log
    readonly windows: Windows
    readonly underWay: UnderWay
    /** Another process decided a payment that is open here. */
    readonly decidedElsewhere: (row: DecidedRow) => void
  }) {
    this.#lanes = parts.lanes
    this.#clock = parts.clock
    this.#log = parts.log
    this.#windows = parts.windows
    this.#underWay = parts.underWay
    this.#decidedElsewhere = parts.decidedElsewhere
  }

  /** The time of the database, which all processes use for counting. */
  nowMs(): number {
    return this.#clock.realMs() + this.#aheadMs
  }

  /** Starts sharing for a process with something to count. Resolves after the first load. */
  async start(): Promise<void> {
    if (this.#isClosed) return
    this.#started ??= this.#run().then(() => this.#next())
    await this.#started
  }

  /** Lists a block with the next round of sharing. */
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
        const text = 'failed payments could not be counted with other processes'
        tellFailure(this.#log, error, text)
      })
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async #share(): Promise<void> {
    this.#underWay.giveUp(this.#clock.elapsedMs())
    const heardAt = await this.#learn()
    await this.#letGoDecided()
    this.#windows.forgetPast(this.nowMs())
    await this.#listBlocks(heardAt)
    await this.#tell()
    await this.#purge()
  }

  /** @returns the database's time of what was learnt. */
  async #learn(): Promise<Date> {
    const wallMs = this.#clock.realMs()
    const [row] = await this.#lanes.single(liftedBlocks(longestMs))
    const { now, lifts } = row!
    this.#aheadMs = now.getTime() - (wallMs + this.#clock.realMs()) / 2
    for (const [reference, atMs] of Object.entries(lifts)) {
      const [merchantId = '', dimension = ''] = reference.split(' ')
      // A block from before this process saw the lift is not new.
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
    return now
  }

  /** Checks some of the open payments here for decisions of other processes. */
  async #letGoDecided(): Promise<void> {
    const open = this.#underWay.someOpen(limits.cardTestingAskedAtOnce)
    if (open.length === 0) return
    for (const row of await this.#lanes.read(decidedOf(open))) this.#decidedElsewhere(row)
  }

  async #listBlocks(heardAt: Date): Promise<void> {
    for (const [reference, block] of this.#blocks) {
      const detail = { why: 'too many payments were declined: attempts are refused', ...block }
      await this.#lanes.single(listBlock(newId(), reference, detail, heardAt))
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

/** One open entry per merchant and dimension; ending it lifts all its blocks. */
export const referenceOf = (merchantId: string, dimension: Dimension) =>
  `${merchantId} ${dimension}`
