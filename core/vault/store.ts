import { sql } from '../db/sql.ts'

export type DataKeyRow = {
  id: string
  purpose: 'seal' | 'mac'
  key_encryption_key_id: string
  wrapped: Buffer
  retired_at: Date | null
}

export const allDataKeys = sql<DataKeyRow>`
  select id, purpose, key_encryption_key_id, wrapped, retired_at
  from tollgate.data_key
  order by created_at`

export const dataKeyById = (id: string) => sql<DataKeyRow>`
  select id, purpose, key_encryption_key_id, wrapped, retired_at
  from tollgate.data_key
  where id = ${id}`

/** Two processes that start at once both try: the unique index lets one of them in. */
export const addDataKey = (id: string, purpose: string, keyId: string, wrapped: Buffer) => sql`
  insert into tollgate.data_key (id, purpose, key_encryption_key_id, wrapped)
  values (${id}, ${purpose}, ${keyId}, ${wrapped})
  on conflict do nothing`

export type InstrumentRow = { id: string; data_key_id: string; sealed: Buffer }

export const instrumentById = (id: string) => sql<InstrumentRow>`
  select id, data_key_id, sealed
  from tollgate.instrument
  where id = ${id}`
