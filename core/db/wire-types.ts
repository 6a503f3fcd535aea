import postgres from 'pg'
import type * as pg from './pg-types.ts'

const int8 = 20
const uuid = 2950
const uuids = 2951
/** Ids travel as 32 hex characters everywhere outside Postgres, and int8 as bigint. */
export const wireTypes = {
  getTypeParser(oid: number, format?: string) {
    if (oid === uuid) return (value: string) => value.replaceAll('-', '')
    if (oid === uuids)
      return (value: string) => value.replaceAll('-', '').match(/[0-9a-f]{32}/g) ?? []
    if (oid === int8) return (value: string) => BigInt(value)
    return postgres.types.getTypeParser(oid as never, format as never)
  },
} as pg.CustomTypesConfig
