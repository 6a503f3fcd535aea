/** A position in the event feed, and its text form, the cursor. */
import { lowestId, lowestIdAt } from '../ids.ts'
import { wrongCursor } from '../page/by-id.ts'

export type Position = {
  /**
   * Positions are in the order of transaction, then sequence number, then event id.
   */
  readonly txid: string
  readonly seq: number
  readonly id: string
  /** The event has two notifications, and the reader got only the first. */
  readonly isWithin: boolean
  /** Approximate time in milliseconds. Months long before it are not searched. */
  readonly atMs: number
  /** Events before this time are skipped. */
  readonly sinceMs: number | null
}

/** Before everything. */
export const beginning: Position = {
  txid: '0',
  seq: 0,
  id: lowestId,
  isWithin: false,
  atMs: 0,
  sinceMs: null,
}

/** Whether one position comes before the other. */
export function isBefore(
  one: Pick<Position, 'txid' | 'seq' | 'id'>,
  other: Pick<Position, 'txid' | 'seq' | 'id'>,
): boolean {
  if (one.txid !== other.txid) return BigInt(one.txid) < BigInt(other.txid)
  return one.seq === other.seq ? one.id < other.id : one.seq < other.seq
}

export function cursorOf({ txid, seq, id, isWithin, atMs, sinceMs }: Position): string {
  const parts = [
    txid,
    seq,
    isWithin ? `${id}.1` : id,
    atMs.toString(36),
    ...(sinceMs === null ? [] : [sinceMs.toString(36)]),
  ]
  return parts.join('-')
}

/** @throws GatewayError for a text that is not a cursor. */
export function positionOf(cursor: string): Position {
  const parts =
    /^([0-9]{1,19})-([0-9]{1,9})-([0-9a-f]{32})(\.1)?-([0-9a-z]{1,9})(?:-([0-9a-z]{1,9}))?$/.exec(
      cursor,
    )
  if (parts === null) throw wrongCursor(cursor)
  const [, txid = '', seq = '', id = '', within, at = '', since] = parts
  return {
    txid,
    seq: Number(seq),
    id,
    isWithin: within !== undefined,
    atMs: Number.parseInt(at, 36),
    sinceMs: since === undefined ? null : Number.parseInt(since, 36),
  }
}

/** A process whose clock is off by more than this would be refused by every acquirer. */
const slackMs = 31 * 24 * 3_600_000

/** No event after the position has a lower id. */
export const floorOf = ({ atMs }: Position): string => lowestIdAt(atMs - slackMs)
