import { type Sql, sql } from '../db/sql.ts'

/** Condition: the money of a line or record goes the way of its transaction type. Of no money, no way is wrong. */
export const isRightWay = (of: Sql): Sql => sql`(${of}.amount_minor = 0
    or ${of}.cashflow = case when ${of}.transaction_type = 'DEBIT' then 'POS' else 'NEG' end)`
