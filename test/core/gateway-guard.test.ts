/** What a program sees of a gateway whose database is away, and of one that was closed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type Gateway, GatewayError, newId } from '../../core/index.ts'
import { callMethod, everyMethod } from '../rig/every-method.ts'
import { card, startGateway, type TestGateway } from '../rig/gateway.ts'
import { type Line, lineTo } from '../rig/proxy.ts'

type Arguments = readonly unknown[]

/** Calls that ask the database, whatever a process remembers. */
function callsOf(
  run: TestGateway,
  client: pg.Client,
  checkoutId: string,
): Record<string, Arguments> {
  const id = newId()
  /** In the form of a session, and of an invitation. */
  const session = 's'.repeat(43)
  const { channel: entityId, merchant } = run
  const decided = { by: 'Ann', reason: 'a test' }
  const payment = { ...card('4200000000000000'), entityId }
  const amount = { amount: '1.00', currency: 'EUR' }
  const followUp = { ...amount, paymentType: 'RF' }
  const charge = { entityId, ...amount, paymentType: 'DB' }
  const job = { expression: '0 0 1 * ?' }
  const schedule = { ...charge, registrationId: id, job }
  const days = { date: { from: '2026-01-01 00:00:00', to: '2026-01-02 00:00:00' } }
  const read = async () => ({})
  return {
    'accounts.add': [
      { channelId: entityId, connector: 'simulator', mode: 'EXTERNAL', settings: {} },
    ],
    'accounts.channelOf': [id],
    'accounts.check': [id],
    'accounts.counts': [],
    'accounts.disable': [id],
    'accounts.enable': [id],
    'accounts.list': [],
    'accounts.rotate': [id, { apiKey: 'secret' }],
    'accounts.set': [id, { position: 3 }],
    'accounts.show': [id],
    attention: [],
    'audit.anchor': [],
    'audit.export': [],
    'audit.forget': [new Date('2020-01-01'), 'Ann'],
    'audit.list': [],
    'audit.search': [{}, undefined, 10],
    'audit.tellRead': ['Ann', 'listed', {}],
    'audit.verify': [],
    authenticate: [`Bearer ${id}`],
    'checkouts.create': [charge],
    'checkouts.offer': [checkoutId],
    'checkouts.payment': [checkoutId],
    'checkouts.registration': [checkoutId],
    'checkouts.remove': [checkoutId],
    'checkouts.state': [checkoutId],
    'checkouts.submit': [checkoutId, { paymentBrand: 'VISA' }],
    'checkouts.update': [checkoutId, { ...amount }],
    'entities.close': [merchant],
    'entities.configure': [entityId, { cvvRequired: false }],
    'entities.create': [{ kind: 'psp', name: 'Later' }],
    'entities.createAccount': [
      { channelId: entityId, connector: 'simulator', mode: 'EXTERNAL', settings: {} },
    ],
    'entities.createToken': [merchant, 'test'],
    'entities.dispatching.add': [merchant, { priority: 1, channelId: entityId }],
    'entities.dispatching.choose': [
      merchant,
      { brands: [], currency: null, paymentType: 'DB', country: null },
    ],
    'entities.dispatching.list': [merchant],
    'entities.dispatching.remove': [merchant, 1],
    'entities.dispatching.replace': [merchant, []],
    'entities.get': [id],
    'entities.list': [],
    'entities.open': [merchant],
    'entities.revokeToken': [id],
    'entities.rotateToken': [id],
    'entities.tokens': [merchant],
    'events.get': [id],
    'events.list': [],
    holds: ['payment', id],
    installationKey: [],
    inbound: ['simulator', id, { body: Buffer.from('{}'), headers: {}, query: {} }],
    inspect: [id],
    'operator.attention': [],
    'operator.enquire': [id, decided],
    'operator.redrive': [id, decided],
    'operator.resolve': [id, decided],
    'operator.retry': [id, decided],
    'operator.reverseChargeback': [id, decided],
    'operator.settle': [id, 'declined', decided],
    'payments.accept': [{ ...payment, card: { ...payment.card, cvv: undefined } }, { client }],
    'payments.acceptFollowUp': [id, followUp, { client }],
    'payments.capture': [id, amount],
    'payments.create': [payment],
    'payments.followUp': [id, followUp],
    'payments.get': [id],
    'payments.rebill': [id, amount],
    'payments.refund': [id, amount],
    'payments.reverse': [id],
    'payments.steps': [id],
    'people.answer': ['office.people.list', session, { read, requestId: newId() }, {}],
    'people.change': [id, { role: 'auditor' }],
    'people.confirm': [id],
    'people.create': [
      { name: 'ann', password: 'a long password, no 1', role: 'admin', entityId: null },
    ],
    'people.disable': [id],
    'people.enable': [id],
    'people.join': [
      { name: 'ann', password: id, invitation: session, newPassword: 'a long password, the 2nd' },
    ],
    'people.list': [],
    'people.logOut': [session],
    'people.login': [{ name: 'ann', password: 'a long password, no 1' }],
    'people.named': ['ann'],
    'people.personOf': [session],
    'people.proposals': [],
    'people.reject': [id, 'no'],
    'people.reset': [id, 'a long password, no 3'],
    'people.unlock': [id],
    'query.all': [{ entityId, ...days }],
    'query.get': [id],
    'query.linked': [id],
    'query.search': [{ entityId, ...days }],
    'registrations.accept': [id, charge, { client }],
    'registrations.create': [{ entityId, paymentBrand: 'VISA', card: payment.card }],
    'registrations.extend': [id],
    'registrations.get': [id],
    'registrations.pay': [id, charge],
    'registrations.remove': [id],
    'registrations.sameAccount': [id],
    'registrations.steps': [id],
    'registrations.update': [id, { entityId, card: { expiryMonth: '06', expiryYear: '2035' } }],
    'reportDestinations.create': [
      { entityId: merchant, type: 'SFTP', url: 'sftp://files.example.com/in', username: 'a' },
    ],
    'reportDestinations.deliveries': [id],
    'reportDestinations.get': [id],
    'reportDestinations.list': [],
    'reportDestinations.remove': [id],
    'reportDestinations.replay': [id, { fromNo: '1' }],
    'reportDestinations.test': [id],
    'reportDestinations.update': [id, { active: 'false' }],
    'reports.aggregation': [id],
    'reports.aggregations': [{ date: { from: '2026-01-01', to: '2026-01-02' }, currency: 'EUR' }],
    'reports.cut': [],
    'reports.file': [id],
    'reports.files': [],
    'reports.recordPage': [id],
    'reports.records': [id],
    'schedules.cancel': [id],
    'schedules.create': [schedule],
    'schedules.executions': [id],
    'schedules.get': [id],
    'schedules.list': [{ entityId, registrationId: id }],
    'schedules.preview': [{ entityId, job }],
    'schedules.reschedule': [id, { entityId, job }],
    'schedules.steps': [id],
    sendJob: ['own-job', { orderId: '1' }],
    'servedFiles.createKey': [{ entityId: merchant, publicKey: 'ssh-ed25519 AAAA' }],
    'servedFiles.listKeys': [],
    'servedFiles.removeKey': [id],
    'settlement.assign': [id, [id], decided],
    'settlement.check': [id, decided],
    'settlement.exceptions': [],
    'settlement.fetch': [id],
    'settlement.file': [id],
    'settlement.files': [],
    'settlement.import': [
      (async function* () {
        yield Buffer.from('x')
      })(),
      { accountId: id, name: 'x' },
    ],
    'settlement.rerun': [id, decided],
    'settlement.unsettled': [{ from: new Date(0), to: new Date(1) }],
    subscribe: ['orders', async () => {}],
    'testClocks.advance': [id, { to: '2030-01-01 00:00:00' }],
    'testClocks.create': [{ entityId: merchant }],
    'testClocks.get': [id],
    'threeDSecure.get': [id],
    'webhooks.create': [{ entityId: merchant, url: 'https://shop.example/hook' }],
    'webhooks.deliveries': [id],
    'webhooks.get': [id],
    'webhooks.list': [],
    'webhooks.remove': [id],
    'webhooks.replay': [id, { eventId: id }],
    'webhooks.rotate': [id],
    'webhooks.test': [id],
    'webhooks.update': [id, { active: 'false' }],
    'widget.asset': ['f'.repeat(64), 'a.js'],
    'widget.frame': [checkoutId, 'f'.repeat(64), 'frame.html'],
    'widget.script': [checkoutId],
  }
}

/** Methods that answer from memory, or take something that only a shopper or a plugin has. */
const others: Record<string, Arguments> = {
  on: [() => {}],
  'accounts.connectors': [],
  // The setting of the channel is remembered for seconds.
  'threeDSecure.create': [{}],
  'pages.serves': ['simulator'],
  'pages.visit': ['nobody', { method: 'GET', path: '', query: {}, form: {} }],
  'servedFiles.listen': ['sftp', {}],
  'servedFiles.portOf': ['sftp'],
  'shoppers.cameBack': [newId(), 'no-token', { method: 'GET', query: {} }],
  // For counting, so it never fails.
  merchantOf: [{ id: 'someone', entityId: newId(), rights: 0 }],
}

/** What a call threw, at once or later. */
async function thrownBy(gateway: Gateway, path: string, given: Arguments): Promise<unknown> {
  try {
    const value = callMethod(gateway, path, given)
    if (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) {
      for await (const _ of value as AsyncIterable<unknown>) break
    } else await value
    return 'nothing'
  } catch (error) {
    return error
  }
}

const told = (error: unknown) =>
  error instanceof GatewayError
    ? `${error.status} ${error.code} retry after ${error.retryAfterSeconds}: ${error.message} ${JSON.stringify(error.parameterErrors)}`
    : String((error as Error)?.stack ?? error)

describe('a gateway whose database is away', () => {
  let run: TestGateway
  let line: Line
  let client: pg.Client
  let calls: Record<string, Arguments>
  before(async () => {
    run = await startGateway({
      role: 'api',
      jobs: [{ name: 'own-job', run: async () => {} }],
      through: async (url) => {
        line = await lineTo(url)
        return line.url
      },
    })
    client = new pg.Client({ connectionString: line.url })
    client.on('error', () => {})
    await client.connect()
    await client.query('begin')
    const checkout = await run.gateway.checkouts.create({
      ...{ entityId: run.channel, amount: '1.00', currency: 'EUR', paymentType: 'DB' },
    })
    calls = callsOf(run, client, checkout.id)
    line.down()
  })
  after(async () => {
    line?.up()
    await run?.close()
    await line?.close()
  })

  test('every method is called by this test', () => {
    const known = [...Object.keys(calls), ...Object.keys(others)].sort()
    assert.deepEqual(everyMethod(run.gateway), known)
  })

  test('every call that needs it is refused in the same way, and not as safe where it may have acted', async () => {
    const expected = told(
      new GatewayError('999.999.888', {
        status: 503,
        description:
          'The database is not available. Send the request again with the same Idempotency-Key. If it had none, look up first whether it was carried out, unless retrySafe is true.',
        retryAfterSeconds: 1,
      }),
    )
    const asked = Object.entries(calls)
    const thrown = await Promise.all(
      asked.map(async ([path, given]) => ({
        path,
        error: await thrownBy(run.gateway, path, given),
      })),
    )
    const wrong = thrown.flatMap(({ path, error }) =>
      told(error) === expected ? [] : [`${path}: ${told(error)}`],
    )
    assert.deepEqual(wrong, [])
    for (const { error } of thrown) {
      assert.ok((error as GatewayError).cause instanceof Error, 'the cause is there')
    }
    // Nothing of these reached a connection, so repeats are proven to be safe.
    const safe = thrown.filter(({ error }) => (error as GatewayError).retrySafe)
    for (const path of ['payments.create', 'payments.get', 'payments.refund', 'payments.accept']) {
      assert.ok(
        safe.some((one) => one.path === path),
        path,
      )
    }
  })

  test('a raw request gets 503, the code, Retry-After and retrySafe', async () => {
    const reply = await run.send({
      ...{ entityId: run.channel, amount: '92.00', currency: 'EUR', paymentType: 'DB' },
      ...{ paymentBrand: 'VISA', 'card.number': '4200000000000000', 'card.holder': 'Jane Jones' },
      ...{ 'card.expiryMonth': '05', 'card.expiryYear': '2034', 'card.cvv': '123' },
    })
    assert.deepEqual(
      [reply.status, reply.body.result.code, reply.headers['Retry-After'], reply.body.retrySafe],
      [503, '999.999.888', '1', true],
    )
  })

  test('it is not ready', async () => {
    assert.equal(await run.gateway.isReady(), false)
  })
})

test('a call whose first commit may have been carried out is not told to be safe', async () => {
  let line: Line | undefined
  const run = await startGateway({
    role: 'api',
    through: async (url) => {
      line = await lineTo(url)
      return line.url
    },
  })
  try {
    await run.pay()
    const first = run.gateway
      .statements()
      .find(({ text }) => text.includes('insert into tollgate.payment_request'))
    const cut = line!.cut(first!.name, 'after')
    const paying = run.pay().then(
      () => assert.fail('its answer was lost'),
      (error: unknown) => error,
    )
    await cut
    line!.down()
    const error = await paying
    assert.ok(error instanceof GatewayError)
    assert.deepEqual([error.status, error.code, error.retrySafe], [503, '999.999.888', false])
  } finally {
    line?.up()
    await run.close()
    await line?.close()
  }
})

test('after its end, every method of a gateway gives one refusal', async () => {
  const run = await startGateway({ role: 'api' })
  const client = new pg.Client({ connectionString: run.database.url })
  const { gateway } = run
  const calls = { ...callsOf(run, client, newId()), ...others }
  await gateway.close()
  const expected =
    '503 800.800.801 retry after 1: This gateway was closed and takes no more calls. []'
  const wrong: string[] = []
  for (const [path, given] of Object.entries(calls)) {
    const error = await thrownBy(gateway, path, given)
    if (told(error) !== expected) wrong.push(`${path}: ${told(error)}`)
  }
  assert.deepEqual(wrong, [])
  assert.equal(await gateway.isReady(), false)
  const { status, body } = await run.send({ entityId: run.channel })
  assert.deepEqual([status, body.result.code], [503, '800.800.801'])
  await gateway.close()
  await run.close()
})
