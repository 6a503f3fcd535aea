/** The order in which messages of acquirers are processed, and the messages that wait. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { onFaultPoint } from '../../../core/index.ts'
import { message, processed } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  chargeback,
  charged,
  failure,
  lost,
  type MessageRun,
  startMessages,
} from './message-run.ts'

describe('the order of messages', () => {
  let run: MessageRun
  before(async () => {
    run = await startMessages()
  })
  after(() => run.close())

  describe('the order of processing', () => {
    test('an event that fails blocks no other, is quarantined, and can be retried', async () => {
      const bad = await run.debit('with-poison')
      const good = await run.debit('beside-poison', { debit: lost })
      const broken = { key: await run.keyOf(bad.id), outcome: chargeback, minor: 'none' }
      await run.stored('poison-1', broken, { received: `now() - interval '1 hour'` })
      await run.stored('beside-1', { key: await run.keyOf(good.id), outcome: approval })
      assert.equal(await processed(run, 'beside-1'), 'settled')
      const failed = (tries: number) =>
        until(async () => ((await run.rowOf('poison-1'))?.tries === tries ? true : undefined))
      await failed(1)
      await run.due('poison-1')
      await failed(2)
      assert.deepEqual(await run.listed('poison-1'), [])
      await run.due('poison-1')
      await failed(3)
      assert.equal((await run.rowOf('poison-1'))?.outcome, 'quarantined')
      const [entry, ...more] = await run.listed('poison-1')
      assert.deepEqual(more, [])
      assert.equal(entry?.kind, 'event')
      assert.equal(entry?.reference, 'poison-1')
      assert.equal(entry?.payment_id, bad.id)
      await run.sql(
        `update tollgate.inbound_event set claim = jsonb_set(claim, '{minor}', '"9200"')
         where event_id = 'poison-1'`,
      )
      const alice = { by: 'alice', reason: 'the connector is mended' }
      await run.gateway.operator.retry(entry!.id, alice)
      await until(async () => (await run.rowOf('poison-1'))?.outcome === 'recorded' || undefined)
      await assert.rejects(
        run.gateway.operator.retry(entry!.id, alice),
        /^GatewayError: alice already took this entry/,
      )
      assert.equal((await run.rowOf('poison-1'))?.open, false, 'a processed event is not retried')
    })

    describe('a process died during its enquiry', () => {
      /** Keeps the engine's own look away. */
      let ticks: PromiseWithResolvers<void>
      beforeEach(() => {
        ticks = Promise.withResolvers<void>()
        onFaultPoint((at) => (at === 'before-sweep' ? ticks.promise : undefined))
      })
      afterEach(() => {
        onFaultPoint(undefined)
        ticks.resolve()
      })
      const dieAt = async (id: string) => {
        await run.sql(
          `update tollgate.attempt set lease = lease + 1, enquiries = 1, lease_until = now() - interval '1 second'
           where payment_id = $1`,
          [id],
        )
      }
      const hasLease = async (id: string) => {
        const [attempt] = await run.sql<{ held: boolean }>(
          'select lease_until is not null as held from tollgate.attempt where payment_id = $1',
          [id],
        )
        return attempt!.held
      }

      test('a message that decides takes the lease over', async () => {
        const { id } = await run.debit('dead-lease', { debit: lost })
        await dieAt(id)
        const key = await run.keyOf(id)
        await run.tell(message({ eventId: 'dead-lease-1', key, outcome: approval }))
        assert.equal(await processed(run, 'dead-lease-1'), 'settled')
        assert.equal((await run.gateway.payments.get(id)).result.code, charged)
      })

      test('a message that changes nothing leaves the lease to an enquiry', async () => {
        const { id } = await run.debit('dead-lease-reversing', { debit: lost })
        await run.sql(
          `update tollgate.payment set answer = '{"asked": true, "reversal": {"code": "900.100.400"}}' where id = $1`,
          [id],
        )
        await dieAt(id)
        const key = await run.keyOf(id)
        await run.tell(message({ eventId: 'dead-lease-2', key, outcome: approval }))
        assert.equal(await processed(run, 'dead-lease-2'), 'known')
        assert.equal(await hasLease(id), true, 'undecided without a lease and without an entry')
      })
    })

    test('pauses between waits grow, and a wait is not a failure', async () => {
      const { id } = await run.debit('event-waits', {
        debit: async (operation, context) => {
          context.sending()
          await run.tell(message({ eventId: 'waits-1', key: operation.key, outcome: approval }))
          const waited = (most: number) =>
            until(async () => {
              const [row] = await run.sql<{ pause: number; tries: number }>(
                `select extract(epoch from next_at - now())::double precision as pause, tries
                 from tollgate.inbound_event where event_id = 'waits-1' and waits = ${most}`,
              )
              return row
            })
          const first = await waited(1)
          assert.ok(first.pause > 0 && first.pause <= 1, String(first.pause))
          await run.sql(
            `update tollgate.inbound_event set waits = 12, next_at = now() where event_id = 'waits-1'`,
          )
          // Each arrival about an operation also processes its due events.
          await run.tell(message({ eventId: 'waits-2', key: operation.key, outcome: approval }))
          const later = await waited(13)
          assert.ok(later.pause > 60, String(later.pause))
          assert.equal(later.tries, 0)
          await run.due('waits-1')
          return { is: 'approved', refs: { id: '1' } }
        },
      })
      assert.equal(await run.code(id), charged)
      assert.equal(await processed(run, 'waits-1'), 'known')
    })

    test('events of one operation are processed in order of arrival, and others do not wait', async () => {
      const one = await run.debit('in-order', { debit: lost })
      const other = await run.debit('out-of-order', { debit: lost })
      const key = await run.keyOf(one.id)
      const earlier = { received: `now() - interval '1 minute'`, due: `now() + interval '1 hour'` }
      await run.stored('order-1', { key, outcome: approval }, { ...earlier, waits: 1 })
      await run.stored('order-2', { key, outcome: failure })
      await run.tell(message({ eventId: 'order-3', key, outcome: failure }))
      await run.stored('order-4', { key: await run.keyOf(other.id), outcome: approval })
      assert.equal(await processed(run, 'order-4'), 'settled')
      assert.equal((await run.rowOf('order-2'))?.open, true)
      assert.equal((await run.rowOf('order-3'))?.open, true)
      await run.due('order-1')
      assert.equal(await processed(run, 'order-1'), 'settled')
      assert.notEqual(await processed(run, 'order-2'), 'settled')
      assert.notEqual(await processed(run, 'order-3'), 'settled')
      assert.equal(await run.code(one.id), charged)
    })

    test('unproven events and reversals without their chargeback let later events pass', async () => {
      const { id } = await run.debit('let-pass-by')
      const key = await run.keyOf(id)
      const waiting = { received: `now() - interval '1 minute'`, due: `now() + interval '1 hour'` }
      const back = { ...chargeback, is: 'chargebackReversal' }
      await run.stored('pass-1', { key, outcome: failure, verified: false }, waiting)
      await run.stored('pass-2', { key, outcome: back }, { ...waiting, waits: 1 })
      await run.tell(message({ eventId: 'pass-3', key, outcome: chargeback }))
      assert.equal(await processed(run, 'pass-3'), 'recorded')
      assert.equal((await run.rowOf('pass-1'))?.open, true)
      assert.equal((await run.rowOf('pass-2'))?.open, true)
    })
  })

  describe('events about an unknown operation', () => {
    const nobody = (n: number) => `${n}`.repeat(32)

    test('an event about money waits for the record of its operation, then settles it', async () => {
      await run.tell(message({ eventId: 'late-1', key: nobody(1), outcome: approval }))
      await until(async () => ((await run.rowOf('late-1'))!.waits > 0 ? true : undefined))
      const { id } = await run.debit('late-record', { debit: lost })
      await run.sql('update tollgate.attempt set key = $2 where payment_id = $1', [id, nobody(1)])
      await run.sql('update tollgate.payment set attempt_key = $2 where id = $1', [id, nobody(1)])
      await run.due('late-1')
      assert.equal(await processed(run, 'late-1'), 'settled')
      assert.equal(await run.code(id), charged)
    })

    test('an event about money is listed after 72 hours as money without a payment', async () => {
      const kept = { is: 'notReversed', why: 'too late', refs: { ConnectorTxId1: 'kept' } }
      const back = { is: 'chargebackReversal', refs: { case: 'c-1' } }
      const taken = { ...approval, is: 'accepted', finalBy: 'event' }
      const said = [approval, taken, chargeback, kept, back]
      for (const [index, outcome] of said.entries()) {
        const eventId = `unclaimed-${index}`
        await run.tell(message({ eventId, key: nobody(index + 2), outcome, currency: 'KWD' }))
        await until(async () => ((await run.rowOf(eventId))!.waits > 0 ? true : undefined))
        assert.deepEqual(await run.listed(eventId), [])
        await run.sql(
          `update tollgate.inbound_event
           set received_at = now() - interval '73 hours', next_at = now() where event_id = $1`,
          [eventId],
        )
        assert.equal(await processed(run, eventId), 'unknown-key')
        const [entry, ...more] = await run.listed(eventId)
        assert.deepEqual(more, [])
        assert.equal(entry?.kind, 'unclaimed')
        assert.equal(entry?.payment_id, null)
        assert.match(JSON.stringify(entry?.detail), /"minor":"9200"/)
        assert.match(JSON.stringify(entry?.detail), /"currency":"KWD"/)
        assert.match(JSON.stringify(entry?.detail), /"refs":\{"/)
      }
    })

    test('a decline waits for the record of its operation, then fails it; without one it is not listed', async () => {
      for (const n of [7, 8]) {
        await run.tell(message({ eventId: `lost-${n}`, key: nobody(n), outcome: failure }))
        await until(async () => ((await run.rowOf(`lost-${n}`))!.waits > 0 ? true : undefined))
      }
      const { id } = await run.debit('lost-record')
      assert.equal(await run.code(id), charged)
      await run.sql('update tollgate.attempt set key = $2 where payment_id = $1', [id, nobody(7)])
      await run.sql('update tollgate.payment set attempt_key = $2 where id = $1', [id, nobody(7)])
      await run.due('lost-7')
      assert.equal(await processed(run, 'lost-7'), 'conflict')
      await assert.rejects(run.gateway.payments.refund(id, { amount: '1.00', currency: 'EUR' }))
      await run.sql(
        `update tollgate.inbound_event
         set received_at = now() - interval '73 hours', next_at = now() where event_id = 'lost-8'`,
      )
      assert.equal(await processed(run, 'lost-8'), 'unknown-key')
      assert.deepEqual(await run.listed('lost-8'), [])
    })

    test('an event without proof does not wait', async () => {
      await run.forge({ eventId: 'at-once', key: nobody(9), outcome: approval })
      assert.equal(await processed(run, 'at-once'), 'unknown-key')
    })
  })
})
