/** SQL of references beside other moves: what another process told of them meanwhile stays. */
import { type Sql, sql } from '../db/sql.ts'

/** What a move does to the references of a payment. */
export type StoredReferences = {
  /** JSON text of those that it names. */
  readonly named: string
  /** They replace no reference that the acquirer gave. */
  readonly isByOperator: boolean
  /** The name of the one that a success is known by, where it is the first to give it; null: unchanged. */
  readonly first: string | null
  /** JSON text of the references that the move expects, with their origin; null: any. */
  readonly seen: string | null
}

const refs = sql`coalesce(payment.answer -> 'refs', '{}')`
const byOperator = sql`coalesce(payment.answer -> 'byOperator', '{}')`

/** Part of a statement: the references that the acquirer gave. */
const ofAcquirer = sql`(
      select coalesce(jsonb_object_agg(given.key, given.value), '{}')
      from jsonb_each(${refs}) as given
      where given.value is distinct from ${byOperator} -> given.key)`

/** Value of `payment.answer`: the JSON text of an answer, or the present one, with the references. */
export const answerWith = (
  answer: string | null,
  { named, isByOperator, first }: StoredReferences,
): Sql => sql`
    case when ${answer}::jsonb is null and ${named}::jsonb = '{}' then payment.answer
    else (coalesce(${answer}::jsonb, payment.answer, '{}') - 'refs' - 'byOperator')
      || jsonb_strip_nulls(jsonb_build_object('named',
        coalesce(${first}::text, ${answer}::jsonb ->> 'named', payment.answer ->> 'named')))
      || jsonb_strip_nulls(jsonb_build_object(
        'refs', nullif(${refs} || ${named}::jsonb
          || case when ${isByOperator}::boolean then ${ofAcquirer} else '{}' end, '{}'),
        'byOperator', nullif(case when ${isByOperator}::boolean
          then (${byOperator} || ${named}::jsonb) - array(select jsonb_object_keys(${ofAcquirer}))
          else ${byOperator} - array(select jsonb_object_keys(${named}::jsonb)) end, '{}'))) end`

/** Condition of `payment`: its references are those that the move expects. */
export const hasSeen = ({ seen }: StoredReferences): Sql => sql`(${seen}::jsonb is null
    or ${seen}::jsonb = jsonb_build_object('refs', ${refs}, 'byOperator', ${byOperator}))`
