/** How merchants learn of a checkout: webhooks, the call of their page, and its end in time. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'
import { cardFields, newCheckout, pageOf, press } from './rig.ts'

describe('merchants of checkouts', () => {
  let run: TestGateway
  let receiver: Receiver
  before(async () => {
    run = await startGateway({ publicUrl: 'https://pay.example' })
    receiver = await startReceiver()
  })
  after(async () => {
    await run.close()
    await receiver.close()
  })

  const paymentsOf = `select replace(id::text, '-', '') from tollgate.payment where checkout_id = $1`
  const timers = (id: string) =>
    run.sql<{ due_at: Date; clock_id: string | null; step: number }>(
      `select due_at, clock_id, step from tollgate.timer where kind = 'callback' and ref in (${paymentsOf})`,
      [id],
    )
  const dueNow = (id: string) =>
    run.sql(`update tollgate.timer set due_at = now() where ref in (${paymentsOf})`, [id])
  const calls = (path: string) => receiver.received.filter((one) => one.path === path)

  test('the page of a checkout is called 29 minutes after it was made, unless its end was read', async () => {
    const page = (name: string) => ({ shopperResultUrl: `${receiver.url}${name}?cart=5` })
    const [unread, read] = [
      await newCheckout(run, page('unread')),
      await newCheckout(run, page('read')),
    ]
    const untouched = await newCheckout(run, page('untouched'))
    await press(run.gateway, unread)
    await press(run.gateway, read)
    const [timer] = await timers(unread)
    const inMs = timer!.due_at.getTime() - Date.now()
    assert.ok(inMs > 28 * 60_000 && inMs <= 29 * 60_000, String(inMs))
    await run.gateway.checkouts.payment(read)
    assert.deepEqual(await timers(read), [])
    assert.deepEqual(await timers(untouched), [])
    await dueNow(unread)
    await until(async () => (calls('/unread').length > 0 ? true : undefined))
    const [call] = calls('/unread')
    assert.equal(call!.method, 'GET')
    assert.deepEqual(Object.fromEntries(new URLSearchParams(call!.search)), {
      cart: '5',
      id: unread,
      resourcePath: `/v1/checkouts/${unread}/payment`,
    })
    await until(async () => ((await timers(unread)).length === 0 ? true : undefined))
    assert.equal(calls('/read').length, 0)
  })

  test('while only the acquirer is awaited, the state leads on to the page of the checkout', async () => {
    const id = await newCheckout(run)
    const slow = { card: { ...cardFields(), holder: '800.400.500' } }
    const redirect = { paymentBrand: 'PAYPAL', card: undefined }
    assert.deepEqual(await press(run.gateway, id, slow), { state: 'waiting' })
    const awaited = { state: 'busy', awaited: true }
    assert.deepEqual(await run.gateway.checkouts.state(id), { ...awaited, resultUrl: pageOf(id) })
    const { result } = await run.gateway.checkouts.payment(id)
    assert.equal(result.code, '000.200.000')
    assert.match(result.description, /acquirer/)
    const away = await newCheckout(run)
    await press(run.gateway, away, redirect)
    const state = await run.gateway.checkouts.state(away)
    assert.deepEqual(state, { state: 'busy' }, 'the shopper has to act')
  })

  test('a page that only a browser named is no part of the state of an open payment', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const slow = { card: { ...cardFields(), holder: '800.400.500' } }
    const page = { resultUrl: 'https://stranger.example/x', origin: 'https://stranger.example' }
    assert.deepEqual(await press(run.gateway, id, { ...slow, ...page }), { state: 'waiting' })
    const awaited = { state: 'busy', awaited: true }
    assert.deepEqual(await run.gateway.checkouts.state(id), awaited)
  })

  const channelOf = (...widgetOrigins: string[]) =>
    run.gateway.entities.create({
      kind: 'channel',
      name: 'Own',
      parentId: run.merchant,
      settings: { widgetOrigins } as never,
    })
  /** A payment from a form on the page of the receiver, which the checkout does not name. */
  const payFromForm = async (channel: string, name: string): Promise<string> => {
    const id = await newCheckout(run, { entityId: channel, shopperResultUrl: undefined })
    const { origin } = new URL(receiver.url)
    const page = { resultUrl: `${receiver.url}${name}?cart=5`, origin }
    assert.equal((await press(run.gateway, id, page)).state, 'paid')
    return id
  }

  test('the page of a form is called where the channel lists its origin', async () => {
    const id = await payFromForm(await channelOf(new URL(receiver.url).origin), 'form')
    const [timer] = await timers(id)
    const inMs = timer!.due_at.getTime() - Date.now()
    assert.ok(inMs > 28 * 60_000 && inMs <= 29 * 60_000, String(inMs))
    await dueNow(id)
    await until(async () => (calls('/form').length > 0 ? true : undefined))
    assert.deepEqual(Object.fromEntries(new URLSearchParams(calls('/form')[0]!.search)), {
      cart: '5',
      id,
      resourcePath: `/v1/checkouts/${id}/payment`,
    })
  })

  test('the page of a form is not called where the channel lists no origins', async () => {
    assert.deepEqual(await timers(await payFromForm(run.channel, 'unlisted')), [])
  })

  test('the page of a form is not called once the channel lists its origin no more', async () => {
    const channel = await channelOf(new URL(receiver.url).origin)
    const id = await payFromForm(channel, 'delisted')
    await run.gateway.entities.configure(channel, { widgetOrigins: [] })
    await until(async () => {
      const { widgetOrigins } = await run.gateway.checkouts.offer(id)
      return widgetOrigins?.length === 0 ? true : undefined
    })
    await dueNow(id)
    await until(async () => ((await timers(id)).length === 0 ? true : undefined))
    const kept = `select from tollgate.delivery where callback->>'url' like '%/delisted%'`
    assert.deepEqual(await run.sql(kept), [])
  })

  test('the page of the checkout is called, not that of a form', async () => {
    const channel = await channelOf(new URL(receiver.url).origin)
    const id = await newCheckout(run, {
      entityId: channel,
      shopperResultUrl: `${receiver.url}own`,
    })
    const { origin } = new URL(receiver.url)
    await press(run.gateway, id, { resultUrl: `${receiver.url}other`, origin })
    await dueNow(id)
    await until(async () => (calls('/own').length > 0 ? true : undefined))
    assert.equal(calls('/other').length, 0)
  })

  test('a read while the payment is open keeps the call', async () => {
    const id = await newCheckout(run)
    await press(run.gateway, id, { card: cardFields('4000000000000077') })
    assert.equal((await run.gateway.checkouts.payment(id)).result.code, '000.200.000')
    assert.equal((await timers(id)).length, 1)
  })

  test('an open payment keeps the call, which follows its end', async () => {
    const id = await newCheckout(run, { shopperResultUrl: `${receiver.url}open` })
    await press(run.gateway, id, { card: cardFields('4000000000000341') })
    await dueNow(id)
    await until(async () => ((await timers(id))[0]!.step > 0 ? true : undefined))
    assert.equal(calls('/open').length, 0)
    // The enquiry finds its end.
    await run.sql(
      `update tollgate.timer set due_at = now() where kind = 'look' and ref in (
        select attempt_key from tollgate.payment where checkout_id = $1)`,
      [id],
    )
    await until(async () => (calls('/open').length > 0 ? true : undefined))
    await until(async () => ((await timers(id)).length === 0 ? true : undefined))
    assert.equal(calls('/open').length, 1)
  })

  test('a slow read of a decline keeps the call about the payment that follows', async () => {
    const id = await newCheckout(run, { shopperResultUrl: `${receiver.url}slow` })
    const declining = cardFields('4000000000000002')
    assert.equal((await press(run.gateway, id, { card: declining })).state, 'declined')
    const holder = new pg.Client({ connectionString: run.database.url })
    await holder.connect()
    await holder.query('begin')
    await holder.query(
      `select from tollgate.timer where kind = 'callback' and ref in (${paymentsOf}) for update`,
      [id],
    )
    const read = run.gateway.checkouts.payment(id)
    await until(async () => {
      const [waiting] = await run.sql(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return waiting
    })
    assert.equal((await press(run.gateway, id)).state, 'paid')
    await holder.query('commit')
    await holder.end()
    assert.notEqual((await read).result.code, '000.100.110')
    assert.equal((await timers(id)).length, 1)
    await dueNow(id)
    await until(async () => (calls('/slow').length > 0 ? true : undefined))
  })

  test('a call about a payment that another one followed is none', async () => {
    const id = await newCheckout(run, { shopperResultUrl: `${receiver.url}followed` })
    await press(run.gateway, id, { card: cardFields('4000000000000002') })
    await press(run.gateway, id)
    assert.equal((await timers(id)).length, 2)
    await dueNow(id)
    await until(async () => ((await timers(id)).length === 0 ? true : undefined))
    await until(async () => (calls('/followed').length > 0 ? true : undefined))
    assert.equal(calls('/followed').length, 1)
  })

  test('a payment that comes later than 29 minutes has its call at once', async () => {
    const id = await newCheckout(run, { shopperResultUrl: `${receiver.url}late` })
    await run.sql(
      `update tollgate.checkout set created_at = created_at - interval '29 minutes 30 seconds'
        where id = $1`,
      [id],
    )
    await press(run.gateway, id)
    await until(async () => (calls('/late').length > 0 ? true : undefined))
  })

  test('webhooks and notificationUrl name the checkout', async () => {
    const hook = await run.gateway.webhooks.create({
      entityId: run.channel,
      url: `${receiver.url}hook`,
    } as never)
    receiver.trust({ secrets: [hook.signingSecret!], key: hook.encryptionKey }, '/hook')
    const id = await newCheckout(run, { notificationUrl: `${receiver.url}told` })
    await press(run.gateway, id)
    await until(async () =>
      calls('/hook').length > 0 && calls('/told').length > 0 ? true : undefined,
    )
    const { payload } = calls('/hook')[0]!.notification!
    assert.equal(payload.ndc, id)
    assert.equal(payload.redirect, undefined)
    assert.deepEqual(Object.fromEntries(new URLSearchParams(calls('/told')[0]!.search)), {
      id,
      resourcePath: `/v1/checkouts/${id}/payment`,
    })
    await run.gateway.webhooks.remove(hook.id)
  })

  test('a checkout ends after 30 minutes of its test clock, and its payment stays readable', async () => {
    const clock = await run.gateway.testClocks.create({ entityId: run.channel } as never)
    const [unpaid, paid] = [
      await newCheckout(run, { testClock: clock.id }),
      await newCheckout(run, { testClock: clock.id }),
    ]
    await press(run.gateway, paid)
    const [timer] = await timers(paid)
    assert.equal(timer!.clock_id, clock.id)
    await run.gateway.testClocks.advance(clock.id, { by: 'PT31M' } as never)
    await until(async () =>
      (await run.gateway.testClocks.get(clock.id)).status === 'READY' ? true : undefined,
    )
    await assert.rejects(run.gateway.checkouts.payment(unpaid), {
      code: '200.300.404',
      status: 400,
    })
    assert.equal((await run.gateway.checkouts.state(unpaid)).state, 'closed')
    assert.equal((await press(run.gateway, unpaid)).state, 'closed')
    assert.equal((await run.gateway.checkouts.payment(paid)).result.code, '000.100.110')
  })

  test('a steps log and the database hold no card number and no code', async () => {
    const id = await newCheckout(run)
    await press(run.gateway, id, { card: { ...cardFields(), cvv: '739' } })
    const tables = await run.sql(
      `select checkout.*, payment_request.request as paid from tollgate.checkout
        join tollgate.payment_request on payment_request.id = checkout.payment_id where checkout.id = $1`,
      [id],
    )
    const text = JSON.stringify([tables, run.logs], (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    assert.ok(!text.includes('4200000000000000'))
    assert.ok(!text.includes('"739"'))
    assert.ok(!JSON.stringify(run.logs).includes(id))
  })
})
