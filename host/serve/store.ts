import { type DatabaseOptions, databaseAddress } from '@tollgate/core'
import pg from 'pg'

/**
 * Whether this database already holds data sealed with keys. False for one that Tollgate never used.
 */
export async function isSealed(options: DatabaseOptions): Promise<boolean> {
  const { schema } = options
  const client = new pg.Client({
    ...databaseAddress(options),
    connectionTimeoutMillis: 5000,
    application_name: 'tollgate start',
  })
  // The failing query reports a server that disappears.
  client.on('error', () => {})
  try {
    await client.connect()
    const table = await client.query<{ exists: boolean }>(
      'select to_regclass($1) is not null as exists',
      [`${schema}.data_key`],
    )
    if (table.rows[0]?.exists !== true) return false
    const rows = await client.query<{ sealed: boolean }>(
      `select exists (select from ${schema}.data_key) as sealed`,
    )
    return rows.rows[0]?.sealed === true
  } finally {
    await client.end().catch(() => {})
  }
}
