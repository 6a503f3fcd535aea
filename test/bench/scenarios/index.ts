/** All scenarios, in the order in which they run. */
import { checkouts } from './checkouts.ts'
import { coldStart } from './cold-start.ts'
import { dueSchedules } from './due-schedules.ts'
import { followUps } from './follow-ups.ts'
import type { Scenario } from './ground.ts'
import { idleSchedules } from './idle-schedules.ts'
import { memory } from './memory.ts'
import { openSnapshot } from './open-snapshot.ts'
import { query } from './query.ts'
import { reads } from './reads.ts'
import { searchIndexes } from './search-indexes.ts'
import { settlementFile } from './settlement-file.ts'
import { slowAcquirer } from './slow-acquirer.ts'
import { storedPayments } from './stored-payments.ts'
import { twoHosts } from './two-hosts.ts'
import { webhooks } from './webhooks.ts'
import { widget } from './widget.ts'

export const scenarios: readonly Scenario[] = [
  slowAcquirer,
  twoHosts,
  followUps,
  reads,
  checkouts,
  widget,
  coldStart,
  openSnapshot,
  webhooks,
  dueSchedules,
  idleSchedules,
  memory,
  searchIndexes,
  query,
  storedPayments,
  settlementFile,
]
