/** Mistakes of an embedding program are told in its own words: it has no access token and no HTTP request. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GatewayError } from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

const nobody = '0'.repeat(32)
const url = 'http://127.0.0.1:9/hook'

describe('a program is told', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({
      role: 'api',
      jobs: [{ name: 'mail', run: async () => {} }],
      allowLoopbackForMerchants: false,
    })
  })
  after(() => run.close())

  /** The only wrong parameter of a refused call. */
  async function told(call: Promise<unknown>): Promise<string> {
    const error = await call.then(
      () => assert.fail('it was carried out'),
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(error.code, '200.300.404')
    assert.equal(error.parameterErrors.length, 1)
    const [{ name, message }] = error.parameterErrors as [{ name: string; message: string }]
    return `${name} ${message}`
  }

  test('that an entity is unknown, and not of an access token', async () => {
    const { gateway } = run
    const unknown = 'entityId is unknown: this database has no entity with this id'
    const debit = { amount: '1.00', currency: 'EUR', paymentType: 'DB' } as const
    const card = { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034' }
    const asked = { entityId: nobody, ...debit }
    assert.equal(await told(gateway.payments.create({ ...asked, card })), unknown)
    assert.equal(await told(gateway.checkouts.create(asked)), unknown)
    assert.equal(await told(gateway.events.list({ entityId: nobody })), unknown)
    const { token } = await gateway.entities.createToken(run.channel, 'test')
    const caller = await gateway.authenticate(`Bearer ${token}`)
    await assert.rejects(gateway.payments.create({ ...asked, card }, { caller }), {
      code: '800.900.300',
      status: 403,
    })
  })

  test('that a job has no payload that can be stored, before the database is asked', async () => {
    const { gateway } = run
    const circle: { self?: object } = {}
    circle.self = circle
    const send = (payload: unknown, key?: unknown) =>
      told(gateway.sendJob('mail', payload as object, { key: key as string }))
    const unstorable = /^payload has a text with the character U\+0000/
    assert.match(await send({ text: 'a\0b' }), unstorable)
    assert.match(await send({ inner: [{ 'a\0': 1 }] }), unstorable)
    assert.match(await send({ text: '\ud800' }), unstorable)
    assert.match(await send(circle), /^payload cannot be written as JSON/)
    assert.match(await send({ cents: 1n }), /^payload cannot be written as JSON/)
    for (const payload of [undefined, null, 'order', ['order'], new Date(0)]) {
      assert.equal(await send(payload), 'payload must be an object such as { orderId }')
    }
    assert.match(await send({}, 5), /^key must be a text/)
    assert.match(await send({}, 'a\0'), /^key must be a text/)
    assert.match(await told(gateway.sendJob(undefined as never, {})), /^name is no job/)
    // A backslash that only looks like the character.
    await gateway.sendJob('mail', { text: '\\u0000' })
  })

  test('that an id is missing, and not that nothing has it', async () => {
    const { gateway } = run
    const none = undefined as never
    const { payments, registrations, schedules, query, testClocks } = gateway
    for (const part of [payments, registrations, schedules, query, testClocks]) {
      assert.equal(await told(part.get(none)), 'id is missing')
    }
    const refund = { amount: '1.00', currency: 'EUR' } as const
    assert.equal(await told(payments.refund(none, refund)), 'id is missing')
    await assert.rejects(payments.get(nobody), { status: 404 })
  })

  test('that a handler of events is no function, at the call', () => {
    const on = run.gateway.on as (...given: unknown[]) => unknown
    const parameterErrors = [{ name: 'handler', message: 'must be a function: on(handler)' }]
    for (const given of [['payment.approved', () => {}], [undefined], [{}]]) {
      assert.throws(() => on(...given), { code: '200.300.404', parameterErrors })
    }
  })

  test('the name of a missing entity of a person', async () => {
    const person = { name: 'joe', role: 'viewer', entityId: undefined as never }
    await assert.rejects(
      run.gateway.people.create(person as never),
      /entityId is missing: the id of an entity, or null for the whole installation/,
    )
  })

  test('the option that lets webhooks call this machine', async () => {
    const create = (given: string) =>
      told(run.gateway.webhooks.create({ entityId: run.channel, url: given } as never))
    const option = 'the option allowLoopbackForMerchants also takes this machine'
    assert.equal(await create(url), `url must be an https URL; ${option}`)
    assert.equal(
      await create('https://localhost/hook'),
      `url must lead to a public address; ${option}`,
    )
    assert.equal(await create('http://shop.example/hook'), 'url must be an https URL')
  })
})
