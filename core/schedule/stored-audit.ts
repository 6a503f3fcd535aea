/** The audit rows of changes by merchants, as parts of the statements that make the changes. */
import type { Actor } from '../audit/actor.ts'
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Schedule } from './types.ts'

type Times = Pick<Schedule, 'expression' | 'startAt' | 'endAt'>

const timesOf = ({ expression, startAt, endAt }: Times) => ({
  expression,
  startAt: startAt?.toISOString() ?? null,
  endAt: endAt?.toISOString() ?? null,
})

const audited = (entry: AuditEntry, from: Sql): Sql => sql`
audited as (${auditRows(entry, { from, resource: sql`id`, entityId: sql`channel_id` })})`

/** For the row in `new_schedule`. */
export const auditedCreation = (schedule: Schedule, by: Actor): Sql => {
  const { paymentType, amount, registrationId } = schedule
  const terms = { paymentType, amount: String(amount.minor), currency: amount.currency }
  const after = { ...timesOf(schedule), ...terms, registrationId }
  return audited({ actor: by, action: 'schedule.created', after }, sql`new_schedule`)
}

/** For the row in `changed`. */
export const auditedChange = (was: Times, times: Times, by: Actor): Sql => {
  const [before, after] = [timesOf(was), timesOf(times)]
  return audited({ actor: by, action: 'schedule.changed', before, after }, sql`changed`)
}

/** For the row in `changed`. */
export const auditedCancellation = (effectiveEnd: Date, by: Actor): Sql => {
  const after = { effectiveEnd: effectiveEnd.toISOString() }
  return audited({ actor: by, action: 'schedule.cancelled', after }, sql`changed`)
}
