/**
 * Records the statements of this version, with the last migration that it knows. Run it when a version is
 * released: the next version's test proves that processes of this one still work on its database.
 *
 *     node --conditions=@tollgate/source test/core/db/recorded.ts
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Sql } from '../../../core/db/sql.ts'
import { root } from '../../rig/sources.ts'
import { everyStatement } from './every-statement.ts'

export type Recorded = {
  /** The last migration when they were recorded. */
  readonly migration: string
  /** Statement by its place. */
  readonly statements: Readonly<Record<string, string>>
}

const file = path.join(import.meta.dirname, 'generated/statements.json')

export const recorded = (): Recorded => JSON.parse(readFileSync(file, 'utf8'))

export const migrationNames = (): string[] =>
  globSync('core/db/migrations/*.sql', { cwd: root })
    .map((name) => path.basename(name))
    .sort()

export const textOf = ({ strings }: Sql): string =>
  strings.reduce((all, part, index) => `${all}$${index}${part}`)

if (process.argv[1] === import.meta.filename) {
  const statements = [...(await everyStatement())].map(([where, made]) => [where, textOf(made)])
  const record: Recorded = {
    migration: migrationNames().at(-1)!,
    statements: Object.fromEntries(statements.toSorted()),
  }
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(record, undefined, 1)}\n`)
  console.log(`recorded ${statements.length} statements of ${record.migration}`)
}
