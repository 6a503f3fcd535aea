/** A window of the lines of a run. Each transaction of matching works on one, so that none takes long. */
import { type Sql, sql } from '../../db/sql.ts'

export type Lines = { readonly after: number; readonly upTo: number }

/** Condition: the line of a table, by its name in the statement, is in the window. */
export const inWindow = (of: Sql, { after, upTo }: Lines): Sql =>
  sql`${of}.line > ${after}::integer and ${of}.line <= ${upTo}::integer`
