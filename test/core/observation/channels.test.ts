/** What the engine publishes about its work, to whoever listens in its process. */
import assert from 'node:assert/strict'
import { tracingChannel } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { type ChannelName, type Channels, channelNames, isTraceparent } from '@tollgate/plugin-kit'
import acquirer from '../../../connectors/acquirer-json/index.ts'
import { cards } from '../../../connectors/acquirer-json/sandbox/order.ts'
import { startBank } from '../../../connectors/acquirer-json/sandbox/server.ts'
import { createOutgoing } from '../../../core/net/http.ts'
import { Telling } from '../../../core/telemetry.ts'
import { card, startGateway, until } from '../../rig/gateway.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'
import { root } from '../../rig/sources.ts'

type Heard = {
  readonly channel: ChannelName
  readonly part: 'start' | 'asyncEnd' | 'error'
  readonly message: Readonly<Record<string, unknown>>
}

/** Records what one engine publishes. Messages are copied, since their ends change them. */
function listen(engine: string): { readonly heard: Heard[]; stop(): void } {
  const heard: Heard[] = []
  const stops = channelNames.flatMap((channel) =>
    (['start', 'asyncEnd', 'error'] as const).map((part) => {
      const source = tracingChannel<unknown, Channels[ChannelName]>(channel)[part]
      const listener = (message: unknown) => {
        const told = message as Record<string, unknown>
        if (told.engine === engine) heard.push({ channel, part, message: { ...told } })
      }
      source.subscribe(listener)
      return () => void source.unsubscribe(listener)
    }),
  )
  return { heard, stop: () => stops.forEach((stop) => void stop()) }
}

describe('channels of the engine', () => {
  test('a payment and its notification are told in order, each with its end', async () => {
    const engine = 'channels in order'
    const { heard, stop } = listen(engine)
    const jobs = [{ name: 'own-work', run: async () => {} }]
    const run = await startGateway({ name: engine, jobs })
    const receiver = await startReceiver()
    try {
      await run.gateway.webhooks.create({ entityId: run.merchant, url: receiver.url } as never)
      const paid = await run.pay()
      await receiver.atLeast(1)
      await until(async () =>
        heard.some(
          ({ channel, part }) => channel === 'tollgate:notification' && part === 'asyncEnd',
        )
          ? true
          : undefined,
      )
      const ofPayment = heard.filter(({ message }) => message.paymentId === paid.id)
      assert.deepEqual(
        ofPayment.map(({ channel, part }) => `${channel} ${part}`),
        ['first-commit', 'connector-call', 'settling-commit'].flatMap((name) => [
          `tollgate:${name} start`,
          `tollgate:${name} asyncEnd`,
        ]),
      )
      const [, first, , call, , settled] = ofPayment.map(({ message }) => message)
      const { durationMs: _, ...committed } = first!
      const about = { engine, paymentId: paid.id, paymentType: 'DB', connector: 'simulator' }
      assert.deepEqual(committed, about)
      assert.equal(call!.operation, 'debit')
      assert.equal(call!.outcome, 'approved')
      const { durationMs, ...moved } = settled!
      assert.ok(Number(durationMs) > 0)
      const end = { source: 'answer', moved: true, state: 'approved', group: 'success' }
      assert.deepEqual(moved, { ...about, ...end, code: paid.result.code })

      const attempt = heard.find(
        ({ channel, part }) => channel === 'tollgate:notification' && part === 'asyncEnd',
      )!
      assert.equal(attempt.message.delivered, true)
      assert.equal(attempt.message.status, 200)
      assert.ok(Number(attempt.message.ageMs) >= 0)
      await run.gateway.sendJob('own-work', {})
      await until(async () =>
        heard.some(
          ({ channel, part, message }) =>
            channel === 'tollgate:job' && part === 'asyncEnd' && message.job === 'own-work',
        )
          ? true
          : undefined,
      )
    } finally {
      stop()
      await run.close()
      await receiver.close()
    }
  })

  test('no message holds a card number, a security code or a name', async () => {
    const engine = 'channels without card data'
    const { heard, stop } = listen(engine)
    const settings = { merchantId: 'shop-1', apiKey: 'a'.repeat(32), eventSecret: 'e'.repeat(32) }
    const bank = await startBank(settings)
    const run = await startGateway({
      name: engine,
      plugins: [acquirer],
      connectors: { 'acquirer-json': { url: bank.url } },
    })
    try {
      await run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: 'acquirer-json',
        mode: 'EXTERNAL',
        settings,
      })
      for (const number of [cards.approved, cards.declined]) {
        await run.pay({
          ...card(number, { holder: 'Wilhelmina Testperson', cvv: '917' }),
          customer: {
            ...{ givenName: 'Wilhelmina', surname: 'Testperson' },
            email: 'wilhelmina@example.com',
          },
          testMode: 'EXTERNAL',
        })
      }
      assert.ok(heard.some(({ channel }) => channel === 'tollgate:outgoing'))
      const text = JSON.stringify(heard)
      for (const secret of [cards.approved, cards.declined, 'ilhelmina', settings.apiKey]) {
        assert.ok(!text.includes(secret), `a message holds ${secret}`)
      }
      // Ids and durations have these digits by chance, beside others.
      assert.doesNotMatch(text, /(?<![\w.:])917(?!\w)/)
      const declined = heard.filter(
        ({ channel, part }) => channel === 'tollgate:settling-commit' && part === 'asyncEnd',
      )
      assert.deepEqual(
        declined.map(({ message }) => message.state),
        ['approved', 'declined'],
      )
    } finally {
      stop()
      await run.close()
      await bank.close()
    }
  })

  test('a listener sends a trace context along, and anything else than one stays here', async () => {
    const engine = 'channels outgoing'
    const receiver = await startReceiver()
    const outgoing = createOutgoing({ name: engine, allowLoopback: true })
    const good = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
    let given: string | undefined
    const { start } = tracingChannel<unknown, Channels['tollgate:outgoing']>('tollgate:outgoing')
    const carry = (message: unknown) => {
      const told = message as Channels['tollgate:outgoing']
      if (told.engine === engine && given !== undefined) told.traceparent = given
    }
    start.subscribe(carry)
    const get = async (headers: Record<string, string> = {}) => {
      const now = performance.now()
      const call = outgoing.forCall({
        deadlineMs: now + 5_000,
        sendBy: { monotonicMs: now + 5_000, wallMs: Date.now() + 5_000 },
      })
      await call.http.get(receiver.url, {}, { headers })
      return receiver.received.at(-1)!.headers.traceparent
    }
    try {
      assert.equal(await get(), undefined)
      given = good
      assert.equal(await get(), good)
      const own = `00-${'12'.repeat(16)}-${'34'.repeat(8)}-00`
      assert.equal(await get({ Traceparent: own }), own)
      for (given of [
        '00-abc',
        `${good}\r\nX-More: 1`,
        `00-${'0'.repeat(32)}-${'cd'.repeat(8)}-01`,
      ]) {
        assert.equal(isTraceparent(given), false)
        assert.equal(await get(), undefined, given)
      }
    } finally {
      start.unsubscribe(carry)
      await outgoing.close()
      await receiver.close()
    }
  })

  test('a message is made only while somebody listens', async () => {
    const name = 'tollgate:job'
    const telling = new Telling(name)
    let made = 0
    const about = () => {
      made += 1
      return { engine: 'nobody', job: 'test' }
    }
    const { start } = tracingChannel<unknown, Channels[typeof name]>(name)
    const listener = () => {}
    // Other tests of this process may listen as well.
    if (!telling.isHeard) {
      assert.equal(await telling.run(async () => 'done', { about }), 'done')
      assert.equal(made, 0)
    }
    start.subscribe(listener)
    assert.equal(await telling.run(async () => 'done', { about }), 'done')
    start.unsubscribe(listener)
    assert.equal(made, 1)
  })

  test('a failure is told by its kind, and thrown on', async () => {
    const engine = 'channels failing'
    const { heard, stop } = listen(engine)
    try {
      class SecretError extends Error {
        override readonly name = 'SecretError'
      }
      const failing = new Telling('tollgate:job').run(
        async () => {
          throw new SecretError('card 4200000000000000')
        },
        { about: () => ({ engine, job: 'test' }) },
      )
      await assert.rejects(failing, SecretError)
      assert.deepEqual(
        heard.map(({ part, message }) => [part, message.error]),
        [
          ['start', undefined],
          ['error', 'SecretError'],
          ['asyncEnd', 'SecretError'],
        ],
      )
      assert.ok(!JSON.stringify(heard).includes('4200'))
    } finally {
      stop()
    }
  })

  test('docs/observability.md lists every channel and every field', () => {
    const page = readFileSync(path.join(root, 'docs/observability.md'), 'utf8')
    const source = readFileSync(path.join(root, 'plugins/kit/telemetry.ts'), 'utf8')
    for (const channel of channelNames) assert.ok(page.includes(`\`${channel}\``), channel)
    const fields = [...source.matchAll(/^ {2}(?:readonly )?(\w+)\??: /gm)].map(([, name]) => name!)
    assert.ok(fields.length > 20)
    for (const field of new Set(fields)) assert.ok(page.includes(`\`${field}\``), field)
  })
})
