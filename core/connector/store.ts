import { sql } from '../db/sql.ts'

export const recordByKey = (connector: string, account: string, key: string) => sql<{
  value: unknown
}>`
  select value
  from tollgate.connector_record
  where connector = ${connector} and account = ${account} and key = ${key}`

export const addRecord = (connector: string, account: string, key: string, value: string) => sql<{
  key: string
}>`
  insert into tollgate.connector_record (connector, account, key, value)
  values (${connector}, ${account}, ${key}, ${value}::jsonb)
  on conflict do nothing
  returning key`

export const swapRecord = (
  connector: string,
  account: string,
  key: string,
  expected: string,
  value: string,
) => sql<{ key: string }>`
  update tollgate.connector_record set value = ${value}::jsonb
  where connector = ${connector} and account = ${account} and key = ${key} and value = ${expected}::jsonb
  returning key`

/** The next number of a sequence, from 1 to `max` and again from 1. */
export const nextInSequence = (
  connector: string,
  account: string,
  name: string,
  max: number,
) => sql<{
  value: bigint
}>`
  insert into tollgate.connector_sequence (connector, account, name, value)
  values (${connector}, ${account}, ${name}, 1)
  on conflict (connector, account, name)
    do update set value = tollgate.connector_sequence.value % ${max}::bigint + 1
  returning value`
