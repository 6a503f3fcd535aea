/** Readers that pass very many events of other types are counted, and leave connections to everybody else. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { systemClock } from '../../../core/clock.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { type Sql, sql } from '../../../core/db/sql.ts'
import type { Engine } from '../../../core/engine.ts'
import { readFeed } from '../../../core/event-feed/feed.ts'
import { lowestId } from '../../../core/ids.ts'
import { GatewayError } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'

describe('readers of the feed that look past events of other types', () => {
  const windows = 5
  let run: TestGateway
  let other: string
  let database: Database
  let engine: Engine
  /** Looks for events that have begun, each with the function that lets it go on, and how many have. */
  const held: (() => void)[] = []
  let looks = 0
  let isHolding: boolean | 'all' = false

  class HoldingLanes extends Lanes {
    override async read<Row>(statement: Sql<Row>, tryMs?: number): Promise<Row[]> {
      if (!statement.strings.join('').includes('looked_at')) return super.read(statement, tryMs)
      looks += 1
      // The first look of a reader begins at the beginning.
      const isFirst = statement.values.includes(lowestId)
      if (isHolding === 'all' || (isHolding && !isFirst))
        await new Promise<void>((go) => held.push(go))
      return super.read(statement, tryMs)
    }
  }

  before(async () => {
    run = await startGateway({ role: 'api' })
    const { entities } = run.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    other = await entities.create({ kind: 'channel', name: 'Other', parentId: merchant })
    await run.sql(
      `insert into tollgate.event (id, resource, seq, channel_id, type, data)
       select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || substr(md5(n::text || channel_id), 1, 20))::uuid,
         gen_random_uuid(), 1, channel_id::uuid, 'payment.approved', '{"state":"approved","paymentType":"DB"}'
       from generate_series(1, $1::integer) n cross join unnest($2::text[]) channel_id`,
      [windows * limits.eventFeedWindow, [run.channel, other]],
    )
    await olderTransactionsEnd(run)
    database = new Database({ url: run.database.url })
    engine = {
      lanes: new HoldingLanes(database, { read: 4 }),
      clock: systemClock,
      inFlight: { closing: false, track: (work: unknown) => work },
      events: { on: () => () => {} },
      directory: {
        visible: async (caller: { entityId: string }) => [caller.entityId],
        merchantBehind: async (caller: { entityId: string }) => `merchant of ${caller.entityId}`,
      },
    } as unknown as Engine
    // Merchants share once there are two.
    for (const entityId of [run.channel, other]) await reader('met', entityId, () => true)
  })
  after(async () => {
    await database.close()
    await run.close()
  })

  const reader = (id: string, entityId: string, isGone: () => boolean) => {
    const fields = { types: 'REGISTRATION', wait: '30' }
    return readFeed(engine, { id, entityId }, { fields, names: [] }, isGone)
  }

  test('they have one look under way at a time, and the last of too many get 429 after their first', async () => {
    isHolding = true
    let isGone = false
    const refused: unknown[] = []
    const readers = Array.from({ length: limits.eventFeedWaitersPerToken + 10 }, () =>
      reader('one', run.channel, () => isGone).catch((error: unknown) => void refused.push(error)),
    )
    const ended = Promise.all(readers)
    looks = 0
    try {
      await until(async () => (refused.length === 10 ? true : undefined))
      for (const error of refused) {
        assert.ok(error instanceof GatewayError)
        assert.deepEqual([error.status, error.retryAfterSeconds], [429, 1])
      }
      // A first look of each reader, and one of all that read on.
      assert.equal(looks, readers.length + 1)
      assert.equal(held.length, 1)
      // While its looks wait, another merchant gets its page, and there are connections for payments.
      let hasLooked = false
      const neighbour = reader('two', other, () => hasLooked)
      await until(async () => (held.length === 2 ? true : undefined))
      hasLooked = true
      held.pop()!()
      assert.equal((await neighbour).more, true)
      assert.deepEqual(await engine.lanes.read(sql<{ one: number }>`select 1 as one`), [{ one: 1 }])
      assert.equal(held.length, 1)
    } finally {
      isGone = true
      isHolding = false
      for (const go of held.splice(0)) go()
      await ended
    }
  })

  test('beyond some readers of a merchant that have not looked yet, the next get 429 without a look', async () => {
    isHolding = 'all'
    looks = 0
    const refused: unknown[] = []
    const readers = Array.from({ length: 1 + limits.eventFeedWaitersPerMerchant + 10 }, (_, no) =>
      reader(`token ${no}`, run.channel, () => true).catch(
        (error: unknown) => void refused.push(error),
      ),
    )
    const neighbour = reader('two', other, () => true)
    try {
      await until(async () => (refused.length === 10 ? true : undefined))
      await until(async () => (held.length === 2 ? true : undefined))
      assert.equal(looks, 2)
      held.pop()!()
      assert.equal((await neighbour).more, true)
      assert.equal(held.length, 1)
    } finally {
      isHolding = false
      for (const go of held.splice(0)) go()
      await Promise.all(readers)
    }
    assert.equal(looks, 1 + 1 + limits.eventFeedWaitersPerMerchant)
    for (const error of refused) {
      assert.ok(error instanceof GatewayError)
      assert.deepEqual([error.status, error.retryAfterSeconds], [429, 1])
    }
  })

  test('a reader that has gone looks no further, and leaves its place to another', async () => {
    looks = 0
    const goneLater = () => {
      let times = 0
      return () => ++times > 2
    }
    const page = await reader('one', run.channel, goneLater())
    assert.equal(looks, 3)
    assert.deepEqual([page.notifications.length, page.more], [0, true])
    const all = Array.from({ length: limits.eventFeedWaitersPerToken }, () =>
      reader('one', run.channel, goneLater()),
    )
    assert.deepEqual(new Set((await Promise.all(all)).map(({ more }) => more)), new Set([true]))
  })
})
