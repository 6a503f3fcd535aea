import { dueEvents } from '../acquirer-events/store.ts'
import { sql } from '../db/sql.ts'
import { reportsDue } from '../report-delivery/store-queue.ts'
import { settlementDue } from '../settlement/store-file.ts'

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
