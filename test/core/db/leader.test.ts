/** A failover behind a proxy that keeps its old connections: the former leader goes on answering. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { createGateway, type Gateway, localKeys } from '../../../core/index.ts'
import { type Pair, startPair } from '../../faults/postgres-pair.ts'
import { freshSimulator, testKey, until } from '../../rig/gateway.ts'
import acquirer, { connectorsAt } from '../../rig/installation/acquirer-plugin.ts'
import { channelId } from '../../rig/installation/installation.ts'
import { cardOf } from '../../rig/payment-request.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'

describe('a standby is promoted while the former leader goes on', () => {
  let pair: Pair
  let line: Line
  let gateway: Gateway
  const warnings: string[] = []
  before(async () => {
    pair = await startPair('asynchronous')
    line = await lineTo(pair.url)
    gateway = await start(line.url)
  })
  const start = (url: string) =>
    createGateway({
      database: { url },
      plugins: [acquirer, freshSimulator()],
      connectors: connectorsAt('http://127.0.0.1:9'),
      environment: 'test',
      keys: localKeys(testKey),
      log: { info: () => {}, warn: (_, message) => void warnings.push(message) },
      shutdownGraceMs: 2_000,
      startWait: 0,
    })
  after(async () => {
    await gateway?.close()
    await line?.close()
    await pair?.cluster.stop()
  })

  const ask = async <Row>(url: string, text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(text, values)).rows as Row[]
    } finally {
      await client.end()
    }
  }
  const pay = () =>
    gateway.payments.create({
      ...{ entityId: channelId, amount: '92.00', currency: 'EUR', paymentType: 'DB' },
      card: cardOf('4200000000000000'),
    } as never)
  const paymentsAt = async (url: string) =>
    new Set(
      (await ask<{ id: string }>(url, 'select id from tollgate.payment')).map(({ id }) =>
        id.replaceAll('-', ''),
      ),
    )
  /** Ids of all events from a position on, and the position behind them. */
  const readFrom = async (cursor?: string) => {
    const ids: string[] = []
    let place = cursor
    for (;;) {
      const page = await gateway.events.list(place === undefined ? {} : { cursor: place })
      ids.push(...page.events.map(({ id }) => String(id)))
      place = page.nextCursor
      if (page.events.length === 0) return { ids, cursor: place }
    }
  }

  test('a standby is not used', async () => {
    await assert.rejects(start(pair.standbyUrl), /the database server only reads/)
  })

  test('no answer is lost, and no connection stays at the former leader', async () => {
    await pay()
    await pair.cutOff()
    const answered: string[] = []
    for (let no = 0; no < 20; no += 1) answered.push((await pay()).id)
    const { ids, cursor } = await readFrom()
    const leader = await pair.promote()
    line.leadTo(leader)
    // The proxy keeps the connections: payments are answered by the former leader until a probe sees the new one.
    answered.push((await pay()).id)
    await until(async () => (warnings.some((one) => one.startsWith('another')) ? true : undefined))
    const left = () =>
      ask<{ name: string }>(
        pair.url,
        "select application_name as name from pg_stat_activity where application_name like 'tollgate %'",
      )
    // A server notices the end of a connection a moment later.
    await until(async () => ((await left()).length === 0 ? true : undefined)).catch(async () =>
      assert.deepEqual(await left(), []),
    )
    const there = (await paymentsAt(pair.url)).size
    answered.push((await pay()).id)
    assert.equal((await paymentsAt(pair.url)).size, there)
    const isThere = async () => {
      const now = await paymentsAt(leader)
      return answered.every((id) => now.has(id)) ? true : undefined
    }
    await until(isThere)
    for (const id of answered) {
      assert.equal((await gateway.payments.get(id)).result.code, '000.100.110')
    }
    // Readers keep their positions: each event of the new leader has a number above all of the former one.
    const [former] = await ask<{ next: string }>(
      pair.url,
      'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
    )
    const rewritten = async () => {
      const events = await ask<{ id: string; txid: string }>(
        leader,
        "select id, txid::text as txid from tollgate.event where type = 'payment.approved' and resource = any($1::uuid[])",
        [answered],
      )
      return events.length === answered.length ? events : undefined
    }
    const events = await until(rewritten)
    for (const { txid } of events) {
      assert.ok(BigInt(txid) > BigInt(former!.next), `${txid} after ${former!.next}`)
    }
    // Work that the failover left behind still runs, and the feed waits for it. The event of the cursor keeps its id.
    await until(async () => {
      const told = new Set([...(await readFrom(cursor)).ids, ids.at(-1)!])
      return events.every(({ id }) => told.has(id.replaceAll('-', ''))) ? true : undefined
    })
  })
})
