/** The example connector behind a real engine: merchants' requests match the acquirer's books. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readCheck } from '../../../connectors/acquirer-json/answers.ts'
import plugin from '../../../connectors/acquirer-json/index.ts'
import { cards, ibans } from '../../../connectors/acquirer-json/sandbox/order.ts'
import { type RunningBank, startBank } from '../../../connectors/acquirer-json/sandbox/server.ts'
import { processed } from '../../rig/acquirer.ts'
import { card, startGateway, type TestGateway } from '../../rig/gateway.ts'

describe('the example connector in a gateway', () => {
  const settings = { merchantId: 'shop-1', apiKey: 'a'.repeat(32), eventSecret: 'e'.repeat(32) }
  let bank: RunningBank
  let run: TestGateway
  let account: string

  before(async () => {
    bank = await startBank(settings)
    run = await startGateway({
      plugins: [plugin],
      connectors: { 'acquirer-json': { url: bank.url } },
    })
    account = await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'acquirer-json',
      mode: 'EXTERNAL',
      settings,
    })
  })
  after(async () => {
    await run.close()
    await bank.close()
  })

  const external = { testMode: 'EXTERNAL' }
  const pay = (number: string, more: Record<string, unknown> = {}) =>
    run.pay({ ...card(number), ...external, ...more })

  /** The acquirer's bookings in order. */
  const booked = () =>
    bank.ledger
      .entries()
      .filter(({ status }) => status === 'approved' || status === 'submitted')
      .map(({ type, amount }) => `${type} ${amount.minor}`)

  const keyOf = async (id: string) => {
    const [row] = await run.sql<{ attempt_key: string }>(
      'select attempt_key from tollgate.payment where id = $1',
      [id],
    )
    return row!.attempt_key
  }

  test('a merchant increases an authorisation, captures and refunds parts of it, and releases the rest', async () => {
    const from = booked().length
    const money = (amount: string) => ({ amount, currency: 'EUR' as const })
    const authorised = await pay(cards.approved, { paymentType: 'PA' })
    assert.equal(authorised.result.code, '000.100.112')
    const raised = await run.pay({
      ...card(cards.approved),
      ...external,
      ...money('8.00'),
      paymentType: 'PA',
      referenceUuid: authorised.id,
      standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
    })
    assert.equal(raised.result.code, '000.100.112')
    const { followUp } = run.gateway.payments
    const captured = await followUp(authorised.id, { paymentType: 'CP', ...money('60.00') })
    const refunded = await followUp(captured.id, { paymentType: 'RF', ...money('10.00') })
    const released = await followUp(authorised.id, { paymentType: 'RV' })
    for (const { result } of [captured, refunded, released]) {
      assert.equal(result.code, '000.100.112')
    }
    assert.deepEqual(booked().slice(from), [
      'authorisation 9200',
      'increment 800',
      'capture 6000',
      'refund 1000',
      'reversal 4000',
    ])
  })

  test('a payment without references refuses a refund by that reason, until an operator adds one', async () => {
    const paid = await pay(cards.approved)
    const [row] = await run.sql<{ refs: { id: string } }>(
      `update tollgate.payment set answer = answer - 'refs' where id = $1
        returning (select answer -> 'refs' from tollgate.payment where id = $1) as refs`,
      [paid.id],
    )
    await run.sql("update tollgate.attempt set settled_by = 'operator' where payment_id = $1", [
      paid.id,
    ])
    const refund = () =>
      run.gateway.payments.followUp(paid.id, { paymentType: 'RF', amount: '1.00', currency: 'EUR' })
    const from = booked().length
    const { result, resultDetails, retrySafe } = await refund()
    assert.equal(result.code, '900.100.202')
    assert.match(
      (resultDetails as Record<string, string>).AcquirerText!,
      /no reference "id" of the acquirer; an operator can add it/,
    )
    assert.equal(retrySafe, undefined, 'a repeat changes nothing')
    assert.deepEqual(booked().slice(from), [])
    const decided = { by: 'Alice', reason: 'seen at the bank', references: row!.refs }
    await run.gateway.operator.settle(paid.id, 'approved', decided)
    assert.equal((await refund()).result.code, '000.100.112')
  })

  test("a decline of the acquirer reaches the merchant with the acquirer's own code", async () => {
    const from = booked().length
    const declined = await pay(cards.declined)
    assert.equal(declined.result.code, '800.100.152')
    assert.equal((declined.resultDetails as Record<string, string>).AcquirerResponse, '05')
    assert.deepEqual(booked().slice(from), [])
  })

  test('a direct debit is approved once it is submitted', async () => {
    const from = booked().length
    const paid = await run.gateway.payments.create({
      entityId: run.channel,
      amount: '92.00',
      currency: 'EUR',
      paymentType: 'DB',
      paymentBrand: 'DIRECTDEBIT_SEPA',
      bankAccount: { holder: 'Jane Jones', iban: ibans.approved, bic: 'COBADEFFXXX' },
      testMode: 'EXTERNAL',
    })
    assert.equal(paid.result.code, '000.100.112')
    assert.deepEqual(booked().slice(from), ['sale 9200'])
  })

  test('a proven event of the acquirer ends a payment under review; an unproven one does not', async () => {
    const open = await pay(cards.review)
    assert.equal(open.result.code, '000.200.000')
    const key = await keyOf(open.id)
    bank.ledger.end(bank.ledger.byKey(key)!.id, { status: 'approved', code: '00' })
    const message = bank.eventOf(key)
    const { id } = JSON.parse(message.body.toString())
    await run.gateway.inbound('acquirer-json', account, message)
    assert.equal(await processed(run, id), 'settled')
    assert.equal((await run.gateway.payments.get(open.id)).result.code, '000.100.112')
  })

  test('the values of an authentication reach the acquirer, and the transcript hides the proof', async () => {
    const proof = 'Q2FuYXJ5UHJvb2YxMjM0NTY3ODk='
    const { id } = await pay(cards.approved, {
      threeDSecure: {
        eci: '05',
        authenticationStatus: 'Y',
        verificationId: proof,
        version: '2.2.0',
      },
    })
    const told = JSON.stringify(await run.gateway.inspect(id))
    const sent = /\\"authentication\\":(\{[^}]*\})/.exec(told)?.[1] ?? ''
    assert.deepEqual(JSON.parse(sent.replaceAll('\\"', '"')), {
      status: 'Y',
      eci: '05',
      proof: '[sensitive]',
      version: '2.2.0',
    })
    assert.ok(!told.includes(proof))
  })
})

test('only the refusal of the acquirer proves that credentials are wrong', () => {
  const answered = (status: number) =>
    readCheck({ status, headers: {}, body: Buffer.alloc(0), text: () => '', json: () => ({}) })
  assert.deepEqual(answered(200), { ok: true })
  for (const status of [401, 403]) assert.equal(answered(status).ok, false)
  for (const status of [302, 408, 429, 500, 503]) {
    assert.deepEqual(answered(status), {
      ok: 'unknown',
      why: `the bank answered with HTTP ${status}`,
    })
  }
})
