import { type DatabaseOptions, databaseAddress } from '@tollgate/core'
import pg from 'pg'

/**
 * Whether this database already holds data sealed with keys. False for one that Tollgate never used.
 */
export async function isSealed(options: DatabaseOptions): Promise<boolean> {
  const { schema } = options
  return withClient(options, async (client) => {
    if (!(await hasTable(client, `${schema}.data_key`))) return false
    const rows = await client.query<{ sealed: boolean }>(
      `select exists (select from ${schema}.data_key) as sealed`,
    )
    return rows.rows[0]?.sealed === true
  })
}

/** What the database of a pod says about itself; undefined before its first start. */
export async function podFacts(
  options: DatabaseOptions,
): Promise<{ readonly pod: number; readonly merchants: number } | undefined> {
  const { schema } = options
  return withClient(options, async (client) => {
    const columns = await client.query(
      `select from information_schema.columns
       where table_schema = $1 and table_name = 'installation' and column_name = 'pod'`,
      [schema],
    )
    if (columns.rowCount === 0) return undefined
    const { rows } = await client.query<{ pod: number; merchants: number }>(
      `select pod, (select count(*)::integer from ${schema}.entity where kind = 'merchant') as merchants
       from ${schema}.installation`,
    )
    return rows[0]
  })
}

async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>(
    'select to_regclass($1) is not null as exists',
    [name],
  )
  return rows[0]?.exists === true
}

async function withClient<T>(
  options: DatabaseOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...databaseAddress(options),
    connectionTimeoutMillis: 5000,
    application_name: 'tollgate start',
  })
  // The failing query reports a server that disappears.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
