import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import { startGateway } from '../../rig/gateway.ts'
import { everyStatement } from './every-statement.ts'

const schema = 'other_shop'

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
