import { sql } from '../db/sql.ts'

export type WidgetFileRow = {
  hash: string
  name: string
  type: string
  policy: string | null
  bytes: Buffer
}

export const widgetFile = (hash: string, name: string) => sql<WidgetFileRow>`
  select hash, name, type, policy, bytes
  from tollgate.widget_file
  where hash = ${hash}::text and name = ${name}::text`

/** The stored ones among files of these hashes. */
export const widgetFilesOf = (hashes: readonly string[]) => sql<{ hash: string; name: string }>`
  select hash, name
  from tollgate.widget_file
  where hash = any(${hashes}::text[])`

export const addWidgetFile = ({ hash, name, type, policy, bytes }: WidgetFileRow) => sql`
  insert into tollgate.widget_file (hash, name, type, policy, bytes)
  values (${hash}::text, ${name}::text, ${type}::text, ${policy}::text, ${bytes}::bytea)
  on conflict (hash, name) do nothing`
