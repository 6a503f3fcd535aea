/** A part of the statements about the earlier tries of a checkout. */
import { sql } from '../db/sql.ts'

/** States of attempts that hold no money: a late success has moved some. */
export const withoutMoney = sql`('declined', 'not-sent', 'expired')`
