/** All values in a database. */
import type { TestGateway } from './gateway.ts'

/** One value of a column, or of one place inside a JSON column. Names of JSON objects count too. */
export type Leaf = { readonly table: string; readonly column: string; readonly text: string }

/** All values of all tables of the engine and of its job queue. Bytes are hex digits. */
export async function leavesOf(run: Pick<TestGateway, 'sql'>): Promise<Leaf[]> {
  const tables = await run.sql<{ schema: string; name: string }>(
    `select table_schema as schema, table_name as name
       from information_schema.tables
      where table_schema like 'tollgate%' and table_type = 'BASE TABLE'`,
  )
  const leaves: Leaf[] = []
  for (const { schema, name } of tables) {
    const table = `${schema}.${name}`
    const rows = await run.sql<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${table} t`,
    )
    for (const { row } of rows) {
      for (const [column, value] of Object.entries(row)) {
        for (const text of textsIn(value)) leaves.push({ table, column, text })
      }
    }
  }
  return leaves
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) yield name
      yield* textsIn(inner)
    }
  } else if (value !== null) yield String(value)
}
