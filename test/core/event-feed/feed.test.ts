/** A reader of the feed sees every event of its own entities once, and no others. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import {
  type Caller,
  type EventsView,
  type EventView,
  GatewayError,
  newId,
} from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'

describe('the event feed', () => {
  let run: TestGateway

  before(async () => {
    run = await startGateway()
  })
  after(() => run.close())

  const list = (request: Record<string, string> = {}, caller?: Caller) =>
    run.gateway.events.list(request, caller === undefined ? {} : { caller })

  /** Other tests share the server, and the feed waits for their transactions. */
  const decided = () => olderTransactionsEnd(run)

  async function here(): Promise<string> {
    await decided()
    return (await list({ since: 'NOW' })).nextCursor
  }

  /** Everything after a cursor, in pages of this size, once it is decided. */
  async function follow(cursor: string, limit: string, more: Record<string, string> = {}) {
    await decided()
    return followNow(cursor, limit, more)
  }

  async function followNow(cursor: string, limit: string, more: Record<string, string> = {}) {
    const all: EventView[] = []
    for (let page: EventsView | undefined; page?.more !== false; ) {
      page = await list({ ...more, cursor: page?.nextCursor ?? cursor, limit })
      assert.ok(page.events.length <= Number(limit))
      all.push(...page.events)
    }
    return all
  }

  const refusal = (name: string) => (error: unknown) => {
    const { status, parameterErrors } = error as {
      status: number
      parameterErrors?: { name: string }[]
    }
    assert.equal(status, 400)
    assert.equal(parameterErrors?.[0]?.name, name)
    return true
  }

  describe('the feed', () => {
    test('the feed tells each event once, oldest first, at any page size', async () => {
      const cursor = await here()
      const payments = []
      for (let no = 0; no < 7; no += 1) payments.push(await run.pay())
      const whole = await follow(cursor, '500')
      assert.deepEqual(
        whole.map(({ payload }) => payload.id),
        payments.map(({ id }) => id),
      )
      for (const limit of ['1', '2', '3', '7', '8']) {
        assert.deepEqual(await follow(cursor, limit), whole)
      }
    })

    test('the feed tells the type, payload, id and sequence that a webhook tells', async () => {
      const cursor = await here()
      const payment = await run.pay()
      const [event] = await follow(cursor, '10')
      const [row] = await run.sql<{ id: string; seq: number }>(
        'select id, seq from tollgate.event where resource = $1',
        [payment.id],
      )
      assert.equal(event!.id, row!.id)
      assert.equal(event!.sequence, row!.seq)
      assert.equal(event!.type, 'PAYMENT')
      assert.equal('action' in event!, false)
      assert.equal(event!.payload.amount, '92.00')
      assert.match(event!.at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000$/)
      const alone = await run.gateway.events.get(event!.id)
      assert.deepEqual({ ...alone, ...event }, alone)
    })

    test('the feed tells a payment that stored its account as both types, filtered on request', async () => {
      const cursor = await here()
      const payment = await run.pay({ createRegistration: 'true' })
      const both = await follow(cursor, '10')
      assert.deepEqual(
        both.map(({ type, action, payload }) => [type, action, payload.id]),
        [
          ['PAYMENT', undefined, payment.id],
          ['REGISTRATION', 'CREATED', payment.registrationId],
        ],
      )
      assert.notEqual(both[0]!.id, both[1]!.id)
      assert.equal((await run.gateway.events.get(both[1]!.id)).type, 'REGISTRATION')
      for (const [no, types] of ['PAYMENT', 'REGISTRATION'].entries()) {
        assert.deepEqual(await follow(cursor, '1', { types }), [both[no]])
      }
      assert.deepEqual(await follow(cursor, '10', { types: 'SCHEDULE' }), [])
    })

    test('a page limit can split the two entries of one event', async () => {
      const cursor = await here()
      for (let no = 0; no < 3; no += 1) await run.pay({ createRegistration: 'true' })
      const whole = await follow(cursor, '100')
      assert.equal(whole.length, 6)
      for (const limit of ['1', '2', '3', '5']) assert.deepEqual(await follow(cursor, limit), whole)
      await decided()
      const { events, nextCursor, more } = await list({ cursor, limit: '1' })
      assert.deepEqual([events, more], [whole.slice(0, 1), true])
      assert.deepEqual(await follow(nextCursor, '2'), whole.slice(1))
      // A reader that changes the types continues with the remaining events.
      const ofType = (type: string) => whole.slice(1).filter((event) => event.type === type)
      for (const types of ['PAYMENT', 'REGISTRATION']) {
        assert.deepEqual(await follow(nextCursor, '1', { types }), ofType(types))
      }
    })

    test('events of one transaction follow in the order of their resource', async () => {
      const payment = await run.pay()
      const cursor = await here()
      const client = new pg.Client({ connectionString: run.database.url })
      await client.connect()
      try {
        // Without the trigger, all have the transaction's own number, as a resource's first events
        // do.
        await client.query('set session_replication_role = replica')
        await client.query(
          `insert into tollgate.event (id, resource, seq, channel_id, type, data)
         select (left(id::text, 14) || substr(gen_random_uuid()::text, 15))::uuid, resource, no, channel_id, type, data
         from tollgate.event cross join generate_series(40, 2, -1) as no where resource = $1`,
          [payment.id],
        )
      } finally {
        await client.end()
      }
      const told = await follow(cursor, '7')
      assert.deepEqual(
        told.map(({ sequence }) => sequence),
        Array.from({ length: 39 }, (_, index) => index + 2),
      )
    })

    test('the feed begins at a moment, at the present or at the first event', async () => {
      const payment = await run.pay()
      await decided()
      const first = (await list({ limit: '1' })).events[0]!
      const [row] = await run.sql<{ at: Date }>(
        'select at from tollgate.event where resource = $1',
        [payment.id],
      )
      const second = row!.at.toISOString().slice(0, 19).replace('T', ' ')
      const since = await list({ since: second, limit: '500' })
      assert.ok(since.events.some(({ payload }) => payload.id === payment.id))
      assert.ok(since.events.every(({ at }) => at >= `${second}+0000`))
      assert.deepEqual((await list({ since: '2020-01-01', limit: '1' })).events, [first])
      assert.deepEqual((await list({ since: '2099-01-01' })).events, [])
      assert.deepEqual((await list({ since: 'NOW' })).events, [])
    })

    test('a cursor keeps the moment at which the feed began', async () => {
      const { nextCursor } = await list({ since: '2090-01-01' })
      const [early, late] = [await run.pay(), await run.pay()]
      await run.sql("update tollgate.event set at = '2090-01-02' where resource = $1", [late.id])
      const told = await follow(nextCursor, '100')
      assert.deepEqual(
        told.map(({ payload }) => payload.id),
        [late.id],
      )
      const whole = await follow((await list({ limit: '1' })).nextCursor, '500')
      assert.ok(whole.some(({ payload }) => payload.id === early.id))
    })

    test('an invalid cursor or moment is refused', async () => {
      const cursor = await here()
      for (const wrong of ['x', '1-2-3', `${cursor}-`, `1-2-${'a'.repeat(32)}.2-1`, "1' or true"]) {
        await assert.rejects(list({ cursor: wrong }), refusal('cursor'))
      }
      await assert.rejects(list({ since: 'yesterday' }), refusal('since'))
      await assert.rejects(list({ since: '2026-02-30' }), refusal('since'))
      await assert.rejects(list({ cursor, since: 'NOW' }))
      await assert.rejects(list({ wait: '31' }), refusal('wait'))
      await assert.rejects(list({ types: 'PAYMENT,OTHER' }), refusal('types'))
    })
  })

  describe('a late commit', () => {
    test('a late commit is never skipped: younger events wait until it is decided', async () => {
      const cursor = await here()
      const payment = await run.pay()
      assert.equal((await follow(cursor, '10')).length, 1)
      const slow = new pg.Client({ connectionString: run.database.url })
      await slow.connect()
      try {
        const id = 'f'.repeat(32).replace(/^.{12}/, Date.now().toString(16).padStart(12, '0'))
        await slow.query('begin')
        await slow.query(
          `insert into tollgate.event (id, resource, seq, channel_id, type, data)
         select $1, resource, 99, channel_id, type, data from tollgate.event where resource = $2`,
          [id, payment.id],
        )
        const [, { nextCursor }] = [await run.pay(), await list({ cursor })]
        assert.deepEqual(await followNow(nextCursor, '10'), [])
        await slow.query('commit')
        const told = await follow(nextCursor, '10')
        assert.deepEqual([told.length, told[0]!.id, told[0]!.sequence], [2, id, 99])
      } finally {
        await slow.end()
      }
    })

    test('a transaction that began first and wrote last follows the change it waited for', async () => {
      const cursor = await here()
      const { registrationId } = await run.pay({ createRegistration: 'true' })
      const id = String(registrationId)
      const waiting = new pg.Client({ connectionString: run.database.url })
      await waiting.connect()
      try {
        // The transaction has its number, then waits for the registration that the engine changes.
        await waiting.query('begin')
        await waiting.query('select pg_current_xact_id()')
        await run.gateway.registrations.update(id, {
          customer: { givenName: 'Ada', surname: 'King' },
        })
        await waiting.query(
          `with g as (
           update tollgate.registration set seq = seq + 1 where id = $1 returning id, seq, channel_id)
         insert into tollgate.event (id, resource, seq, channel_id, type, data)
         select $2, id, seq, channel_id, 'registration.updated', '{}' from g`,
          [id, newId()],
        )
        await waiting.query('commit')
      } finally {
        await waiting.end()
      }
      const told = (await follow(cursor, '10')).filter(({ type }) => type === 'REGISTRATION')
      assert.deepEqual(
        told.map(({ sequence }) => sequence),
        told.map(({ sequence }) => sequence).toSorted((one, other) => one - other),
      )
      assert.equal(told.length, 3)
    })

    test('readers beside many writers in two processes see each event exactly once', async () => {
      const other = await run.another()
      const cursor = await here()
      let isWriting = true
      const writing = Promise.all(
        Array.from({ length: 8 }, async (_, no) => {
          const ids: string[] = []
          for (let round = 0; round < 12; round += 1) {
            const on = (no + round) % 2 === 0 ? run.gateway : other
            const both = round % 3 === 0 ? { createRegistration: 'true' } : {}
            const payment = await run.pay({ paymentType: 'PA', ...both }, { on })
            ids.push(payment.id, (await on.payments.reverse(payment.id)).id)
            if (payment.registrationId !== undefined) ids.push(String(payment.registrationId))
          }
          return ids
        }),
      ).finally(() => {
        isWriting = false
      })
      const reading = async (limit: string) => {
        const seen: EventView[] = []
        for (let page: EventsView | undefined, more = true; more; ) {
          const wasWriting = isWriting
          if (!wasWriting) await decided()
          const wait: Record<string, string> = wasWriting ? { wait: '1' } : {}
          page = await list({ cursor: page?.nextCursor ?? cursor, limit, ...wait })
          assert.ok(page.events.length <= Number(limit))
          seen.push(...page.events)
          more = wasWriting || page.more
        }
        return seen
      }
      const [byOne, bySeven] = await Promise.all([reading('1'), reading('7')])
      const ids = (await writing).flat()
      assert.deepEqual(byOne, bySeven)
      assert.equal(new Set(byOne.map(({ id }) => id)).size, byOne.length)
      const told = new Set(byOne.map(({ payload }) => payload.id))
      assert.deepEqual(
        ids.filter((id) => !told.has(id)),
        [],
      )
      const registrations = byOne.filter(({ type }) => type === 'REGISTRATION').length
      assert.equal(registrations, 32)
      const rows = await run.sql<{ id: string }>(
        `select id from tollgate.event where resource = any($1::uuid[])`,
        [ids],
      )
      assert.equal(byOne.length, rows.length + registrations)
    })
  })

  describe('a merchant', () => {
    let stranger: string
    let strangerChannel: string
    before(async () => {
      const { entities } = run.gateway
      stranger = await entities.create({ kind: 'merchant', name: 'B', parentId: run.division })
      strangerChannel = await entities.create({ kind: 'channel', name: 'B', parentId: stranger })
    })

    test('a merchant reads the events of its own entities, by any query', async () => {
      const cursor = await here()
      const [mine, theirs] = [await run.pay(), await run.pay({ entityId: strangerChannel })]
      await olderTransactionsEnd(run)
      const told = async (entityId: string, more: Record<string, string> = {}) =>
        (await list({ cursor, ...more }, { id: 'test', entityId })).events.map(
          ({ payload }) => payload.id,
        )
      assert.deepEqual(await told(run.merchant), [mine.id])
      assert.deepEqual(await told(stranger), [theirs.id])
      assert.deepEqual(await told(run.division), [mine.id, theirs.id])
      assert.deepEqual(await told(run.psp, { entityId: strangerChannel }), [theirs.id])
      for (const entityId of [strangerChannel, run.psp, 'a'.repeat(32)]) {
        await assert.rejects(told(run.merchant, { entityId }), { status: 403 })
      }
    })

    test('a merchant cannot tell a foreign event from an unknown one', async () => {
      const cursor = await here()
      await run.pay({ entityId: strangerChannel })
      const [event] = await follow(cursor, '10')
      const caller = { id: 'test', entityId: run.merchant }
      for (const id of [event!.id, 'a'.repeat(32), `${event!.id}-registration`, 'x']) {
        await assert.rejects(run.gateway.events.get(id, { caller }), {
          status: 404,
          code: '700.400.580',
        })
      }
      const own = { caller: { id: 'test', entityId: stranger } }
      assert.equal((await run.gateway.events.get(event!.id, own)).id, event!.id)
    })
  })

  describe('a reader that waits', () => {
    test('a waiting reader is answered when an event happens, in any process', async () => {
      const other = await run.another()
      for (const on of [run.gateway, other]) {
        const cursor = await here()
        const waiting = list({ cursor, wait: '30' })
        const payment = await run.pay({}, { on })
        const page = await waiting
        assert.deepEqual(
          page.events.map(({ payload }) => payload.id),
          [payment.id],
        )
      }
    })

    test('a reader that waits in vain gets an empty page with a cursor, or leaves', async () => {
      const cursor = await here()
      const page = await list({ cursor, wait: '1' })
      assert.deepEqual([page.events, page.more], [[], false])
      const gone = new AbortController()
      const waiting = run.gateway.events.list({ cursor, wait: '30' }, { signal: gone.signal })
      gone.abort()
      assert.deepEqual((await waiting).events, [])
      const payment = await run.pay()
      assert.equal((await follow(page.nextCursor, '10'))[0]!.payload.id, payment.id)
    })

    test('waiting readers hold no connection: two hundred wait on a lane of four, and all are answered', async () => {
      const connections = async () => {
        const [{ count } = { count: 0n }] = await run.sql<{ count: bigint }>(
          `select count(*) as count from pg_stat_activity where datname = current_database()`,
        )
        return count
      }
      const cursor = await here()
      await list({ cursor })
      const atRest = await connections()
      const waiting = Array.from({ length: 200 }, () => list({ cursor, wait: '30' }))
      // Other reads continue, which a full lane would prevent.
      for (let no = 0; no < 20; no += 1) assert.deepEqual((await list({ cursor })).events, [])
      assert.ok((await connections()) <= atRest + 4n)
      const payment = await run.pay()
      for (const page of await Promise.all(waiting)) {
        assert.equal(page.events[0]!.payload.id, payment.id)
      }
    })

    test('one token has 50 waiting places, one merchant 200, and further readers are told to return later', async () => {
      const cursor = await here()
      const gone = new AbortController()
      const wait = (id: string, entityId: string) =>
        run.gateway.events.list(
          { cursor, wait: '30' },
          { signal: gone.signal, caller: { id, entityId } },
        )
      const refusal = (error: unknown) =>
        error instanceof GatewayError && error.status === 429 && error.retryAfterSeconds === 1
      const waiting: Promise<unknown>[] = []
      const refused: unknown[] = []
      const many = (id: string, entityId: string, times: number) => {
        for (let no = 0; no < times; no += 1) {
          waiting.push(wait(id, entityId).catch((error: unknown) => refused.push(error)))
        }
      }
      many('one', run.channel, 60)
      await until(async () => (refused.length === 10 ? true : undefined))
      for (const id of ['two', 'three', 'four']) many(id, run.merchant, 50)
      many('five', run.channel, 60)
      await until(async () => (refused.length === 70 ? true : undefined))
      assert.equal(refused.filter(refusal).length, refused.length)
      const merchant = await run.gateway.entities.create({
        kind: 'merchant',
        name: 'Other',
        parentId: run.division,
      })
      const neighbour = wait('six', merchant)
      gone.abort()
      await neighbour
      await Promise.all(waiting)
    })

    test('waiting readers are released when the process ends', async () => {
      const ending = await run.another()
      const cursor = await here()
      const waiting = ending.events.list({ cursor, wait: '30' })
      await ending.events.list({ cursor })
      await ending.close()
      assert.deepEqual((await waiting).events, [])
    })
  })

  test('an event that cannot be told is listed once, and the feed goes on without it', async () => {
    const from = await here()
    const before = await run.pay()
    const broken = await run.pay()
    const after = await run.pay()
    // A value that no version of the engine writes.
    await run.sql(`update tollgate.payment set currency = 'ZZZ' where id = $1`, [broken.id])
    for (const limit of ['1', '100', '1']) {
      const ids = (await follow(from, limit)).map(({ payload }) => (payload as { id: string }).id)
      assert.deepEqual(ids, [before.id, after.id])
    }
    const listed = (await run.gateway.attention()).filter(({ kind }) => kind === 'event')
    assert.deepEqual(
      listed.map(({ detail }) => [detail.why, detail.resource]),
      [['an event of the feed cannot be told', broken.id]],
    )
  })
})
