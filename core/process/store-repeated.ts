/** What a new leader or a restored copy must not repeat, although it knows only a part of what was done before. */
import { limits } from '@tollgate/schemas'
import { sql } from '../db/sql.ts'

/**
 * Leaves out numbers of short ids where the leader is new or the database is a copy. The tables of a copy have other
 * ids; its leader is noted again, so that everything in the copy is older than the note.
 */
export const leaveOutRepeated = (isNewLeader: boolean) => sql`
with copied as (
  update tollgate.server_place set place =
    (select oid::text from pg_database where datname = current_database()) || '/' || tableoid::text
  where place <> (select oid::text from pg_database where datname = current_database()) || '/' || tableoid::text
  returning place),
noted as (
  update tollgate.server_timeline set since = now()
  from copied)
select setval('tollgate.short_no', last_value + ${limits.skippedShortNumbers}::integer)
from tollgate.short_no
where (${isNewLeader}::boolean or exists (select from copied)) and last_value < 999000000000`
