/**
 * The previous version on the database of this one: its processes run on while this version migrates, and
 * may come back after it. New migrations extend tables; what older statements need goes only later, in
 * a migration that is marked as breaking.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { MigrationError } from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { root } from '../../rig/sources.ts'
import { migrationNames, recorded } from './recorded.ts'

const migrations = 'core/db/migrations'

/** Errors that say that something is not there, or not of the expected type, any more. */
const isOfSchema = (code: unknown) => /^(?:42|0A|3F|26)/.test(String(code))

/** Runs a statement with no values inside a transaction that is undone. Refused rows are no trouble here. */
async function problemOf(
  { sql }: TestGateway,
  text: string,
): Promise<{ code: string; message: string } | undefined> {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, no]) => Number(no)))
  const values = Array.from({ length: count }, () => 'null').join(', ')
  try {
    await sql(`prepare recorded as ${text}`)
    await sql('begin')
    await sql(`execute recorded${count === 0 ? '' : `(${values})`}`)
  } catch (thrown) {
    const { code, message } = thrown as Error & { code: string }
    return isOfSchema(code) ? { code, message } : undefined
  } finally {
    await sql('rollback')
    await sql('deallocate all')
  }
  return undefined
}

describe('processes of the previous version', () => {
  const { migration, statements } = recorded()

  test('their statements prepare and run on the tables of this version', async () => {
    assert.ok(Object.keys(statements).length > 300)
    const run = await startGateway({ role: 'api' })
    try {
      const broken: string[] = []
      for (const [where, text] of Object.entries(statements)) {
        const problem = await problemOf(run, text)
        if (problem !== undefined) broken.push(`${where}: ${problem.code} ${problem.message}`)
      }
      assert.deepEqual(broken, [])
    } finally {
      await run.close()
    }
  })

  test('a migration that takes a column or a function away would be noticed', async () => {
    const run = await startGateway({ role: 'api' })
    try {
      const of = (table: RegExp) =>
        Object.values(statements).find((text) => table.test(text)) ?? assert.fail()
      const reading = of(/select[^;]*\bdetail\b[^;]*from tollgate\.step\b/)
      assert.equal(await problemOf(run, reading), undefined)
      await run.sql('alter table tollgate.step rename column detail to details')
      assert.equal((await problemOf(run, reading))?.code, '42703')
      const calling = of(/tollgate\.drop_steps\(/)
      assert.equal(await problemOf(run, calling), undefined)
      await run.sql('drop function tollgate.drop_steps')
      assert.equal((await problemOf(run, calling))?.code, '42883')
    } finally {
      await run.close()
    }
  })

  test('no migration since their record is marked as breaking: a breaking one needs a new record', () => {
    const names = migrationNames()
    assert.ok(names.includes(migration), `${migration} is no migration`)
    const later = names.slice(names.indexOf(migration) + 1)
    const breaking = later.filter((name) =>
      readFileSync(path.join(root, migrations, name), 'utf8').startsWith('-- breaking'),
    )
    assert.deepEqual(breaking, [])
  })

  test('start again on a newer database with migrate: false, take payments, and migrate nothing', async () => {
    const run = await startGateway({ role: 'api' })
    try {
      // What a newer version may have added.
      await run.sql(
        `insert into tollgate.migration (name, checksum) values ('9999_later.sql', 'x')`,
      )
      await run.sql('alter table tollgate.payment add column later text')
      await run.sql('create table tollgate.later (id uuid primary key)')
      const older = await run.another({ migrate: false, role: 'all' })
      const paid = await run.pay({}, { on: older })
      assert.equal(paid.result.code, '000.100.110')
      const refunded = await older.payments.refund(paid.id, { amount: '1.00', currency: 'EUR' })
      assert.equal(refunded.result.code, '000.100.110')
      await assert.rejects(run.another({ migrate: true }), MigrationError)
    } finally {
      await run.close()
    }
  })
})
