/** Fills a database with payments by SQL, into the real tables and their indexes. */
import type pg from 'pg'

/** Options of a filling. */
export type Filling = {
  /** Months of the payments, including the current one. */
  readonly months?: number
  /** Tables to fill; all by default. */
  readonly only?: readonly string[]
  /** Additional columns that differ between copies: expressions over `copy.no` and `sample`. */
  readonly own?: Readonly<Record<string, string>>
}

/** Rows of one statement: few enough to limit its triggers and memory. */
const batch = 100_000

/**
 * For each table, the row of a sample payment and the columns that differ between copies. All other
 * columns are copied.
 */
const tables: readonly {
  readonly name: string
  readonly belongs: string
  readonly own: Readonly<Record<string, string>>
}[] = [
  {
    name: 'payment',
    belongs: 'id = $1',
    own: {
      id: 'copy.id',
      root_id: 'copy.id',
      short_no: 'copy.no',
      created_at: 'copy.at',
      settled_at: 'copy.at',
      attempt_key: "replace(copy.id::text, '-', '')",
      merchant_transaction_id: "'stored-' || copy.no",
    },
  },
  { name: 'payment_request', belongs: 'id = $1', own: { id: 'copy.id' } },
  {
    name: 'attempt',
    belongs: 'payment_id = $1',
    own: { key: "replace(copy.id::text, '-', '')", payment_id: 'copy.id', sent_at: 'copy.at' },
  },
  { name: 'payment_balance', belongs: 'payment_id = $1', own: { payment_id: 'copy.id' } },
  { name: 'instrument', belongs: 'id = $1', own: { id: 'copy.id' } },
  {
    name: 'event',
    belongs: 'resource = $1',
    own: { id: 'copy.other_id', resource: 'copy.id', at: 'copy.at' },
  },
  {
    name: 'idempotency',
    belongs: 'payment_id = $1',
    own: { key: "'stored-' || copy.no", payment_id: 'copy.id', created_at: 'copy.at' },
  },
]

/** Ids begin with their time, as the engine's do, evenly spread over the months. */
const copies = `
  select no, at,
    (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(no::text), 1, 19))::uuid as id,
    (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5('e' || no), 1, 19))::uuid as other_id
  from (
    select no, $2::timestamptz + ($6::timestamptz - $2::timestamptz) * (no::float8 / $5::float8) as at
    from generate_series($3::bigint, $4::bigint) as no) as moment`

/** Stores `wanted` copies of a payment and resolves with the database's size in megabytes. */
export async function fill(
  client: pg.Client,
  sample: string,
  wanted: number,
  { months = 6, only, own: more = {} }: Filling = {},
): Promise<number> {
  // Filled rows can be lost in a crash; measured ones cannot.
  await client.query('set synchronous_commit = off')
  await client.query('select tollgate.create_partitions(now() - make_interval(months => $1), $1)', [
    months - 1,
  ])
  const { rows: since } = await client.query<{ at: Date; until: Date }>(
    "select date_trunc('month', now()) - make_interval(months => $1) as at, now() as until",
    [months - 1],
  )
  for (const { name, belongs, own: usual } of tables) {
    if (only?.includes(name) === false) continue
    const own = name === 'payment' ? { ...usual, ...more } : usual
    const { rows: columns } = await client.query<{ column: string }>(
      `select column_name as column from information_schema.columns
       where table_schema = 'tollgate' and table_name = $1 order by ordinal_position`,
      [name],
    )
    const names = columns.map(({ column }) => column)
    const missing = Object.keys(own).filter((column) => !names.includes(column))
    if (missing.length > 0) throw new Error(`tollgate.${name} has no column ${missing.join(', ')}`)
    const values = names.map((column) => own[column] ?? `sample.${column}`)
    const text = `insert into tollgate.${name} (${names.join(', ')})
      select ${values.join(', ')}
      from (${copies}) as copy,
        (select * from tollgate.${name} where ${belongs} limit 1) as sample`
    for (let no = 1; no <= wanted; no += batch) {
      const last = Math.min(no + batch - 1, wanted)
      const { rowCount } = await client.query(text, [
        sample,
        since[0]?.at,
        no,
        last,
        wanted,
        since[0]?.until,
      ])
      if (rowCount !== last - no + 1) throw new Error(`the sample payment has no row in ${name}`)
    }
  }
  await client.query('reset synchronous_commit')
  await client.query('vacuum (analyze)')
  await client.query('checkpoint')
  const { rows } = await client.query<{ size: string }>(
    'select pg_database_size(current_database()) / 1048576 as size',
  )
  return Number(rows[0]?.size)
}
