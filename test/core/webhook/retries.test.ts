import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { card, until } from '../../rig/gateway.ts'
import {
  type Received,
  type ReceiverOptions,
  startReceiver,
} from '../../rig/notification-receiver.ts'
import { scheduling } from '../../rig/schedules.ts'
import { inShop, isDown, triedOften } from './shop.ts'

const tellingOf = ({ problem, notification }: Received) => {
  assert.equal(problem, undefined)
  const { type, action, payload } = notification!
  const { code } = payload.result as { code: string }
  return [type, action, code].filter((part) => part !== undefined).join(' ')
}

const isFirst = ({ notification }: Received) => notification?.action === 'CREATED'
/** Accepts all but the first notification of a registration. */
const refusingFirst: ReceiverOptions['mode'] = (received, response) =>
  void response.writeHead(isFirst(received) ? 500 : 200).end()

describe('a notification that is not accepted', () => {
  test('the same notification is repeated after each step of the ladder and given up after 30 days', () =>
    inShop(async ({ run, receiver, later, deliveries }) => {
      await run.pay()
      const dayMs = limits.webhookLadderMs.at(-1)!
      for (const [index, pauseMs] of [...limits.webhookLadderMs, dayMs].entries()) {
        await receiver.atLeast(index + 1)
        const due = await until(async () => {
          const [row] = await run.sql<{ attempts: number; pause: number }>(
            `select d.attempts, extract(epoch from d.due_at - max(a.at)) * 1000 as pause
             from tollgate.delivery d join tollgate.delivery_attempt a on a.delivery_id = d.id
             group by d.id, d.attempts, d.due_at`,
          )
          return row?.attempts === index + 1 ? Number(row.pause) : undefined
        })
        assert.ok(due >= pauseMs * 0.99 && due <= pauseMs * 1.1 + 1000, `step ${index}: ${due} ms`)
        later(pauseMs * 1.11)
      }
      later(31 * dayMs)
      const before = receiver.received.length
      const dead = await until(async () => {
        const [one] = (await deliveries()).deliveries
        return one?.state === 'DEAD' ? one : undefined
      })
      assert.equal(dead.reason, 'not taken in time')
      assert.ok(receiver.received.length <= before + 1)
      const ids = new Set(receiver.received.map(({ id }) => id))
      assert.equal(ids.size, 1)
      const times = new Set(receiver.received.map(({ headers }) => headers['webhook-timestamp']))
      assert.equal(times.size, receiver.received.length, 'each attempt has its own time')
    }, 'fail'))

  test('a notification waits as long as the endpoint asks, a day at most', () =>
    inShop(
      async ({ run, receiver, later }) => {
        await run.pay()
        await receiver.atLeast(1)
        const pauseOf = async () =>
          until(async () => {
            const [row] = await run.sql<{ pause: number }>(
              `select extract(epoch from d.due_at - max(a.at)) as pause
             from tollgate.delivery d join tollgate.delivery_attempt a on a.delivery_id = d.id
             group by d.id, d.due_at having count(*) = ${receiver.received.length} and d.due_at > max(a.at)`,
            )
            return row === undefined ? undefined : Number(row.pause)
          })
        const asked = await pauseOf()
        assert.ok(asked >= 7199 && asked <= 7921, `${asked} s`)
        receiver.behave({ retryAfterSeconds: 99_999_999 })
        later(8_000_000)
        await receiver.atLeast(2)
        const most = await pauseOf()
        assert.ok(most >= 86_399 && most <= 95_041, `${most} s`)
      },
      { retryAfterSeconds: 7_200 },
    ))

  test('a redirect is a failure and is not followed, an endless answer is a success', () =>
    inShop(async ({ run, receiver, deliveries, later }) => {
      const other = await startReceiver()
      try {
        receiver.behave(
          (_, response) => void response.writeHead(302, { location: other.url }).end(),
        )
        await run.pay()
        await triedOften(run, 1)
        receiver.behave({ hugeBytes: 4_000_000 })
        later(6_000)
        const one = await until(async () => {
          const [row] = (await deliveries()).deliveries
          return row?.state === 'DELIVERED' ? row : undefined
        })
        assert.deepEqual(
          one.attempts.map(({ httpStatus }) => httpStatus),
          [302, 200],
        )
        assert.equal(one.attempts[1]?.error, 'too-large')
        assert.equal(other.received.length, 0)
      } finally {
        await other.close()
      }
    }))
})

describe('notifications of one resource', () => {
  test('notifications of one resource keep the order of its events, and other resources continue', () =>
    inShop(async ({ run, receiver, later }) => {
      receiver.behave(refusingFirst)
      const { store } = scheduling(run)
      const id = await store()
      await receiver.atLeast(1)
      await triedOften(run, 1)
      const holder = { card: { holder: 'Jane Miller' } }
      await run.gateway.registrations.update(id, holder as never)
      await run.gateway.registrations.extend(id)
      await run.gateway.registrations.remove(id)
      await run.pay()
      await run.pay()
      // A receiver on a busy machine can be told of a payment twice.
      const told = (what: string) =>
        receiver.received.filter((one) => tellingOf(one).startsWith(what))
      await until(async () => told('PAYMENT').length >= 2 || undefined)
      assert.equal(told('REGISTRATION').length, 1)
      receiver.behave('ok')
      later(6_000)
      await until(async () => told('REGISTRATION').length >= 5 || undefined)
      const again = told('REGISTRATION').slice(1)
      assert.deepEqual(again.map(tellingOf), [
        'REGISTRATION CREATED 000.100.110',
        'REGISTRATION UPDATED 000.100.110',
        'REGISTRATION UPDATED 000.100.110',
        'REGISTRATION DELETED 000.100.110',
      ])
      const sequences = again.map(({ sequence }) => sequence)
      assert.deepEqual(sequences, [1, 2, 3, 4])
    }))

  test('notifications stop waiting for one that is past the hour of the ladder', () =>
    inShop(async ({ run, receiver, later }) => {
      receiver.behave(refusingFirst)
      const id = await scheduling(run).store()
      await receiver.atLeast(1)
      await run.gateway.registrations.remove(id)
      for (const [index, pauseMs] of limits.webhookLadderMs.slice(0, -1).entries()) {
        assert.ok(receiver.received.every(isFirst))
        await triedOften(run, index + 1)
        later(pauseMs * 1.11)
        await receiver.atLeast(index + 2)
      }
      await triedOften(run, limits.webhookLadderMs.length)
      // The next pause is a day, so the removal overtakes at the endpoint's next attempt.
      later(limits.webhookOrderWaitMs * 1.2)
      const all = await receiver.atLeast(limits.webhookLadderMs.length + 1)
      assert.match(tellingOf(all[limits.webhookLadderMs.length]!), /^REGISTRATION DELETED/)
    }))

  test('a notification keeps its content: pending, although the payment is approved by now', () =>
    inShop(async ({ run, receiver, later }) => {
      const { id } = await run.pay(card('4000000000000077'))
      await receiver.atLeast(1)
      later(31_000)
      await run.sql(`update tollgate.timer set due_at = now() where kind = 'look'`)
      await run.event(id, 'payment.approved')
      receiver.behave('ok')
      later(70_000)
      const all = await until(async () => {
        const { received } = receiver
        return received.some((one) => tellingOf(one) === 'PAYMENT 000.100.110')
          ? received
          : undefined
      })
      assert.deepEqual(all.slice(-2).map(tellingOf), ['PAYMENT 000.200.000', 'PAYMENT 000.100.110'])
      const [, pending, approved] = [0, -2, -1].map((at) => all.at(at)!.notification!.payload)
      assert.deepEqual([pending?.id, approved?.id], [id, id])
      assert.equal('nextActions' in approved!, false)
    }, 'fail'))
})

describe('the state of an endpoint', () => {
  test('an endpoint that answers 410 is disabled with a notice, and its notifications can be replayed', () =>
    inShop(async ({ run, receiver, endpointId, deliveries }) => {
      await run.pay()
      const notice = await run.event(endpointId, 'webhook.disabled')
      assert.match(String(notice.data.reason), /410/)
      const dead = await until(async () => {
        const [row] = (await deliveries()).deliveries
        return row?.state === 'DEAD' ? row : undefined
      })
      assert.match(dead.reason ?? '', /disabled/)
      const shown = await run.gateway.webhooks.get(endpointId)
      assert.equal(shown.active, 'false')
      assert.match(shown.disabledReason ?? '', /410/)
      assert.ok(shown.disabledAt)
      assert.equal(run.logs.filter(({ message }) => /was disabled/.test(message)).length, 1)
      const audit = await run.sql(
        `select actor from tollgate.audit where action = 'webhook.disabled'`,
      )
      assert.equal(audit.length, 1)
      await run.pay()
      receiver.behave('ok')
      await run.gateway.webhooks.update(endpointId, { active: 'true' } as never)
      const again = { which: 'DEAD', from: '2020-01-01 00:00:00' }
      const replayed = await run.gateway.webhooks.replay(endpointId, again as never)
      assert.equal(replayed.replayed, 1)
      await receiver.atLeast(2)
      assert.equal(receiver.received[1]?.id, receiver.received[0]?.id)
      const everything = { from: '2020-01-01 00:00:00' }
      await until(async () =>
        (await deliveries()).deliveries[0]?.state === 'DELIVERED' ? true : undefined,
      )
      const all = await run.gateway.webhooks.replay(endpointId, everything as never)
      assert.equal(all.replayed, 2, 'the delivered one, and the one from the time it was disabled')
      await receiver.atLeast(4)
    }, 'gone'))

  test('a replay takes the webhook-id of a notification, and refuses an unknown one with 404', () =>
    inShop(async ({ run, receiver, endpointId }) => {
      await run.pay({ createRegistration: 'true' })
      await receiver.atLeast(2)
      const second = receiver.received.find(({ id }) => id.endsWith('-registration'))
      assert.ok(second)
      const eventId = second.id.split('-')[0]!
      const again = (id: string) =>
        run.gateway.webhooks.replay(endpointId, { eventId: id } as never)
      const allDelivered = () =>
        until(async () => {
          const { deliveries } = await run.gateway.webhooks.deliveries(endpointId)
          return deliveries.every(({ state }) => state === 'DELIVERED') || undefined
        })
      await allDelivered()
      assert.equal((await again(second.id)).replayed, 1)
      assert.equal((await receiver.atLeast(3)).at(-1)?.notification?.type, 'REGISTRATION')
      await allDelivered()
      assert.equal((await again(eventId)).replayed, 2)
      await receiver.atLeast(5)
      const unknown = { code: '700.400.580', status: 404 }
      await assert.rejects(again('0'.repeat(32)), unknown)
      await assert.rejects(again(`${eventId}-payment`), unknown)
    }))

  test('an endpoint that fails for 30 days is disabled with its next failure', () =>
    inShop(async ({ run, receiver, endpointId }) => {
      const failingFor = (days: number) =>
        run.sql(
          `insert into tollgate.webhook_queue (endpoint_id, failures, failing_since)
           values ($1, 5, now() - make_interval(days => $2))
           on conflict (endpoint_id) do update set owner = null, lease_until = null, probe_at = null, wake_at = null,
             failing_since = excluded.failing_since`,
          [endpointId, days],
        )
      await failingFor(29)
      await run.pay()
      await triedOften(run, 1)
      await until(async () => {
        const [row] = await run.sql<{ owner: string | null }>(
          'select owner from tollgate.webhook_queue',
        )
        return row?.owner === null ? true : undefined
      })
      assert.equal((await run.gateway.webhooks.get(endpointId)).active, 'true')
      await failingFor(31)
      await run.pay()
      const notice = await run.event(endpointId, 'webhook.disabled')
      assert.match(String(notice.data.reason), /30 days/)
      assert.equal((await run.gateway.webhooks.get(endpointId)).active, 'false')
      assert.ok(receiver.received.length >= 2)
    }, 'fail'))

  test('a failing endpoint is probed with one notification at a time and gets all once it recovers', () =>
    inShop(async ({ run, receiver, later }) => {
      await Promise.all(Array.from({ length: 20 }, () => run.pay()))
      await receiver.atLeast(limits.webhookFailures)
      const isDown = async () => {
        const [row] = await run.sql<{ failures: number }>(
          'select failures from tollgate.webhook_queue',
        )
        return row !== undefined && row.failures >= limits.webhookFailures ? true : undefined
      }
      await until(isDown)
      await until(async () => {
        const [row] = await run.sql<{ owner: string | null }>(
          'select owner from tollgate.webhook_queue',
        )
        return row?.owner === null ? true : undefined
      })
      const tried = receiver.received.length
      later(150_000)
      await receiver.atLeast(tried + 1)
      await until(async () => {
        const [row] = await run.sql<{ n: bigint }>(
          'select count(*) as n from tollgate.delivery_attempt',
        )
        return row?.n === BigInt(tried + 1) ? true : undefined
      })
      receiver.behave('ok')
      later(300_000)
      await until(async () => {
        const rows = await run.sql(`select id from tollgate.delivery where state <> 'delivered'`)
        return rows.length === 0 ? true : undefined
      })
      const ids = new Set(receiver.received.map(({ id }) => id))
      assert.equal(ids.size, 20)
    }, 'fail'))

  test('a delivered test of an endpoint that is down sends what waits', () =>
    inShop(async ({ run, receiver, endpointId }) => {
      await Promise.all(Array.from({ length: 6 }, () => run.pay()))
      await isDown(run)
      receiver.behave('ok')
      // The clock stands still: no retry is due by itself.
      assert.equal((await run.gateway.webhooks.test(endpointId)).delivered, true)
      await until(async () => {
        const rows = await run.sql(`select id from tollgate.delivery where state <> 'delivered'`)
        return rows.length === 0 ? true : undefined
      })
    }, 'fail'))

  test('a test reaches an endpoint at once, active or not, and reports its answer', () =>
    inShop(async ({ run, receiver, endpointId }) => {
      await run.gateway.webhooks.update(endpointId, { active: 'false' } as never)
      receiver.behave((_, response) => void response.writeHead(418).end('no coffee'))
      const tested = await run.gateway.webhooks.test(endpointId)
      assert.deepEqual([tested.delivered, tested.httpStatus], [false, 418])
      assert.equal(receiver.received[0]?.notification?.type, 'test')
    }))
})
