/** SQL of names that lines have only masked, and of the payments that can have them. */
import { sql } from '../../db/sql.ts'
import type { Ids, NameKind } from './store-named.ts'
import {
  isPaymentOfPlace,
  type Places,
  paymentColumns,
  placesOf,
  type Refs,
} from './stored-places.ts'

/** Names of lines that are stored masked. */
export const askedMasked = (runId: string) => sql<{ scope_id: string; key: string }>`
select distinct scope_id, key
from tollgate.settlement_asked
where run_id = ${runId}::uuid and key ~ ${'^[1-4] .*[*].*#[0-9a-f]{16}$'}::text`

/** A name of a payment that can be masked; without a scope: the last payment of a page. */
export type Maskable = {
  scope_id: string | null
  id: string | null
  kind: NameKind | null
  name: string | null
}

/** Where payments with masked names are looked for: of some ids, or among the candidates of the decision before. */
export type MaskedWhere = Ids | 'known'

/**
 * The next payments, in the order of their ids, with those of their names that can be masked. The last row has the
 * last id of the page; null: there are no more.
 *
 * @param endings Last four characters of the names; null: any.
 */
export const maskable = (
  runId: string,
  places: Places,
  refs: Refs,
  where: MaskedWhere,
  endings: readonly string[] | null,
  after: string,
  limit: number,
) => sql<Maskable>`
with ${placesOf(places)},
page as materialized (
  select ${paymentColumns}, payment.answer -> 'refs' as refs, payment.merchant_transaction_id
  from tollgate.payment
  where payment.id > ${after}::uuid and ${
    where === 'known'
      ? sql`payment.id in (
        select known.payment_id
        from tollgate.settlement_work as work
        cross join lateral unnest(work.known) as known (payment_id)
        where work.run_id = ${runId}::uuid)`
      : sql`payment.id <= ${where.upTo}::uuid`
  }
  order by payment.id
  limit ${limit}::integer)
select place.scope_id, replace(payment.id::text, '-', '') as id, given.kind, given.name
from page as payment
join place on ${isPaymentOfPlace(places)}
cross join lateral (values
  ('1', payment.refs ->> ${refs[0]}::text),
  ('2', payment.refs ->> ${refs[1]}::text),
  ('3', payment.refs ->> ${refs[2]}::text),
  ('4', payment.merchant_transaction_id)) as given (kind, name)
where length(given.name) >= 13 and given.name ~ '[0-9]'
  and (${endings}::text[] is null or lower(right(btrim(given.name), 4)) = any(${endings}::text[]))
union all
select null, replace(max(payment.id::text), '-', ''), null, null
from page as payment`
