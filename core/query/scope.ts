/** The channels and the time range of a search. */
import type { Criteria } from './criteria.ts'
import type { Place } from './sort-key.ts'

/** Sorted channel ids as one Postgres array in text: made once for a list, not once for a statement. */
export type Channels = string | null

export type Scope = {
  readonly channels: Channels
  /** How many these are; 1 where any will do, for then none is asked by itself. */
  readonly channelCount: number
  readonly criteria: Criteria
  /** Whether there can be payments on test clocks. */
  readonly hasClocks: boolean
}

/** A stretch of the order of answers: what stands at or after `from`, and before `to`. */
export type Stretch = {
  readonly from: Date
  readonly to: Date
  /** Of what was created at `to`, lower ids belong to it. */
  readonly belowId: string
  /** Ids between which payments in real time lie, whose time is that of their id. */
  readonly fromId: string
  readonly toId: string
}

/** The way back in time that one page takes. */
export type Walk = {
  readonly scope: Scope
  /** Everything after it in the order of answers; null from the newest on. */
  readonly after: Place | null
  readonly wanted: number
  /** Length of the first stretch; undefined: not known yet. */
  readonly spanMs: number | undefined
}
