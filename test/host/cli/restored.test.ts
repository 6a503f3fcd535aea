/** A dump restored into a new server: the transactions of its events are ahead of the server's. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cursorOf } from '../../../core/event-feed/position.ts'
import { GatewayError } from '../../../core/index.ts'
import { startGateway, testKey, until } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

test('the doctor detects a restored database, and its statement completes the feed from every cursor', async () => {
  const run = await startGateway()
  const project = await projectFolder()
  const env = { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey }
  const examined = async () => {
    const { out } = await runTollgate(['doctor'], { folder: project.path, env })
    return out.split('\n').filter((line) => /transaction counter/.test(line))
  }
  const told = async (request: { cursor?: string; since?: string }) => {
    const { events } = await run.gateway.events.list(request)
    return events.map(({ payload }) => payload.id)
  }
  try {
    assert.deepEqual(await examined(), [
      'ok       the transaction counter of the server is ahead of all rows',
    ])
    const paid = [await run.pay(), await run.pay()]
    await run.sql(`update tollgate.event set txid = (txid::text::bigint + 20000)::text::xid8`)
    const [first, second] = await run.sql<{ id: string; txid: string; seq: number }>(
      'select id, txid::text, seq from tollgate.event e order by e.txid',
    )
    const place = { isWithin: false, atMs: Date.now(), sinceMs: null }
    const reader = { cursor: cursorOf({ ...first!, ...place }) }
    const refused = await told(reader).catch((error: unknown) => error)
    assert.ok(refused instanceof GatewayError)
    assert.match(
      refused.parameterErrors[0]!.message,
      /restored from a backup: start again with since/,
    )
    assert.deepEqual(await told({ since: '2020-01-01' }), [])

    const [note] = await examined()
    assert.match(note!, /^note .* The first start leaves these numbers out by itself\./)
    const far = `(txid::text::bigint + 2000000)::text::xid8`
    await run.sql(`update tollgate.event set txid = ${far} where id = $1`, [second!.id])
    const [problem] = await examined()
    await run.sql('update tollgate.event set txid = $2::xid8 where id = $1', [
      second!.id,
      second!.txid,
    ])
    const highest = String(BigInt(second!.txid) + 2_000_000n)
    assert.match(
      problem!,
      new RegExp(`^PROBLEM +.* rows have transaction numbers up to ${highest},`),
    )
    assert.match(
      problem!,
      /the transaction counter of the server is \d+, .* as after a restore: .* hide rows/,
    )
    await run.sql(/run: (do .*)$/.exec(note!)![1]!)
    assert.deepEqual(await examined(), [
      'ok       the transaction counter of the server is ahead of all rows',
    ])
    const late = await run.pay()
    const [one, two] = paid.map(({ id }) => id)
    await olderTransactionsEnd(run)
    await until(async () => ((await told(reader)).length === 2 ? true : undefined))
    assert.deepEqual(await told(reader), [two, late.id])
    assert.deepEqual(await told({ since: '2020-01-01' }), [one, two, late.id])
  } finally {
    await run.close()
    await project.remove()
  }
})
