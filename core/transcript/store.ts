/** SQL that writes and deletes steps. */
import { sql } from '../db/sql.ts'

/** A step ready to be written; `detail` is anything that is JSON. */
export type StepRow = {
  readonly payment_id: string
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at_ms: number
  readonly duration_us: number | null
  readonly name: string
  readonly outcome: string | null
  readonly detail: object | null
}

/** Writes many at once. Writing them again after a lost answer changes nothing. */
export const addSteps = (rows: string) => sql`
  insert into tollgate.step (payment_id, id, at, duration_us, name, outcome, detail)
  select payment_id, id, to_timestamp(at_ms / 1000), duration_us, name, outcome, detail
  from json_to_recordset(${rows}::json) as given(payment_id uuid, id uuid, at_ms double precision, duration_us bigint,
    name text, outcome text, detail jsonb)
  on conflict do nothing`

export const dropSteps = (days: number) => sql<{ dropped: number }>`
  select tollgate.drop_steps(now() - ${days}::integer * interval '1 day') as dropped`

/** A batch of those that no month's partition holds, of payments that are past their time. */
export const purgeSteps = (days: number, batch: number) => sql<{ id: string }>`
  delete from tollgate.step_default
  where ctid in (
    select ctid
    from tollgate.step_default
    where at < now() - ${days}::integer * interval '1 day'
    limit ${batch}::integer)
  returning id`

/** A step as it was read. */
export type ReadStepRow = {
  id: string
  at: Date
  duration_us: bigint | null
  name: string
  outcome: string | null
  detail: StepDetail | null
}

/** Details of a step beside its outcome; every text is scrubbed. */
export type StepDetail = {
  readonly lease?: number
  /** The number of the request that made the payment. */
  readonly ndc?: string
  /** False: nothing that moves money can have left the process. */
  readonly sent?: false
  /** True: the call ended after its deadline. */
  readonly late?: true
  readonly said?: Readonly<Record<string, unknown>>
  /** An error of the connector's code: its kind and place. */
  readonly thrown?: { readonly kind: string; readonly place?: string }
  readonly requests?: readonly unknown[]
  readonly times?: number
}

/**
 * The last payment whose calls belong to this request, among those with ids in a range. Payments get their ids
 * soon after their request gets its number, so a short range finds them.
 */
export const paymentsOfRequest = (ndc: string, fromId: string, toId: string) => sql<{
  payment_id: string
}>`
  select payment_id
  from tollgate.step
  where payment_id >= ${fromId}::uuid and payment_id <= ${toId}::uuid and detail ->> 'ndc' = ${ndc}::text
  order by payment_id desc
  limit 1`

export const stepsOf = (paymentId: string, limit: number) => sql<ReadStepRow>`
  select id, at, duration_us, name, outcome, detail
  from tollgate.step
  where payment_id = ${paymentId}::uuid
  order by id
  limit ${limit}::integer`
