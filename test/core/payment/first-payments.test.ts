import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Operation } from '@tollgate/plugin-kit'
import { GatewayError, type PaymentView } from '../../../core/index.ts'
import { type AcquirerRun, approvedAs, startWithAcquirer } from '../../rig/acquirer.ts'
import { card, flat } from '../../rig/gateway.ts'
import { cardOf } from '../../rig/payment-request.ts'

describe('first payments', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => run.close())

  for (const paymentType of ['PA', 'DB', 'CD']) {
    test(`${paymentType} is approved with every required field of an answer`, async () => {
      const answer = await run.pay({ paymentType, merchantTransactionId: `first-${paymentType}` })
      assert.match(answer.id, /^[0-9a-f]{32}$/)
      assert.match(answer.shortId, /^[0-9]{4}\.[0-9]{4}\.[0-9]{4}$/)
      assert.match(
        answer.timestamp,
        /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\+0000$/,
      )
      assert.match(answer.ndc, /^[0-9A-Za-z.-]{1,69}$/)
      assert.match(answer.buildNumber, /^tollgate-/)
      assert.equal(answer.result.code, '000.100.110')
      assert.match(answer.result.description, /^Request successfully processed/)
      assert.equal(answer.paymentType, paymentType)
      assert.equal(answer.amount, '92.00')
      assert.equal(answer.currency, 'EUR')
      assert.equal(answer.paymentBrand, 'VISA')
      assert.equal(answer.merchantTransactionId, `first-${paymentType}`)
      assert.equal(answer.referencedId, undefined)
      assert.deepEqual(answer.card, {
        bin: '420000',
        last4Digits: '0000',
        holder: 'Jane Jones',
        expiryMonth: '05',
        expiryYear: '2034',
      })
    })
  }

  test('the embedder and the HTTP surface get the same answer', async () => {
    const reply = await run.send({ ...flat(card('4200000000000000')), entityId: run.channel })
    assert.equal(reply.status, 200)
    const own = await run.pay()
    // Without a descriptor of the merchant, the payment's own short id is used.
    assert.equal(own.descriptor, own.shortId)
    const alike = ({
      id: _1,
      shortId: _2,
      descriptor: _3,
      ndc: _4,
      timestamp: _5,
      ...rest
    }: PaymentView) => rest
    assert.deepEqual(alike(reply.body), alike(own))
  })

  test('a payment is read back by id as it was answered, with 200', async () => {
    const answer = await run.pay({ paymentType: 'PA', descriptor: 'Demo Store' })
    const { ndc: _1, ...written } = answer
    const { ndc: _2, ...read } = await run.gateway.payments.get(answer.id)
    assert.deepEqual(read, written)
  })

  test('a declined payment answers 400, is readable by its id with 200, and is not retrySafe', async () => {
    const fields = { ...flat(card('4000000000000002')), entityId: run.channel }
    const reply = await run.send(fields)
    assert.equal(reply.status, 400)
    assert.equal(reply.body.result.code, '800.100.152')
    assert.equal(reply.body.retrySafe, undefined)
    assert.equal(reply.body.nextActions, undefined)
    const read = await run.gateway.call(
      'payments.get',
      { id: 'test', entityId: null },
      { path: { id: reply.body.id }, query: `entityId=${run.channel}`, requestId: 'read-1' },
    )
    assert.equal(read.status, 200)
    assert.equal((read.body as typeof reply.body).result.code, '800.100.152')
    assert.equal((read.body as typeof reply.body).ndc, 'read-1')
  })

  test('PA.CP answers with its capture, which refers to its authorisation', async () => {
    const answer = await run.pay({ paymentType: 'PA.CP', merchantTransactionId: 'two-steps' })
    assert.equal(answer.result.code, '000.100.110')
    assert.equal(answer.paymentType, 'CP')
    assert.equal(answer.amount, '92.00')
    assert.equal(answer.merchantTransactionId, 'two-steps')
    const authorisation = await run.gateway.payments.get(answer.referencedId as string)
    assert.equal(authorisation.paymentType, 'PA')
    assert.deepEqual(authorisation.nextActions ?? [], ['PA'])
    const refund = await run.gateway.payments.refund(answer.id, {
      amount: '92.00',
      currency: 'EUR',
    })
    assert.equal(refund.result.code, '000.100.110')
  })

  test('PA.CP by a declined card answers the decline of its authorisation', async () => {
    const fields = {
      ...flat(card('4000000000000002')),
      paymentType: 'PA.CP',
      entityId: run.channel,
    }
    const reply = await run.send(fields)
    assert.equal(reply.status, 400)
    assert.equal(reply.body.result.code, '800.100.152')
    const rows = await run.sql('select id from tollgate.payment where referenced_id = $1', [
      reply.body.id,
    ])
    assert.deepEqual(rows, [])
  })

  test('a missing brand is detected from the number and returned as brandResult', async () => {
    for (const [number, brand] of [
      ['5454545454545454', 'MASTER'],
      ['36227206271667', 'DINERS'],
      ['6200000000000005', 'UNIONPAY'],
    ] as const) {
      const { paymentBrand: _, ...fields } = card(number)
      const answer = await run.gateway.payments.create({
        ...fields,
        entityId: run.channel,
      } as never)
      assert.equal(answer.paymentBrand, brand)
      assert.equal(answer.brandResult, brand)
    }
    assert.equal((await run.pay()).brandResult, undefined, 'a brand in the request is no result')
  })

  test('descriptor and custom parameters are returned, and merchant.name takes precedence at the acquirer', async () => {
    const seen: (string | undefined)[] = []
    const note = (operation: Operation) => {
      seen.push(operation.descriptor)
      return approvedAs(operation)
    }
    const custom = { SHOPPER_note: 'gift', 'order.id': '7 & 8' }
    const answer = await run.debit(
      'descriptor-1',
      { debit: note },
      {
        descriptor: 'Demo Store',
        customParameters: custom,
      },
    )
    assert.equal(answer.descriptor, 'Demo Store')
    assert.deepEqual({ ...(answer.customParameters as object) }, custom)
    await run.debit(
      'descriptor-2',
      { debit: note },
      {
        descriptor: 'Demo Store',
        merchant: { name: 'Demo*Shoes' },
      },
    )
    assert.deepEqual(seen, ['Demo Store', 'Demo*Shoes'])
    const form = {
      ...flat(card('4200000000000000')),
      entityId: run.channel,
      'customParameters[order.id]': '7 & 8',
    }
    const { body } = await run.send(form)
    assert.deepEqual({ ...(body.customParameters as object) }, { 'order.id': '7 & 8' })
  })

  test('external 3-D Secure values reach the acquirer unchanged, and no answer shows the proof', async () => {
    const threeDSecure = {
      eci: '05',
      verificationId: 'AAACAgSRBklmQCFgMpEGAAAAAAA=',
      dsTransactionId: 'c75f23af-9454-43f6-ba17-130ed529507e',
      acsTransactionId: '7f2bbd6f-3e4d-4a2b-8a47-1d63a4be09d4',
      authenticationStatus: 'Y',
      version: '2.2.0',
    }
    let proof: Operation['threeDSecure']
    const answer = await run.debit(
      'secure-1',
      {
        debit: (operation) => {
          proof = operation.threeDSecure
          return approvedAs(operation)
        },
      },
      { threeDSecure },
    )
    const { verificationId, ...shown } = threeDSecure
    assert.equal(proof?.verificationId?.reveal(), verificationId)
    assert.deepEqual(
      { ...proof, verificationId: undefined },
      { ...shown, verificationId: undefined },
    )
    assert.deepEqual(answer.threeDSecure, shown)
    assert.doesNotMatch(JSON.stringify(answer), /AAACAgSR/)
  })

  test('success codes differ by mode: the simulator 000.100.110, an acquirer in test 000.100.112', async () => {
    assert.equal((await run.pay({ testMode: 'INTERNAL' })).result.code, '000.100.110')
    assert.equal((await run.debit('mode-check')).result.code, '000.100.112')
  })

  test('EXTERNAL without an account is refused with 600.200.700 and stores nothing', async () => {
    const { entities } = run.gateway
    const channel = await entities.create({ kind: 'channel', name: 'Bare', parentId: run.merchant })
    await assert.rejects(run.pay({ entityId: channel, testMode: 'EXTERNAL' }), {
      code: '600.200.700',
    })
    const rows = await run.sql('select id from tollgate.payment where channel_id = $1', [channel])
    assert.deepEqual(rows, [])
  })

  test('a refused request is 400, names its field, has its own id and stores nothing', async () => {
    const count = async () =>
      (await run.sql<{ n: bigint }>('select count(*) as n from tollgate.payment'))[0]!.n
    const already = await count()
    for (const [more, code, field] of [
      [{ amount: '0.00' }, '100.550.300', 'amount'],
      [{ amount: '92.5' }, '200.300.404', 'amount'],
      [{ currency: 'JPY', amount: '92.50' }, '100.550.303', 'amount'],
      [{ currency: 'XXX' }, '100.550.401', 'currency'],
      [{ 'card.number': '4200000000000001' }, '100.100.101', 'card.number'],
      [{ 'card.expiryYear': '2020' }, '100.100.303', 'card.expiryYear'],
      [{ paymentBrand: 'MASTER' }, '100.100.700', 'card.number'],
      [{ paymentType: 'CP' }, '600.200.200', 'paymentType'],
      [{ paymentType: 'XX' }, '100.500.201', 'paymentType'],
      [{ entityID: run.channel }, '200.300.404', 'entityID'],
    ] as const) {
      const form = { ...flat(card('4200000000000000')), entityId: run.channel, ...more }
      const { status, body } = await run.send(form)
      assert.equal(status, 400, code)
      assert.equal(body.result.code, code)
      assert.ok(
        body.result.parameterErrors?.some(({ name }) => name === field),
        `${code} names ${field}`,
      )
      assert.match(body.id, /^[0-9a-f]{32}$/)
      assert.doesNotMatch(JSON.stringify(body), /42000000/)
    }
    assert.equal(await count(), already)
  })

  test("the request's own card number in any other field is refused by name", async () => {
    for (const [name, value] of [
      ['descriptor', 'card 4200 0000 0000 0000'],
      ['merchantTransactionId', '4200000000000000'],
    ] as const) {
      const form = { ...flat(card('4200000000000000')), entityId: run.channel, [name]: value }
      const { status, body } = await run.send(form)
      assert.equal(status, 400)
      assert.deepEqual(
        body.result.parameterErrors?.map((error) => error.name),
        [name],
      )
    }
  })

  test('amounts without decimals and with three are carried exactly', async () => {
    const minors = async (amount: string, currency: string) => {
      const { id, amount: answered } = await run.pay({ amount, currency })
      assert.equal(answered, amount.includes('.') ? amount : `${amount}.00`)
      const [row] = await run.sql<{ m: bigint }>(
        'select amount_minor as m from tollgate.payment where id = $1',
        [id],
      )
      return row!.m
    }
    assert.equal(await minors('92', 'EUR'), 9200n)
    assert.equal(await minors('92.00', 'JPY'), 92n)
    assert.equal(await minors('9.25', 'KWD'), 9250n)
    assert.equal(await minors('9999999999.96', 'EUR'), 999_999_999_996n)
  })

  test('foreign and unknown entities answer 403 alike', async () => {
    const { entities } = run.gateway
    const other = await entities.create({ kind: 'psp', name: 'Other' })
    const caller = { id: 'theirs', entityId: other }
    const bodies = []
    for (const entityId of [run.channel, 'f'.repeat(32)]) {
      const { status, body } = await run.send(
        { ...flat(card('4200000000000000')), entityId },
        { caller },
      )
      assert.equal(status, 403)
      bodies.push(body.result)
    }
    assert.deepEqual(bodies[0], bodies[1])
    assert.equal(bodies[0]?.code, '800.900.300')
  })

  test('an embedder gets a GatewayError for every wrong card field', async () => {
    await assert.rejects(
      run.pay({ card: cardOf('4200000000000000', { expiryYear: '2019' }) }),
      (error) =>
        error instanceof GatewayError && error.status === 400 && error.code === '100.100.303',
    )
  })
})
