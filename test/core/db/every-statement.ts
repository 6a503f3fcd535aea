/** Every statement that the engine's stores export. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from '../../../core/db/sql.ts'

const core = join(import.meta.dirname, '../../../core')

const isStatement = (value: unknown): value is Sql =>
  typeof value === 'object' && value !== null && 'strings' in value && 'values' in value

/** Stands for any argument of a statement's function: every property is the object itself. */
const anything: unknown = new Proxy(() => anything, {
  get: (_, name) =>
    name === Symbol.toPrimitive
      ? () => '1'
      : name === Symbol.iterator
        ? [][Symbol.iterator]
        : anything,
  has: () => false,
})

/** Every statement that the stores export, whatever its values. */
export async function everyStatement(): Promise<Map<string, Sql>> {
  const found = new Map<string, Sql>()
  const files = globSync('**/store*.ts', { cwd: core, exclude: ['**/dist/**', '**/stored-*.ts'] })
  for (const file of [...files, 'db/durability.ts']) {
    const module: Record<string, unknown> = await import(join(core, file))
    for (const [name, exported] of Object.entries(module)) {
      for (const [form, made] of Object.entries(formsOf(exported))) {
        if (isStatement(made)) found.set(`${file} ${name} ${form}`, made)
      }
    }
  }
  return found
}

function formsOf(exported: unknown): Record<string, unknown> {
  if (isStatement(exported)) return { plain: exported }
  if (typeof exported === 'function') {
    const all = Array<unknown>(Math.max(6, exported.length)).fill(anything)
    const made = call(exported, all)
    if (!String(exported).includes('usedProposal')) return { made }
    // Most of these changes need no proposal, which is their last argument.
    return { made, alone: call(exported, all.with(exported.length - 1, null)) }
  }
  if (typeof exported !== 'object' || exported === null) return {}
  const { one, many } = exported as { one?: unknown; many?: unknown }
  return typeof one === 'function' && typeof many === 'function'
    ? { one: one({}), many: many([]) }
    : {}
}

function call(make: unknown, given: readonly unknown[]): unknown {
  try {
    return (make as (...all: unknown[]) => unknown)(...given)
  } catch {
    // Skips functions that read rows.
    return undefined
  }
}
