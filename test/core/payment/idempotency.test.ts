import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeChecked } from '../../rig/books.ts'
import { card, flat, startGateway, type TestGateway } from '../../rig/gateway.ts'
import { cardOf } from '../../rig/payment-request.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })

describe('idempotency keys', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => closeChecked(run))

  const form = (more: Record<string, string> = {}) => ({
    ...flat(card('4200000000000000')),
    entityId: run.channel,
    ...more,
  })
  const send = (idempotencyKey: string, more: Record<string, string> = {}) =>
    run.send(form(more), { idempotencyKey })
  const count = async () => {
    const [row] = await run.sql<{ payments: bigint; attempts: bigint }>(
      'select (select count(*) from tollgate.payment) as payments, (select count(*) from tollgate.attempt) as attempts',
    )
    return row!
  }

  test('a repeat returns the same payment with its status, marked as replayed', async () => {
    const first = await send('order-1')
    assert.equal(first.headers['Idempotent-Replayed'], undefined)
    const already = await count()
    const repeat = await send('order-1')
    assert.equal(repeat.status, 200)
    assert.equal(repeat.headers['Idempotent-Replayed'], 'true')
    assert.equal(repeat.body.id, first.body.id)
    assert.deepEqual(repeat.body.result, first.body.result)
    assert.deepEqual(await count(), already)
  })

  test('a repeat returns the present state of the payment, not the past answer', async () => {
    const lost = { 'card.number': '4000000000000341' }
    const first = await send('order-now', lost)
    assert.equal(first.body.result.code, '000.200.001')
    await run.gateway.payments.refund(first.body.id, eur('1.00'))
    const repeat = await send('order-now', lost)
    assert.equal(repeat.body.id, first.body.id)
    assert.equal(repeat.body.result.code, '000.100.110')
  })

  test('a declined payment remains the answer of its key, without another attempt', async () => {
    const declined = { 'card.number': '4000000000000002' }
    const first = await send('order-declined', declined)
    const already = await count()
    const repeat = await send('order-declined', declined)
    assert.equal(repeat.status, 400)
    assert.equal(repeat.headers['Idempotent-Replayed'], 'true')
    assert.equal(repeat.body.id, first.body.id)
    assert.equal(repeat.body.result.code, '800.100.152')
    assert.deepEqual(await count(), already)
  })

  test('another body under the key is 400 200.300.405, and the first payment remains', async () => {
    const first = await send('order-2')
    const already = await count()
    for (const more of [
      { amount: '92.01' },
      { 'card.number': '4111111111111111' },
      { descriptor: 'Demo' },
    ]) {
      const { status, body } = await send('order-2', more as Record<string, string>)
      assert.equal(status, 400)
      assert.equal(body.result.code, '200.300.405')
    }
    assert.deepEqual(await count(), already)
    assert.equal((await send('order-2')).body.id, first.body.id)
  })

  test('the order of parameters and a repeated CVV make no other request', async () => {
    const first = await send('order-3')
    const turned = Object.fromEntries(Object.entries(form()).reverse())
    assert.equal((await run.send(turned, { idempotencyKey: 'order-3' })).body.id, first.body.id)
    assert.equal((await send('order-3', { 'card.cvv': '999' })).body.id, first.body.id)
  })

  test('the embedder and the HTTP surface share keys', async () => {
    const first = await send('order-4')
    const own = await run.gateway.payments.create(
      { ...card('4200000000000000'), entityId: run.channel } as never,
      { idempotencyKey: 'order-4' },
    )
    assert.equal(own.id, first.body.id)
  })

  test('a key belongs to the entity named in the request', async () => {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: run.merchant,
    })
    const first = await send('order-5')
    const other = await send('order-5', { entityId: channel })
    assert.equal(other.status, 200)
    assert.notEqual(other.body.id, first.body.id)
  })

  test('the same request twice without a key is two payments', async () => {
    const reference = { merchantTransactionId: 'order-20411' }
    const first = await run.send(form(reference))
    const second = await run.send(form(reference))
    assert.notEqual(second.body.id, first.body.id)
  })

  test('a request that fails validation leaves its key unused', async () => {
    assert.equal((await send('order-6', { amount: '0.00' })).status, 400)
    assert.equal((await send('order-6')).status, 200)
  })

  test('a refused follow-up leaves its key unused', async () => {
    const { id } = await run.pay({ paymentType: 'PA' })
    const options = { idempotencyKey: 'capture-refused' }
    await assert.rejects(run.gateway.payments.capture(id, eur('92.01'), options), {
      code: '700.400.100',
    })
    const done = await run.gateway.payments.capture(id, eur('92.00'), options)
    assert.equal(done.result.code, '000.100.110')
  })

  test('a follow-up under a key happens once; another body or payment is 200.300.405', async () => {
    const { id } = await run.pay()
    const other = await run.pay()
    const options = { idempotencyKey: 'refund-1' }
    const first = await run.gateway.payments.refund(id, eur('92.00'), options)
    const again = await run.gateway.payments.refund(id, eur('92.00'), options)
    assert.equal(again.id, first.id)
    const differs = { code: '200.300.405' }
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00'), options), differs)
    await assert.rejects(run.gateway.payments.refund(other.id, eur('92.00'), options), differs)
    await assert.rejects(run.gateway.payments.reverse(other.id, {}, options), differs)
  })

  test('the key of a first payment is refused for a follow-up', async () => {
    const first = await send('order-7')
    await assert.rejects(
      run.gateway.payments.refund(first.body.id, eur('92.00'), { idempotencyKey: 'order-7' }),
      { code: '200.300.405' },
    )
  })

  test('a repeated PA.CP returns its capture', async () => {
    const first = await send('two-steps', { paymentType: 'PA.CP' })
    assert.equal(first.body.paymentType, 'CP')
    const repeat = await send('two-steps', { paymentType: 'PA.CP' })
    assert.equal(repeat.body.id, first.body.id)
    assert.equal(repeat.headers['Idempotent-Replayed'], 'true')
  })

  test('a key is 1 to 255 visible ASCII characters', async () => {
    for (const key of ['', ' ', 'a b', 'é', 'x'.repeat(256), 'tab\t']) {
      const { status, body } = await send(key)
      assert.equal(status, 400, JSON.stringify(key))
      assert.deepEqual(
        body.result.parameterErrors?.map(({ name }) => name),
        ['Idempotency-Key'],
      )
    }
    assert.equal((await send('x'.repeat(255))).status, 200)
  })

  test('the stored key keeps nothing readable of the request', async () => {
    const kept = async (key: string) => {
      const { body } = await send(key, { 'card.holder': 'Erika Example' })
      const rows = await run.sql<{ key: Buffer; fingerprint: Buffer }>(
        `select key, fingerprint from tollgate.idempotency where payment_id = $1`,
        [body.id],
      )
      assert.equal(rows.length, 1)
      return rows[0]!
    }
    const one = await kept('order-8')
    const other = await kept('order-8-again')
    assert.equal(one.fingerprint.length, 32)
    assert.deepEqual(one.fingerprint, other.fingerprint)
    assert.equal(one.key.length, 32)
    assert.notDeepEqual(one.key, other.key)
    assert.ok(!one.key.includes('order-8'))
  })

  test("a repeat with the embedder's own card object charges once", async () => {
    const options = { key: 'order-9' }
    const first = await run.pay({ card: cardOf('4111111111111111') }, options)
    const second = await run.pay({ card: cardOf('4111111111111111', { cvv: '321' }) }, options)
    assert.equal(second.id, first.id)
  })
})
