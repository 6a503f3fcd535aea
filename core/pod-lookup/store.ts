/** Whether this database has a row: one look-up by its key. */
import { sql } from '../db/sql.ts'

export type Found = { found: boolean }

export const hasToken = (plain: Buffer, limited: Buffer) => sql<Found>`
  select exists (select from tollgate.token where hash in (${plain}, ${limited})) as found`

export const hasEntity = (id: string) => sql<Found>`
  select exists (select from tollgate.entity where id = ${id}::uuid) as found`

export const hasAccount = (id: string) => sql<Found>`
  select exists (select from tollgate.merchant_account where id = ${id}::uuid) as found`

export const hasPayment = (id: string) => sql<Found>`
  select exists (select from tollgate.payment where id = ${id}::uuid) as found`

export const hasCheckout = (id: string) => sql<Found>`
  select exists (select from tollgate.checkout where id = ${id}::text) as found`
