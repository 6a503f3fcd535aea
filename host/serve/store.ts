import type { DatabaseOptions } from '@tollgate/core'
import { databaseClient } from '@tollgate/core/early'
import type pg from 'pg'

export type DatabaseFacts = {
  /** Names of migrations that ran. Empty for a database that Tollgate never used. */
  readonly migrations: readonly string[]
  /** Whether it belongs to an environment. */
  readonly isBound: boolean
  /** Whether it holds data sealed with keys. */
  readonly isSealed: boolean
}

/** What a database says before an engine uses it. Changes nothing. */
export async function databaseFacts(options: DatabaseOptions): Promise<DatabaseFacts> {
  const { schema } = options
  return withClient(options, async (client) => {
    const has = async (table: string): Promise<boolean> => {
      if (!(await hasTable(client, `${schema}.${table}`))) return false
      const { rows } = await client.query<{ has: boolean }>(
        `select exists (select from ${schema}.${table}) as has`,
      )
      return rows[0]?.has === true
    }
    const ran = (await has('migration'))
      ? await client.query<{ name: string }>(`select name from ${schema}.migration order by name`)
      : { rows: [] }
    return {
      migrations: ran.rows.map(({ name }) => name),
      isBound: await has('installation'),
      isSealed: await has('data_key'),
    }
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
  const client = databaseClient(options, { application_name: 'tollgate start' })
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
