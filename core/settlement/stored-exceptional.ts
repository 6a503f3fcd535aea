/** The condition of records that operators look at; the partial index of them has it, but for the last line. */
import { sql } from '../db/sql.ts'

/** Condition of `record`: without a match, with several readings, with a discrepancy, or not confirmed; not checked. */
export const isExceptional = sql`(record.match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES')
    or cardinality(record.discrepancies) > 0 or record.effect = 'failed'
    or record.is_unconfirmed)
    and record.checked_version is distinct from record.version`
