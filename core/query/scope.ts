/** The channels and the time range of a search. */
import type { Holder } from '../process/shared-room.ts'
import type { Criteria } from './criteria.ts'
import type { Place } from './sort-key.ts'

/** Sorted channel ids as the text of a Postgres array, made once per list instead of once per statement. */
export type Channels = string | null

export type Scope = {
  readonly channels: Channels
  /** Number of channels; 1 for all channels, because one query then serves all. */
  readonly channelCount: number
  readonly criteria: Criteria
  /** Whose search it is. */
  readonly merchant?: Holder
  /** Whether payments on test clocks are possible. */
  readonly hasClocks: boolean
}

/** A range of results in their order: at or after `from`, and before `to`. */
export type Stretch = {
  readonly from: Date
  readonly to: Date
  /** Of the results created at `to`, those with lower ids belong to the range. */
  readonly belowId: string
  /** Range of ids for payments in real time, whose ids contain their time. */
  readonly fromId: string
  readonly toId: string
}

/** The walk of one page back through time. */
export type Walk = {
  readonly scope: Scope
  /** The start of the walk; null: the newest result. */
  readonly after: Place | null
  readonly wanted: number
  /** Length of the first window; undefined: not known yet. */
  readonly spanMs: number | undefined
}
