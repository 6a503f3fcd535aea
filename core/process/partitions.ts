import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { sqlState } from '../db/database.ts'
import type { Lanes } from '../db/lanes.ts'
import { makePartition, missingPartitions } from './store.ts'

/**
 * Creates the partitions of the coming months long before the first write. Each has a commit of its own:
 * a partition that cannot be created now delays neither payments nor other partitions, and months remain.
 * Safe to run twice, and in several processes at once: existing partitions stay unchanged.
 */
export async function makePartitions(
  lanes: Lanes,
  log: Log,
  months: number = limits.partitionMonths,
): Promise<void> {
  for (const { parent, month } of await lanes.single(missingPartitions(months))) {
    const about = { table: parent, month: month.toISOString().slice(0, 7) }
    try {
      const [row] = await lanes.single(makePartition(parent, month))
      if (row?.outcome === 'kept') {
        log.warn(
          about,
          'a month stays in the default partition: it holds too many rows to be moved',
        )
      }
    } catch (error) {
      // Between two tries, the connections may have run out as well.
      const first = error instanceof Error && sqlState(error) === undefined ? error.cause : error
      if (sqlState(first) !== '55P03') throw error
      log.warn(about, 'a partition could not be made, for its table is in use; it is tried again')
    }
  }
}
