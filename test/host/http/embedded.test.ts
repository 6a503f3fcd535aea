import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { surfaces } from '@tollgate/schemas'
import express, { type Express } from 'express'
import { type GatewayOptions, OptionsError, optionForms } from '../../../core/index.ts'
import { createFetchHandler } from '../../../host/http/fetch.ts'
import { createHost, ListenError } from '../../../host/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { answersIn, ask, debit, exchange, paymentText, underWay } from './hosted.ts'

const problemsOf = (make: () => unknown) => {
  try {
    make()
  } catch (error) {
    assert.ok(error instanceof OptionsError, String(error))
    assert.match(error.message, /^create(Host|FetchHandler) cannot start:\n/)
    return Object.fromEntries(error.problems.map(({ option, message }) => [option, message]))
  }
  assert.fail('it was made')
}

describe('the surface in another app', () => {
  let engine: TestGateway
  let token: string

  before(async () => {
    engine = await startGateway({ role: 'api' })
    token = (await engine.gateway.entities.createToken(engine.channel, 'test')).token
  })
  after(() => engine.close())

  async function serving(app: Express): Promise<{ url: string; server: Server }> {
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
  }

  async function closing(server: Server): Promise<void> {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }

  test('the surface can be mounted below a path of another app', async () => {
    const shop = express()
    shop.get('/shop', (_, response) => void response.send('shop'))
    shop.use('/pay', createHost(engine.gateway).app)
    const { url, server } = await serving(shop)
    try {
      const paid = await ask(url, '/pay/v1/payments', { token, form: debit })
      assert.equal(paid.status, 200, JSON.stringify(paid.body))
      const path = `/pay/v1/payments/${paid.body.id}?entityId=${engine.channel}`
      assert.equal((await ask(url, path, { token })).body.id, paid.body.id)
      assert.equal(await (await fetch(`${url}/shop`)).text(), 'shop')
    } finally {
      await closing(server)
    }
  })

  test('the surface behind a body parser fails loudly instead of taking an empty request', async () => {
    const shop = express()
    const told: { fields: object; text: string }[] = []
    // Of the engine's form.
    const log: NonNullable<GatewayOptions['log']> = {
      info() {},
      warn: (fields: object, text: string) => void told.push({ fields, text }),
    }
    shop.use(express.urlencoded({ extended: false }), createHost(engine.gateway, { log }).app)
    const { url, server } = await serving(shop)
    try {
      const answer = await ask(url, '/v1/payments', { token, form: debit })
      assert.equal(answer.status, 500)
      assert.equal(answer.body.result.code, '600.100.100')
      assert.match(answer.body.result.description, /mounted ahead of body parsers$/)
      const [line] = told
      assert.equal(line?.text, answer.body.result.description)
      assert.deepEqual(line?.fields, { ndc: answer.body.ndc })
    } finally {
      await closing(server)
    }
  })

  test('unknown and wrong options are named, all in one error', () => {
    const wrong = {
      surface: ['merchant'],
      trustedproxy: ['loopback'],
      surfaces: 'merchant',
      trustedProxy: ['no address', '10.0.0.0/8', 'loopback', 5],
      throttle: { writesPerSecond: 0, writes: 5 },
      origins: { merchants: 'https://a.example', office: 'office' },
      proxyOnly: 'yes',
      log: {},
      bodies: { payment: {}, strangers: { byte: 64e6, clientBytes: 0 } },
    }
    const names = surfaces.map((name) => `'${name}'`).join(', ')
    const both = {
      surface: 'is no option; did you mean surfaces?',
      trustedproxy: 'is no option; did you mean trustedProxy?',
      surfaces: `must be a list of ${names}, not "merchant"`,
      trustedProxy: `must be a list of addresses or subnets such as '10.0.0.0/8', or 'loopback', and has "no address", 5`,
      'throttle.writesPerSecond': 'must be a whole number from 1 to 9007199254740991, not 0',
      'throttle.writes': 'is no option',
      'origins.merchants': 'is no option; did you mean origins.merchant?',
      'origins.office': 'must be an address such as https://pay.example.com, not "office"',
      proxyOnly: 'must be true or false, not "yes"',
      log: 'must have info(), warn()',
      'bodies.payment': 'is no option; did you mean bodies.payments?',
      'bodies.strangers.bytes': 'is missing',
      'bodies.strangers.lateBytes': 'is missing',
      'bodies.strangers.byte': 'is no option; did you mean bodies.strangers.bytes?',
      'bodies.strangers.clientBytes': 'must be a whole number from 1 to 9007199254740991, not 0',
    }
    const { gateway } = engine
    assert.deepEqual(
      problemsOf(() => createHost(gateway, { ...wrong, port: 70_000, basePath: '/x' } as never)),
      {
        ...both,
        port: 'must be a whole number from 0 to 65535, not 70000',
        basePath: 'is no option',
      },
    )
    assert.deepEqual(
      problemsOf(() => createFetchHandler(gateway, { ...wrong, port: 80, basePath: 'x' } as never)),
      {
        ...both,
        port: 'is no option',
        basePath: 'must be a path such as /pay, without a slash at its end, not "x"',
      },
    )
    const one = { surfaces: ['merchant', 'merchants'] } as never
    assert.deepEqual(
      problemsOf(() => createHost(undefined as never, one)),
      {
        gateway: 'must come from createGateway, and is undefined',
        surfaces: `must be a list of ${names}, and has "merchants"`,
      },
    )
    assert.deepEqual(
      problemsOf(() => createHost({} as never, [] as never)),
      {
        gateway: 'must come from createGateway, and is an object',
        options: 'must be an object, not a list',
      },
    )
    createHost(gateway, { trustedProxy: ['loopback', '10.0.0.0/8', '::1'], surfaces: [] })
  })

  test('an option that is undefined has its default', async () => {
    const unset = { writesPerSecond: undefined, readsPerSecond: undefined }
    const limits = { headersTimeoutMs: undefined, connections: undefined, silenceMs: undefined }
    // As a program gives them whose settings are not set.
    const options = { port: 0, throttle: unset, limits } as never
    const { url, close } = await createHost(engine.gateway, options).listen()
    try {
      const send = () => ask(url, '/v1/payments', { token, form: debit })
      const answers = await Promise.all(Array.from({ length: 12 }, send))
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    } finally {
      await close()
    }
    const defaults = { connections: 5, silenceMs: 7 }
    const given = { connections: undefined, silenceMs: 9 }
    assert.deepEqual(optionForms.withDefaults(defaults, given), { connections: 5, silenceMs: 9 })
    assert.deepEqual(optionForms.withDefaults(defaults, undefined), defaults)
  })

  test('options of a class, own or inherited, are checked and taken', () => {
    class Options {
      throttle = Object.create({ writesPerSecond: Number.NaN })
      get proxyOnly() {
        return 'false'
      }
    }
    for (const make of [createHost, createFetchHandler]) {
      assert.deepEqual(
        problemsOf(() => make(engine.gateway, new Options() as never)),
        {
          proxyOnly: 'must be true or false, not "false"',
          'throttle.writesPerSecond': 'must be a whole number from 1 to 9007199254740991, not NaN',
        },
      )
    }
    class Limits {
      connections = 9
      get silenceMs() {
        return 8
      }
    }
    const defaults = { connections: 5, silenceMs: 7 }
    assert.deepEqual(optionForms.withDefaults(defaults, new Limits()), {
      connections: 9,
      silenceMs: 8,
    })
  })

  test('an address given to listen is refused with the place where it belongs', async () => {
    const listen = createHost(engine.gateway, { port: 0 }).listen as (
      ...given: unknown[]
    ) => Promise<unknown>
    for (const given of [[{ port: 8526 }], [8526, '127.0.0.1'], [8526, () => {}]]) {
      await assert.rejects(listen(...given), (error) => {
        assert.ok(error instanceof OptionsError)
        const [{ option, message }] = error.problems as [{ option: string; message: string }]
        assert.equal(
          `${option} ${message}`,
          "listen takes no arguments: createHost(gateway, { host: '127.0.0.1', port: 8526 }).listen()",
        )
        return true
      })
    }
  })

  test('a port in use is reported in words', async () => {
    const first = await createHost(engine.gateway, { port: 0 }).listen()
    try {
      const port = Number(new URL(first.url).port)
      await assert.rejects(createHost(engine.gateway, { port }).listen(), (error) => {
        assert.ok(error instanceof ListenError)
        assert.match(error.message, new RegExp(`port ${port} .* is in use.*PORT`))
        return true
      })
    } finally {
      await first.close()
    }
  })

  test('closing lets a running payment end, answers it, and refuses new requests', async () => {
    const { url, close } = await createHost(engine.gateway, { port: 0 }).listen()
    const form = {
      ...debit,
      merchantTransactionId: 'the-last-one',
      'customParameters[SIM_DELAY_MS]': '400',
    }
    const waiting = exchange(url, paymentText(token, form))
    await underWay(engine, 'the-last-one')
    const closed = close()
    await assert.rejects(fetch(`${url}/healthz`), /fetch failed/)
    // The connection stays open until then: without the closing answer, exchange() would wait on.
    const text = await waiting
    const [answer] = answersIn(text)
    assert.equal(answer?.status, 200)
    assert.match(text, /^Connection: close\r$/m)
    await closed
  })

  test('a request that outlasts the grace period is cut, so that the process can end', async () => {
    const host = createHost(engine.gateway, { port: 0, shutdownGraceMs: 50 })
    const { url, close } = await host.listen()
    const waiting = exchange(url, paymentText(token, debit).slice(0, -10))
    assert.equal((await ask(url, '/readyz')).status, 200)
    await close()
    assert.deepEqual(answersIn(await waiting), [])
  })
})
