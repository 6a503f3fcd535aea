import { dueEvents } from '../acquirer-events/store.ts'
import { anyUnlinked } from '../audit-chain/store-chain.ts'
import { sql } from '../db/sql.ts'
import { isRestoring } from '../process/store-restoration.ts'
import { readyJobs } from '../queue/stored-ready.ts'
import { reportsDue } from '../report-delivery/store-queue.ts'
import { settlementDue } from '../settlement/store-file.ts'
import { type Found, look } from '../webhook/store-queue.ts'

/** Whether anything waits for a tick: a timer, an attempt whose process died, an acquirer's event, a file. */
export const somethingDue = sql<{ due: boolean }>`
  select exists (select from tollgate.timer where clock_id is null and due_at <= now())
    or exists (select from tollgate.schedule where clock_id is null and next_at <= now())
    or exists (select from tollgate.test_clock where target is not null)
    or exists (
      select from tollgate.occurrence
      where payment_id is null and failure is null and created_at < now() - interval '2 minutes')
    or exists (select from tollgate.attempt where state = 'sending' and lease_until < now())
    or exists (${dueEvents})
    or exists (${settlementDue})
    or exists (${reportsDue}) as due`

export type Look = Found & {
  due: boolean
  /** Rows of the audit trail without a link, and the end of the chain. */
  waits: boolean
  last_no: bigint
  /** Jobs that wait, by their queue. */
  ready: Readonly<Record<string, number>>
}

export type Asked = {
  readonly now: Date
  /** Lowest event id that is looked at. */
  readonly floor: string
  /** How many workers each queue has, as JSON. */
  readonly workers: string
}

/** All that an idle worker asks, in one statement. Right after a failover nothing is due. */
export const lookAtAll = ({ now, floor, workers }: Asked) => sql<Look>`
  select due.due and not (${isRestoring}) as due, coalesce(unlinked.waits, false) as waits, coalesce(unlinked.last_no, 0) as last_no,
    webhooks.listening, webhooks.waiting, webhooks.due as webhooks_due,
    (${readyJobs(workers)}) as ready
  from (${somethingDue}) as due
  left join (${anyUnlinked}) as unlinked on true
  cross join (${look(now, floor)}) as webhooks`
