/** A part of the statements about the earlier tries of a checkout or of a due time. */
import { sql } from '../db/sql.ts'

/** States of attempts that hold no money: a late success has moved some. */
export const withoutMoney = sql`('declined', 'not-sent', 'expired')`
