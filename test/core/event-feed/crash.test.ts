/** Postgres reuses the numbers of transactions without writes after a crash. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createGateway, type Gateway, localKeys } from '../../../core/index.ts'
import { startTestCluster } from '../../rig/cluster.ts'
import { card, freshSimulator, testKey, until } from '../../rig/gateway.ts'

const open = (url: string) =>
  createGateway({
    database: { url },
    plugins: [freshSimulator()],
    environment: 'test',
    keys: localKeys(testKey),
    role: 'api',
    shutdownGraceMs: 500,
  })

async function openChannel({ entities }: Gateway): Promise<string> {
  const psp = await entities.create({ kind: 'psp', name: 'Demo' })
  const division = await entities.create({ kind: 'division', name: 'Demo', parentId: psp })
  const merchant = await entities.create({ kind: 'merchant', name: 'Demo', parentId: division })
  return entities.create({ kind: 'channel', name: 'Demo', parentId: merchant })
}

async function pay({ payments }: Gateway, entityId: string): Promise<string> {
  const { id, result } = await payments.create({
    entityId,
    ...card('4200000000000000'),
  } as never)
  assert.equal(result.code, '000.100.110')
  return id
}

async function horizonOf(client: pg.Client): Promise<bigint> {
  const { rows } = await client.query<{ at: string }>(
    'select pg_snapshot_xmin(pg_current_snapshot())::text as at',
  )
  return BigInt(rows[0]!.at)
}

test('the feed tells an event although the server crashed and its counter fell back', async () => {
  const cluster = await startTestCluster({ durable: true })
  try {
    const { url } = cluster
    let gateway = await open(url)
    const entityId = await openChannel(gateway)
    let fell = false
    for (let round = 0; round < 5 && !fell; round += 1) {
      const before = await pay(gateway, entityId)
      const told = await until(async () => {
        const page = await gateway.events.list({ limit: '100' })
        return page.events.some(({ payload }) => payload.id === before) ? page : undefined
      })
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      await client.connect()
      for (let no = 0; no < 200; no += 1) {
        await client.query('begin; select pg_current_xact_id(); rollback')
      }
      const high = await horizonOf(client)
      const { nextCursor: cursor } = await gateway.events.list({ cursor: told.nextCursor })
      await cluster.restart('SIGQUIT')
      await client.end().catch(() => {})
      await gateway.close()
      gateway = await open(url)
      const after = await pay(gateway, entityId)
      const again = new pg.Client({ connectionString: url })
      await again.connect()
      fell = (await horizonOf(again)) < high
      await again.end()
      await until(async () => {
        const { events } = await gateway.events.list({ cursor })
        return events.some(({ payload }) => payload.id === after) ? true : undefined
      })
    }
    assert.ok(fell, 'the counter never fell: the server wrote between the rollbacks and its end')
    await gateway.close()
  } finally {
    await cluster.stop()
  }
})
