/** A host of two pods: each request goes to the pod of its token or resource, and no pod shows what is in the other. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GatewayError, Pods } from '../../../core/index.ts'
import { leadOf } from '../../../host/http/pods.ts'
import { createHost, type Listening } from '../../../host/index.ts'
import { endpoints } from '../../../schemas/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { codeOf, enrol, office, password } from '../../rig/operators.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'
import { type Answer, ask, debit, startHost } from './hosted.ts'

type Merchant = TestGateway & { readonly token: string; readonly tokenId: string }

async function withToken(run: TestGateway): Promise<Merchant> {
  const { id, token } = await run.gateway.entities.createToken(run.channel, 'test')
  return { ...run, token, tokenId: id }
}

type TwoPods = {
  readonly first: Merchant
  readonly second: Merchant
  readonly pods: Pods
  readonly lines: readonly Line[]
  readonly served: Listening
  close(): Promise<void>
}

/** Pods 0 and 1, each with a merchant, and with a line to its database that a test can cut. */
async function startTwo(): Promise<TwoPods> {
  const lines: Line[] = []
  const through = async (url: string) => {
    const line = await lineTo(url)
    lines.push(line)
    return line.url
  }
  const first = await withToken(await startGateway({ role: 'api', through }))
  const installationKey = await first.gateway.installationKey()
  const pod = { number: 1, installationKey }
  const second = await withToken(await startGateway({ role: 'api', through, pod }))
  const pods = new Pods([first.gateway, second.gateway])
  const served = await createHost(pods, { port: 0 }).listen()
  return {
    ...{ first, second, pods, lines, served },
    async close() {
      await served.close()
      await second.close()
      await first.close()
      await Promise.all(lines.map((line) => line.close()))
    },
  }
}

test('every operation of the endpoints table has a way to its pod', () => {
  for (const endpoint of endpoints) assert.equal(typeof leadOf(endpoint), 'function')
  assert.throws(
    () => leadOf({ login: 'none', operation: 'something.new' }),
    /nothing says which pod answers something\.new/,
  )
})

test('a host of one gateway looks up no pod', async () => {
  const run = await startHost()
  try {
    const { url, token, channel } = run
    await ask(url, '/v1/payments', { token, form: { ...debit, entityId: channel } })
    await ask(url, `/v1/return/${'0'.repeat(32)}/x`).catch(() => {})
    const texts = run.gateway.statements().map((statement) => JSON.stringify(statement))
    assert.ok(texts.length > 0)
    assert.deepEqual(
      texts.filter((text) => text.includes('as found')),
      [],
    )
  } finally {
    await run.close()
  }
})

describe('two pods behind one host', () => {
  let two: TwoPods
  before(async () => {
    two = await startTwo()
  })
  after(() => two.close())

  const pay = ({ token, channel }: Merchant) =>
    ask(two.served.url, '/v1/payments', { token, form: { ...debit, entityId: channel } })
  const read = (id: string, { token, channel }: Merchant) =>
    ask(two.served.url, `/v1/payments/${id}?entityId=${channel}`, { token })
  const codes = ({ status, body }: Answer) => [status, body.result.code]

  test('a payment is in the pod of its token, and the other token finds nothing of it', async () => {
    const { first, second } = two
    for (const [own, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const paid = await pay(own)
      assert.deepEqual(codes(paid), [200, '000.100.110'])
      const { id, shortId } = paid.body
      const stored = ({ sql }: Merchant) =>
        sql('select id from tollgate.payment where id = $1', [id])
      assert.equal((await stored(own)).length, 1)
      assert.equal((await stored(other)).length, 0)
      assert.equal((await read(id, own)).body.id, id)
      assert.equal((await read(id, other)).status, 404)
      const refund = { paymentType: 'RF', amount: '1.00', currency: 'EUR' }
      const { url } = two.served
      const foreign = await ask(url, `/v1/payments/${id}`, { token: other.token, form: refund })
      assert.equal(foreign.status, 404)
      const named = await ask(url, `/v1/payments/${id}?entityId=${own.channel}`, {
        token: other.token,
      })
      assert.deepEqual(codes(named), [403, '800.900.300'])
      const search = `/v1/query?entityId=${other.channel}&shortId=${String(shortId)}`
      assert.equal((await ask(url, search, { token: other.token })).status, 404)
    }
  })

  test('a token pays for no entity of the other pod', async () => {
    const { first, second } = two
    const crossed = await pay({ ...first, channel: second.channel })
    assert.deepEqual(codes(crossed), [403, '800.900.300'])
    const unknown = await pay({ ...first, token: 'nobody-has-this-token' })
    const without = await ask(two.served.url, '/v1/payments', { form: { ...debit } })
    assert.deepEqual(
      [codes(unknown), codes(without)],
      [
        [403, '800.900.300'],
        [401, '800.900.300'],
      ],
    )
  })

  test('each token reads the events of its own pod, with the cursor of a single gateway', async () => {
    const { first, second } = two
    for (const own of [first, second]) {
      const { url } = two.served
      const start = await ask(url, '/v1/events?since=NOW', { token: own.token })
      const cursor = String(start.body.nextCursor)
      assert.match(cursor, /^[0-9]+-[0-9]+-[0-9a-f]{32}/)
      const { body } = await pay(own)
      const page = await ask(url, `/v1/events?cursor=${cursor}&wait=30`, { token: own.token })
      const events = page.body.events as { payload: { id: string } }[]
      assert.deepEqual(
        events.map(({ payload }) => payload.id),
        [body.id],
      )
    }
  })

  test('a revoked token of the second pod is refused, also after its pod was found', async () => {
    const own = await withToken(two.second)
    assert.equal((await pay(own)).status, 200)
    await own.gateway.entities.revokeToken(own.tokenId)
    const refused = await until(async () => {
      const { status } = await pay(own)
      return status === 403 ? true : undefined
    })
    assert.ok(refused)
  })

  test('operators name their pod, and have a session in each', async () => {
    const { first, second, served } = two
    const ours = await enrol(first.gateway, 'olga', 'viewer')
    const theirs = await enrol(second.gateway, 'otto', 'viewer')
    const login = (prefix: string, { name, secret }: typeof ours) =>
      office(served.url, `${prefix}/operator/v1/login`, {
        values: { name, password, code: codeOf(secret) },
      })
    assert.equal((await login('', theirs)).status, 401, 'otto is unknown in pod 0')
    assert.equal((await login('/pods/1', ours)).status, 401, 'olga is unknown in pod 1')
    const inFirst = await login('', ours)
    const inSecond = await login('/pods/1', theirs)
    assert.deepEqual([inFirst.status, inSecond.status], [200, 200])
    assert.match(inFirst.cookie, /^tollgate-operator=/)
    assert.match(inSecond.cookie, /^tollgate-operator-1=/)
    const cookie = `${inFirst.cookie}; ${inSecond.cookie}`
    const nameIn = async (prefix: string) => {
      const answer = await office(served.url, `${prefix}/operator/v1/session`, { cookie })
      return (answer.body.person as { name: string }).name
    }
    assert.deepEqual(
      [await nameIn(''), await nameIn('/pods/0'), await nameIn('/pods/1')],
      ['olga', 'olga', 'otto'],
    )
    assert.equal((await office(served.url, '/pods/7/operator/v1/session', { cookie })).status, 404)
  })

  test('what no pod has is answered as a single gateway answers it', async () => {
    const { url } = two.served
    const nowhere = '0'.repeat(32)
    const back = await fetch(`${url}/v1/return/${nowhere}/x`)
    assert.equal(back.status, 404)
    const state = await ask(url, `/v1/checkouts/${nowhere.toUpperCase()}.node/widget`)
    assert.equal(state.status, 404)
    const event = await ask(url, `/connectors/simulator/${nowhere}/events`, { body: '{}' })
    assert.equal(event.status, 404)
    assert.equal((await ask(url, '/v1/resultcodes')).status, 200)
  })
})

describe('a pod whose database is away', () => {
  let two: TwoPods
  before(async () => {
    two = await startTwo()
  })
  after(() => two.close())

  const pay = ({ token, channel }: Merchant) =>
    ask(two.served.url, '/v1/payments', { token, form: { ...debit, entityId: channel } })
  const readiness = async () => {
    const { status, body } = await ask(two.served.url, '/readyz')
    return `${status} ${body.result.description}`
  }
  const becomes = (what: RegExp) =>
    until(async () => (what.test(await readiness()) ? true : undefined))

  test('the merchants of the other pod go on, readiness names the pod, and it comes back', async () => {
    const { first, second, lines } = two
    await becomes(/^200 [^;]*$/)
    for (const [at, own] of [
      [1, first],
      [0, second],
    ] as const) {
      const other = own === first ? second : first
      lines[at]!.down()
      await becomes(new RegExp(`^200 .*; away: pod ${at}$`))
      assert.equal((await pay(own)).status, 200, 'its neighbour is away')
      assert.ok((await pay(other)).status >= 500, 'its own database is away')
      const unknown = await pay({ ...own, token: `unknown-${at}` })
      assert.deepEqual([unknown.status, unknown.body.result.code], [503, '800.800.801'])
      assert.equal(unknown.headers.get('retry-after'), '1')
      lines[at]!.up()
      await becomes(/^200 [^;]*$/)
      await until(async () => ((await pay(other)).status === 200 ? true : undefined))
    }
  })

  test('the host is not ready when every pod is away', async () => {
    for (const line of two.lines) line.down()
    await becomes(/^503 /)
    for (const line of two.lines) line.up()
    await becomes(/^200 [^;]*$/)
  })

  test('a pod that was away at the start is served as soon as it is added', async () => {
    const { first, second } = two
    const pods = new Pods([first.gateway], { away: [1] })
    const served = await createHost(pods, { port: 0 }).listen()
    try {
      const form = { ...debit, entityId: second.channel }
      const tried = () => ask(served.url, '/v1/payments', { token: second.token, form })
      assert.equal((await tried()).status, 503)
      assert.match((await ask(served.url, '/readyz')).body.result.description, /; away: pod 1$/)
      const operators = await office(served.url, '/pods/1/operator/v1/session', {})
      assert.equal(operators.status, 503)
      pods.add(second.gateway)
      assert.equal((await tried()).status, 200)
      await assert.rejects(
        new Pods([first.gateway], { away: [1] }).find('payment', '0'.repeat(32)),
        (error) => error instanceof GatewayError && error.status === 503,
      )
    } finally {
      await served.close()
    }
  })
})
