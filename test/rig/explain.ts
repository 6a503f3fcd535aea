import pg from 'pg'
import { Database } from '../../core/db/database.ts'
import type { Sql } from '../../core/db/sql.ts'

export type PlanNode = { readonly [name: string]: unknown }

/**
 * The generic plan of a statement, as the engine's connections use it.
 *
 * @param options of `explain` beside the format
 */
export async function explainGeneric(
  client: pg.Client,
  statement: Sql,
  options: readonly string[] = [],
): Promise<PlanNode> {
  const { text, values } = new Database({ url: 'postgres://unused' }).config(statement)
  await client.query('set plan_cache_mode = force_generic_plan')
  await client.query(`prepare looked_at as ${text}`)
  const literals = (values as unknown[]).map((value) =>
    value === null
      ? 'null'
      : pg.escapeLiteral(
          value instanceof Date
            ? value.toISOString()
            : Array.isArray(value)
              ? `{${value.join()}}`
              : String(value),
        ),
  )
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (${['format json', ...options].join()}) execute looked_at(${literals.join()})`,
  )
  await client.query('deallocate looked_at')
  return rows[0]!['QUERY PLAN'][0].Plan
}
