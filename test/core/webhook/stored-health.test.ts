/** What a process learned of an endpoint while the database fails, or while the process ends. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import pg from 'pg'
import { newId } from '../../../core/index.ts'
import { type TestGateway, until } from '../../rig/gateway.ts'
import { type Answer, startReceiver } from '../../rig/notification-receiver.ts'
import { inShop, isDown, triedOften } from './shop.ts'

/** Lets every update of a table fail whose statement contains `part`, until it is mended. */
async function failing(run: TestGateway, table: string, part: string) {
  await run.sql('create sequence tollgate.tries')
  await run.sql('create table tollgate.broken as select 1')
  await run.sql(
    `create function tollgate.fail() returns trigger language plpgsql as $$
     begin
       if current_query() like '%${part}%' and nextval('tollgate.tries') > 0
         and exists (select from tollgate.broken) then
         raise exception 'not now';
       end if;
       return null;
     end $$`,
  )
  await run.sql(
    `create trigger fail before update on tollgate.${table}
     for each statement execute function tollgate.fail()`,
  )
  const tries = async () => {
    const [row] = await run.sql<{ tries: string }>(
      'select case when is_called then last_value else 0 end as tries from tollgate.tries',
    )
    return Number(row?.tries)
  }
  return {
    tries,
    /** Waits until the statement was tried so often. */
    tried: (times: number) => until(async () => (await tries()) >= times || undefined),
    mend: () => run.sql('delete from tollgate.broken'),
  }
}

/** The statement that disables an endpoint. */
const disabling = [`webhook_endpoint`, `disabled_reason = $`] as const

const allAre = (run: TestGateway, state: string) =>
  until(async () => {
    const rows = await run.sql('select id from tollgate.delivery where state <> $1', [state])
    return rows.length === 0 || undefined
  })

const healthIs = (run: TestGateway, condition: string) =>
  until(async () => {
    const rows = await run.sql(`select endpoint_id from tollgate.webhook_queue where ${condition}`)
    return rows.length === 1 || undefined
  })

/** Waits until the first attempt failed and no process has the endpoint. */
const isFree = (run: TestGateway) => healthIs(run, 'failures = 1 and owner is null')

/** The notifications that failed wait for a day, but the one that is sent next. */
const oneIsNext = (run: TestGateway) =>
  run.sql(
    `update tollgate.delivery set attempts = 6,
       due_at = due_at + case when id = (select min(id::text)::uuid from tollgate.delivery) then interval '0'
         else interval '23 hours' end`,
  )

/** Holds all rows of a table, so that a statement about one waits. */
async function holding(run: TestGateway, table: string) {
  const holder = new pg.Client({ connectionString: run.database.url })
  await holder.connect()
  await holder.query(`begin; select from tollgate.${table} for update`)
  return {
    /** Waits until a statement of the sender waits that contains `part`. */
    waits: (part: string) =>
      until(async () => {
        const rows = await run.sql(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
            and query like $1`,
          [`%${part}%`],
        )
        return rows.length > 0 || undefined
      }),
    end: () => holder.end(),
  }
}

/** Answers with this status so late that the process has begun to end. */
const slowly =
  (status: number): Answer =>
  (_, response) =>
    void setTimeout(() => response.writeHead(status).end(), 800)

const notYet = /could not be written yet/

describe('an endpoint that recovers', () => {
  test('a database that fails when the endpoint recovers ends no process, and all that waited is sent', () =>
    inShop(async ({ run, receiver, later }) => {
      await Promise.all(Array.from({ length: 6 }, () => run.pay()))
      await isDown(run)
      const free = await failing(run, 'delivery', 'attempts > 0')
      receiver.behave('ok')
      later(150_000)
      await free.tried(2)
      await free.mend()
      await allAre(run, 'delivered')
    }, 'fail'))

  test('an endpoint that recovers while its process ends gets all that waited from the next process', () =>
    inShop(async ({ run, receiver, later }) => {
      await Promise.all(Array.from({ length: 6 }, () => run.pay()))
      await isDown(run)
      await oneIsNext(run)
      const before = receiver.received.length
      receiver.behave(slowly(200))
      later(150_000)
      await receiver.atLeast(before + 1)
      await run.gateway.close()
      receiver.behave('ok')
      await run.another()
      await allAre(run, 'delivered')
    }, 'fail'))

  test('a process that ends before it could store a recovery leaves everything to the next', () =>
    inShop(async ({ run, receiver, later }) => {
      await Promise.all(Array.from({ length: 6 }, () => run.pay()))
      await isDown(run)
      await oneIsNext(run)
      const free = await failing(run, 'delivery', 'attempts > 0')
      receiver.behave('ok')
      later(150_000)
      await free.tried(1)
      await run.gateway.close()
      await free.mend()
      await run.another()
      await allAre(run, 'delivered')
    }, 'fail'))
})

describe('an endpoint that recovers while its failure is written', () => {
  test('an endpoint gets all that waited although it recovers while its third failure is written', () =>
    inShop(async ({ run, receiver }) => {
      const responses: ServerResponse[] = []
      let taken = 0
      // Two successes, after which four attempts run at once and wait for their answers.
      receiver.behave((_, response) => {
        taken += 1
        if (taken > 2 && taken <= 6) responses.push(response)
        else response.writeHead(200).end()
      })
      await Promise.all(Array.from({ length: 6 }, () => run.pay()))
      await until(async () => responses.length === 4 || undefined)
      const queue = await holding(run, 'webhook_queue')
      for (const response of responses.slice(0, 3)) response.writeHead(500).end()
      await queue.waits('failing_since')
      await until(async () => {
        const rows = await run.sql(
          "select from tollgate.delivery where attempts = 1 and state = 'pending'",
        )
        return rows.length === 3 || undefined
      })
      responses[3]!.writeHead(200).end()
      await queue.end()
      // The clock stands still: what failed is never due by itself.
      await allAre(run, 'delivered')
    }))
})

describe('an endpoint that is to be disabled', () => {
  test('a notification that is taken while its endpoint is being disabled counts as delivered', () =>
    inShop(async ({ run, receiver, endpointId }) => {
      const responses: ServerResponse[] = []
      receiver.behave((_, response) => void responses.push(response))
      await Promise.all([run.pay(), run.pay()])
      await until(async () => responses.length === 2 || undefined)
      const endpoint = await holding(run, 'webhook_endpoint')
      responses[0]!.writeHead(410).end()
      await endpoint.waits('disabled_reason')
      responses[1]!.writeHead(200).end()
      await until(async () => {
        const rows = await run.sql("select from tollgate.delivery where state = 'delivered'")
        return rows.length === 1 || undefined
      })
      await endpoint.end()
      await run.event(endpointId, 'webhook.disabled')
      await until(async () => {
        const rows = await run.sql('select state from tollgate.delivery order by state')
        return rows.map(({ state }) => state).join() === 'dead,delivered' || undefined
      })
    }))

  test('an endpoint with much to give up keeps no notification of another one waiting', () =>
    inShop(async ({ run, endpointId }) => {
      await run.pay()
      await isFree(run)
      const deliveries = await holding(run, 'delivery')
      await run.gateway.webhooks.update(endpointId, { active: 'false' } as never)
      await deliveries.waits('dead')
      const other = await startReceiver({ toleranceSeconds: Number.POSITIVE_INFINITY })
      try {
        const { signingSecret } = await run.gateway.webhooks.create({
          entityId: run.merchant,
          url: other.url,
          wrapper: 'NONE',
          types: 'PAYMENT',
        } as never)
        other.trust({ secrets: [signingSecret!] })
        await run.pay()
        await other.atLeast(1)
        await deliveries.end()
        await until(async () => {
          const rows = await run.sql('select state from tollgate.delivery order by state')
          return rows.map(({ state }) => state).join() === 'dead,delivered' || undefined
        })
      } finally {
        await other.close()
      }
    }, 'fail'))

  test('an endpoint that answers 410 while its process ends is disabled', () =>
    inShop(async ({ run, receiver, endpointId }) => {
      receiver.behave(slowly(410))
      await run.pay()
      await receiver.atLeast(1)
      await run.gateway.close()
      const rows = await run.sql('select active from tollgate.webhook_endpoint where id = $1', [
        endpointId,
      ])
      assert.deepEqual(rows, [{ active: false }])
      await run.another()
      await allAre(run, 'dead')
    }))

  test('an endpoint stays enabled that takes a notification before its 410 could be written', () =>
    inShop(async ({ run, receiver, endpointId, later }) => {
      const held: ServerResponse[] = []
      receiver.behave((_, response) => void held.push(response))
      await Promise.all([run.pay(), run.pay()])
      await until(async () => held.length === 2 || undefined)
      const off = await failing(run, ...disabling)
      held[0]?.writeHead(410).end()
      await off.tried(1)
      held[1]?.writeHead(200).end()
      await healthIs(run, 'failures = 0 and failing_since is null and owner is null')
      await off.mend()
      receiver.behave('ok')
      later(6_000)
      await allAre(run, 'delivered')
      await run.pay()
      await receiver.atLeast(4)
      await allAre(run, 'delivered')
      assert.equal((await run.gateway.webhooks.get(endpointId)).active, 'true')
    }))

  test('an endpoint stays enabled that another process serves since its failure', () =>
    inShop(async ({ run, endpointId }) => {
      await run.sql(
        `insert into tollgate.webhook_queue (endpoint_id, failures, failing_since)
         values ($1, 5, now() - interval '31 days')`,
        [endpointId],
      )
      const off = await failing(run, ...disabling)
      await run.pay()
      await off.tried(1)
      await run.sql(
        `update tollgate.webhook_queue set owner = $1, lease_until = now() + interval '1 hour', failures = 0,
           failing_since = null`,
        [newId()],
      )
      const before = await off.tries()
      await off.mend()
      await off.tried(before + 1)
      await run.gateway.close()
      const rows = await run.sql('select active from tollgate.webhook_endpoint')
      assert.deepEqual(rows, [{ active: true }])
      await healthIs(run, 'failures = 0 and failing_since is null')
    }, 'fail'))

  test('an endpoint whose disabling cannot be written is called no more, and the log says so once', () =>
    inShop(async ({ run, receiver, endpointId }) => {
      const off = await failing(run, ...disabling)
      await run.pay()
      await off.tried(2)
      await run.pay()
      await off.tried(3)
      assert.equal(receiver.received.length, 1)
      assert.equal(run.logs.filter(({ message }) => notYet.test(message)).length, 1)
      await off.mend()
      await run.event(endpointId, 'webhook.disabled')
      await allAre(run, 'dead')
      assert.equal(receiver.received.length, 1)
    }, 'gone'))

  test('notifications of a disabled endpoint are given up although the database fails once', () =>
    inShop(async ({ run, receiver, endpointId }) => {
      await run.pay()
      await triedOften(run, 1)
      const end = await failing(run, 'delivery', "set state = ''dead''")
      receiver.behave('gone')
      await run.pay()
      await end.tried(1)
      await end.mend()
      // The clock stands still: the first is never due by itself.
      await allAre(run, 'dead')
      const again = { which: 'DEAD', from: '2020-01-01 00:00:00' }
      receiver.behave('ok')
      await run.gateway.webhooks.update(endpointId, { active: 'true' } as never)
      const { replayed } = await run.gateway.webhooks.replay(endpointId, again as never)
      assert.equal(replayed, 2)
    }, 'fail'))

  test('notifications are given up by another process after one died that disabled the endpoint', () =>
    inShop(async ({ run, endpointId }) => {
      await run.pay()
      await triedOften(run, 1)
      await healthIs(run, 'failures = 1')
      await run.gateway.close()
      // What a process leaves that dies between the two statements.
      await run.sql(
        `update tollgate.webhook_endpoint set active = false, disabled_at = now(), disabled_reason = 'it answered 410 Gone'`,
      )
      await run.sql(
        `update tollgate.webhook_queue set owner = $1, lease_until = now() - interval '1 second', wake_at = null`,
        [newId()],
      )
      const next = await run.another()
      await allAre(run, 'dead')
      const [one] = (await next.webhooks.deliveries(endpointId)).deliveries
      assert.equal(one?.reason, 'the endpoint was disabled: it answered 410 Gone')
    }, 'fail'))
})
