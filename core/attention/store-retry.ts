/** SQL that retries a message of an acquirer. */
import type { Actor } from '../audit/actor.ts'
import type { AuditEntry } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import { audited } from './stored-ending.ts'

/**
 * Closes the entry and puts its message back, in one statement, since a fast worker may list it
 * again. For a second content of an event id, retries that content as a message of its own; no
 * event id contains a blank. One that freezes balances stays open until this content is done. Empty when the entry is not open, or no message is aside for it.
 */
export const retryMessage = (
  id: string,
  by: Actor,
  audit: Pick<AuditEntry, 'id' | 'detail'>,
) => sql<{ event_id: string }>`
with asked as (
  select id, kind, detail
  from tollgate.attention
  where id = ${id}::uuid and resolved_at is null and kind in ('event', 'unclaimed')
  for update),
reopened as (
  update tollgate.inbound_event as event
  set processed_at = null, outcome = null, tries = 0, waits = 0, next_at = now()
  from asked
  where event.connector = asked.detail ->> 'connector' and event.account = asked.detail ->> 'account'
    and event.event_id = (asked.detail ->> 'event') || coalesce(' says ' || (asked.detail ->> 'digest'), '')
    and (asked.kind = 'unclaimed' and event.outcome = 'unknown-key'
      or asked.kind = 'event' and asked.detail ?| '{error,digest}' and event.outcome = 'quarantined')
  returning event.event_id),
stored as (
  insert into tollgate.inbound_event (connector, account, event_id, claim)
  select detail ->> 'connector', detail ->> 'account', (detail ->> 'event') || ' says ' || (detail ->> 'digest'),
    detail -> 'now'
  from asked
  where kind = 'event' and detail ? 'digest' and jsonb_typeof(detail -> 'now') = 'object'
  on conflict do nothing
  returning event_id),
again as (
  select event_id from reopened
  union all
  select event_id from stored),
ended as (
  update tollgate.attention set resolved_by = ${by.name ?? by.id}::text,
    resolved_at = case when attention.freezes = '{}' then now() end
  from again
  where attention.id = ${id}::uuid
  returning attention.id, attention.payment_id, attention.kind),
${audited(by, audit)}
select event_id from again`
