/** A request whose Idempotency-Key an uncommitted request holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { GatewayError } from '../../../core/index.ts'
import { card, startGateway, until } from '../../rig/gateway.ts'

test('a repeat conflicts with a request that is being written, and gets its payment once that is committed', async () => {
  const run = await startGateway({ role: 'api' })
  const client = new pg.Client({ connectionString: run.database.url })
  await client.connect()
  const { cvv: _never, ...number } = card('4200000000000000').card
  const request = { ...card('4200000000000000'), card: number, entityId: run.channel }
  const options = { idempotencyKey: 'order-1' }
  try {
    await client.query('begin')
    const accepted = await run.gateway.payments.accept(request as never, { ...options, client })
    const repeat = () => run.gateway.payments.create(request as never, options)
    const error = await until(async () => {
      const thrown: unknown = await repeat().catch((one: unknown) => one)
      assert.ok(thrown instanceof GatewayError, String(thrown))
      // A slow machine may give up its statement before the server does.
      return thrown.code === '999.999.888' ? undefined : thrown
    })
    assert.deepEqual([error.status, error.code, error.retryAfterSeconds], [429, '800.600.100', 1])
    assert.match(error.message, /conflicts with an earlier one with the same Idempotency-Key/)
    assert.deepEqual(error.parameterErrors, [], 'nothing is wrong with the key')
    assert.equal(error.retrySafe, false)
    await client.query('commit')
    assert.equal((await repeat()).id, accepted.id)
  } finally {
    await client.end()
    await run.close()
  }
})
