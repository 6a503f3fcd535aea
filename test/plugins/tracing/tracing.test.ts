/** Traces as a collector gets them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { context, trace } from '@opentelemetry/api'
import acquirer from '../../../connectors/acquirer-json/index.ts'
import { cards } from '../../../connectors/acquirer-json/sandbox/order.ts'
import { type RunningBank, startBank } from '../../../connectors/acquirer-json/sandbox/server.ts'
import { tracing } from '../../../plugins/tracing/index.ts'
import { ask, debit, type Hosted, startHost } from '../../host/http/hosted.ts'
import { startGateway, until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'
import { type CollectedSpan, type Collector, startCollector } from './collector.ts'

const traceId = 'c0ffee'.padEnd(32, '1')
const clientSpan = 'beef'.padEnd(16, '2')
/** OpenTelemetry reads two clocks for an end, between which a busy machine may pause. */
const accuracyNs = 1_000_000_000n
const traceparent = `00-${traceId}-${clientSpan}-01`

describe('traces of a host', () => {
  const settings = { merchantId: 'shop-1', apiKey: 'a'.repeat(32), eventSecret: 'e'.repeat(32) }
  let collector: Collector
  let bank: RunningBank
  let receiver: Receiver
  let run: Hosted

  before(async () => {
    collector = await startCollector()
    bank = await startBank(settings)
    receiver = await startReceiver()
    run = await startHost(
      {},
      {
        name: 'traced',
        role: 'all',
        plugins: [acquirer, tracing({ url: collector.url, incoming: 'continue' })],
        connectors: { 'acquirer-json': { url: bank.url } },
      },
    )
    await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'acquirer-json',
      mode: 'EXTERNAL',
      settings,
    })
    await run.gateway.webhooks.create({ entityId: run.merchant, url: receiver.url } as never)
  })
  after(async () => {
    await run.close()
    await receiver.close()
    await bank.close()
    await collector.close()
  })

  const pay = (more: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>>) =>
    ask(run.url, '/v1/payments', {
      token: run.token,
      form: { ...debit, entityId: run.channel, ...more },
      headers,
    })
  const spansOf = (id: string) => collector.spans.filter((span) => span.traceId === id)
  const named = (spans: readonly CollectedSpan[], name: string) =>
    spans.find((span) => span.name === name)

  test('a payment is one trace: request, first commit, connector call, its request, settling commit', async () => {
    const { status, body } = await pay(
      { testMode: 'EXTERNAL', 'card.number': cards.approved },
      { traceparent },
    )
    assert.equal(status, 200)
    const spans = await until(async () => {
      const found = spansOf(traceId)
      return named(found, 'POST /v1/payments') === undefined ? undefined : found
    })
    const request = named(spans, 'POST /v1/payments')!
    assert.equal(request.parentSpanId, clientSpan, 'the span of the client')
    assert.equal(request.kind, 'SPAN_KIND_SERVER')
    const { attributes } = request
    assert.equal(attributes['http.response.status_code'], 200)
    assert.equal(attributes['tollgate.payment.id'], body.id)
    assert.equal(attributes['tollgate.request.id'], body.ndc)
    assert.equal(attributes['tollgate.result.code'], body.result.code)

    const children = ['first commit', 'acquirer-json debit', 'settling commit'].map(
      (name) => named(spans, name) ?? assert.fail(`no span ${name}`),
    )
    for (const child of children) {
      assert.equal(child.parentSpanId, request.spanId, child.name)
      assert.equal(child.attributes['tollgate.payment.id'], body.id)
      assert.ok(
        child.startNs >= request.startNs && child.endNs <= request.endNs + accuracyNs,
        child.name,
      )
    }
    const [commit, call, settled] = children as [CollectedSpan, CollectedSpan, CollectedSpan]
    assert.ok(commit.startNs <= call.startNs && call.startNs <= settled.startNs)
    assert.ok(
      commit.endNs <= call.startNs + accuracyNs && call.endNs <= settled.startNs + accuracyNs,
    )
    assert.equal(settled.attributes['tollgate.payment.state'], 'approved')
    const out = spans.find((span) => span.kind === 'SPAN_KIND_CLIENT')!
    assert.equal(out.parentSpanId, call.spanId)
    assert.equal(out.attributes['server.address'], new URL(bank.url).host)
    assert.deepEqual(request.service, {
      'service.name': 'traced',
      'service.version': 'tollgate-0.1.0',
      'deployment.environment.name': 'test',
      'tollgate.role': 'all',
    })
  })

  test('a notification is a span of its own, whose trace goes along to the merchant', async () => {
    await pay({}, {})
    const received = await until(async () =>
      receiver.received.find(({ headers }) => headers.traceparent !== undefined),
    )
    const [version, sentTrace, sentSpan, flags] = received.headers.traceparent!.split('-')
    assert.deepEqual([version, flags], ['00', '01'])
    const out = await until(async () =>
      collector.spans.find((span) => span.traceId === sentTrace && span.spanId === sentSpan),
    )
    assert.equal(out.kind, 'SPAN_KIND_CLIENT')
    const above = await until(async () =>
      collector.spans.find((span) => span.spanId === out.parentSpanId),
    )
    assert.equal(above.name, 'notification')
    assert.equal(above.attributes['http.response.status_code'], 200)
  })

  test('jobs are spans', async () => {
    const job = await until(async () => collector.spans.find(({ name }) => name.startsWith('job ')))
    assert.equal(job.kind, 'SPAN_KIND_CONSUMER')
    assert.equal(job.attributes['tollgate.job'], job.name.slice(4))
  })

  test('a decline is no error, and a malformed trace context begins a trace of its own', async () => {
    const { body } = await pay(
      { testMode: 'EXTERNAL', 'card.number': cards.declined },
      { traceparent: `00-${traceId}-${clientSpan}-zz` },
    )
    const request = await until(async () =>
      collector.spans.find(({ attributes }) => attributes['tollgate.request.id'] === body.ndc),
    )
    assert.equal(request.parentSpanId, '')
    assert.notEqual(request.traceId, traceId)
    assert.equal(request.attributes['http.response.status_code'], 400)
    const whole = await until(async () => {
      const found = spansOf(request.traceId)
      return found.length >= 5 ? found : undefined
    })
    assert.deepEqual(
      whole.filter(({ status }) => status === 'STATUS_CODE_ERROR').map(({ name }) => name),
      [],
    )
  })

  test('no trace holds a card number, a security code, a name or a secret', async () => {
    await until(async () => (collector.bodies.length > 0 ? true : undefined))
    const sent = Buffer.concat(collector.bodies).toString('latin1')
    assert.ok(sent.includes('tollgate.payment.id'))
    for (const secret of [cards.approved, cards.declined, debit['card.number']!, 'Jane Jones']) {
      assert.ok(!sent.includes(secret), secret)
    }
    for (const secret of [run.token, settings.apiKey, receiver.url])
      assert.ok(!sent.includes(secret))
  })
})

describe('the trace of a client', () => {
  for (const incoming of ['continue', 'link', 'ignore'] as const) {
    test(`with incoming: '${incoming}'`, async () => {
      const collector = await startCollector()
      const plugins = [tracing({ url: collector.url, incoming, outgoing: false })]
      const run = await startHost({}, { name: `incoming ${incoming}`, plugins })
      let body: { ndc: string }
      try {
        body = (
          await ask(run.url, '/v1/payments', {
            token: run.token,
            form: { ...debit, entityId: run.channel },
            headers: { traceparent },
          })
        ).body
      } finally {
        // A close sends what waits.
        await run.close()
      }
      const request = collector.spans.find(
        ({ attributes }) => attributes['tollgate.request.id'] === body.ndc,
      )
      await collector.close()
      assert.ok(request)
      assert.equal(request.traceId === traceId, incoming === 'continue')
      assert.deepEqual(request.links, incoming === 'link' ? [`${traceId} ${clientSpan}`] : [])
    })
  }

  test('a client whose trace goes on that drops it drops it here as well, and ratio 0 keeps no other', async () => {
    const collector = await startCollector()
    const plugins = [tracing({ url: collector.url, ratio: 0, incoming: 'continue' })]
    const run = await startHost({}, { name: 'sampled', plugins })
    const form = { ...debit, entityId: run.channel }
    try {
      await ask(run.url, '/v1/payments', { token: run.token, form })
      const dropped = traceparent.replace(/01$/, '00')
      await ask(run.url, '/v1/payments', {
        token: run.token,
        form,
        headers: { traceparent: dropped },
      })
      await ask(run.url, '/v1/payments', { token: run.token, form, headers: { traceparent } })
    } finally {
      await run.close()
    }
    await collector.close()
    assert.deepEqual(new Set(collector.spans.map((span) => span.traceId)), new Set([traceId]))
  })
})

test('by default a client decides neither that its trace is kept nor that it is dropped', async () => {
  for (const [ratio, flags] of [
    [0, '01'],
    [1, '00'],
  ] as const) {
    const collector = await startCollector()
    const plugins = [tracing({ url: collector.url, ratio })]
    const run = await startHost({}, { name: `ratio ${ratio}`, plugins })
    try {
      await ask(run.url, '/v1/payments', {
        token: run.token,
        form: { ...debit, entityId: run.channel },
        headers: { traceparent: traceparent.replace(/01$/, flags) },
      })
    } finally {
      await run.close()
    }
    await collector.close()
    const requests = collector.spans.filter(({ name }) => name === 'POST /v1/payments')
    assert.equal(requests.length, ratio)
    assert.ok(collector.spans.every((span) => span.traceId !== traceId))
  }
})

describe('a program with an SDK of its own', () => {
  test("gets the engine's spans below the span that it has open", async () => {
    const collector = await startCollector()
    const { openSdk } = await import('../../../plugins/tracing/sdk.ts')
    const { checkedOptions } = await import('../../../plugins/tracing/options.ts')
    const { AsyncLocalStorage } = await import('node:async_hooks')
    const provider = openSdk(checkedOptions({ url: collector.url }), {
      ...{ engine: 'the program', environment: 'test', role: 'all', version: '1' },
      log: { info() {}, warn() {} },
      process: () => assert.fail(),
      shared: () => assert.fail(),
    })
    const store = new AsyncLocalStorage<ReturnType<typeof context.active>>()
    const { ROOT_CONTEXT } = await import('@opentelemetry/api')
    context.setGlobalContextManager({
      active: () => store.getStore() ?? ROOT_CONTEXT,
      with: (own, work, self, ...given) => store.run(own, () => work.apply(self as never, given)),
      bind: (_, target) => target,
      enable() {
        return this
      },
      disable() {
        return this
      },
    })
    trace.setGlobalTracerProvider(provider)
    const run = await startGateway({
      name: 'embedded',
      role: 'api',
      plugins: [tracing({ sdk: 'global' })],
    })
    try {
      const tracer = trace.getTracer('shop')
      const order = tracer.startSpan('order')
      await context.with(trace.setSpan(context.active(), order), () => run.pay())
      order.end()
      await provider.forceFlush()
      const [mine] = collector.spans.filter(({ name }) => name === 'order')
      const below = collector.spans.filter(({ parentSpanId }) => parentSpanId === mine?.spanId)
      assert.deepEqual(below.map(({ name }) => name).sort(), [
        'first commit',
        'settling commit',
        'simulator debit',
      ])
    } finally {
      await run.close()
      await provider.shutdown()
      trace.disable()
      context.disable()
      await collector.close()
    }
  })
})

test('wrong options are named', () => {
  for (const [given, named] of [
    [{ url: 'collector:4318' }, /url must be an address/],
    [{ ratio: 2 }, /ratio must be a number from 0 to 1/],
    [{ incoming: 'trust' }, /incoming must be 'continue', 'link' or 'ignore'/],
    [{ sdk: 'mine' }, /sdk must be 'own' or 'global'/],
    [{ serviceName: '' }, /serviceName must be a text/],
    [{ outgoing: 'yes' }, /outgoing must be true or false/],
    [{ endpoint: 'x' }, /endpoint is no option/],
  ] as const) {
    assert.throws(() => tracing(given as never), named)
  }
})
