import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import type { Sql } from '../../../core/db/sql.ts'
import { startGateway } from '../../rig/gateway.ts'

const core = join(import.meta.dirname, '../../../core')
const schema = 'other_shop'

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
async function everyStatement(): Promise<Map<string, Sql>> {
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
  if (typeof exported === 'function') return { made: call(exported) }
  if (typeof exported !== 'object' || exported === null) return {}
  const { one, many } = exported as { one?: unknown; many?: unknown }
  return typeof one === 'function' && typeof many === 'function'
    ? { one: one({}), many: many([]) }
    : {}
}

function call(make: unknown): unknown {
  try {
    return (make as (...all: unknown[]) => unknown)(
      anything,
      anything,
      anything,
      anything,
      anything,
      anything,
    )
  } catch {
    // Skips functions that read rows.
    return undefined
  }
}

describe('statements', () => {
  test('each statement prepares against the migrated schema under a name of its own', async () => {
    const run = await startGateway({ cloned: false, schema })
    try {
      const database = new Database({ url: 'postgres://unused', schema })
      const statements = await everyStatement()
      assert.ok(statements.size > 45, `only ${statements.size} statements were found`)
      const texts = new Set<string>()
      const broken: string[] = []
      for (const [where, { strings }] of statements) {
        const { name, text } = database.prepared(strings)
        assert.doesNotMatch(text, /\btollgate\./, where)
        texts.add(text)
        await run
          .sql(`prepare "${name}" as ${text}`)
          .catch((error: Error) => broken.push(`${where}: ${error.message}`))
        await run.sql(`deallocate all`)
      }
      assert.deepEqual(broken, [])

      // Statements prepared by a running engine must be among the exported ones.
      const { id } = await run.pay({ paymentType: 'PA' })
      const capture = await run.gateway.payments.capture(id, { amount: '1.00', currency: 'EUR' })
      await run.gateway.payments.refund(capture.id, { amount: '1.00', currency: 'EUR' })
      await run.gateway.payments.reverse(id)
      await run.gateway.payments.get(id)
      const elsewhere = run.gateway
        .statements()
        .filter(({ text }) => text.includes(schema) && !texts.has(text))
        // A table that only an upgrade uses.
        .filter(({ text }) => !text.includes(`${schema}.idempotency_plain`))
        .map(({ text }) => text.trim().split('\n')[0])
      assert.deepEqual(elsewhere, [])
    } finally {
      await run.close()
    }
  })

  test('a statement has the same name in every process, and another name in another schema', () => {
    const strings = ['select id from tollgate.payment where id = ', '']
    const name = (schemaName?: string) =>
      new Database({
        url: 'postgres://unused',
        ...(schemaName === undefined ? {} : { schema: schemaName }),
      }).prepared(strings).name
    assert.equal(name(), name())
    assert.notEqual(name(), name('other_shop'))
    assert.match(name(), /^[0-9a-f]{32}$/)
  })

  test('a schema name that is not a plain identifier is refused', () => {
    for (const wrong of ['', 'Shop', 'a-b', 'a;drop', '1shop', 'x'.repeat(42)]) {
      assert.throws(
        () => new Database({ url: 'postgres://unused', schema: wrong }),
        /database\.schema/,
      )
    }
  })
})
