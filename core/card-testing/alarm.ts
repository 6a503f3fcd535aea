import type { Log } from '@tollgate/plugin-kit'
import type { Dimension } from './dimensions.ts'

/** What is told of a block: nothing by which somebody could pay. */
export type Block = {
  readonly merchant: string
  readonly dimension: Dimension
  /** The channel, token, BIN or address; of a number its first six and last four digits. */
  readonly of: string
  readonly failures: number
  readonly threshold: number
}

/** The one place from which people are called. */
export function raiseAlarm(log: Log, block: Block): void {
  log.warn(
    { security: true, alarm: 'card-testing', ...block },
    'card testing: attempts are refused',
  )
}
