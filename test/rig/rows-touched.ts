/** How many rows a statement looks at, as its plan counts them. */
import pg from 'pg'
import type { Sql } from '../../core/db/sql.ts'
import { explainGeneric, type PlanNode } from './explain.ts'

/** Rows of the tables that are told of in the plan's nodes, those that were read and left out with them. */
export async function rowsTouched(
  url: string,
  statement: Sql,
  tables: readonly string[],
): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return countOf(await explainGeneric(client, statement, ['analyze']), tables)
  } finally {
    await client.end()
  }
}

function countOf(node: PlanNode, tables: readonly string[]): number {
  const below = ((node.Plans ?? []) as PlanNode[]).reduce(
    (sum, inner) => sum + countOf(inner, tables),
    0,
  )
  const name = String(node['Relation Name'])
  const isRead = tables.some((table) => name === table || name.startsWith(`${table}_`))
  if (!isRead || !String(node['Node Type']).includes('Scan')) return below
  const loops = Number(node['Actual Loops'])
  const left = Number(node['Rows Removed by Filter'] ?? 0)
  return below + (Number(node['Actual Rows']) + left) * loops
}
