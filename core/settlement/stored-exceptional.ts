/** The condition of records that operators look at, as the partial index of them has it. */
import { sql } from '../db/sql.ts'

/** Condition of `record`: without a match, with several readings, with a discrepancy, or not confirmed. */
export const isExceptional = sql`(record.match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES')
    or cardinality(record.discrepancies) > 0 or record.effect = 'failed'
    or record.is_unconfirmed)`
