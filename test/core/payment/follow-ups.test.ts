import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { PaymentView } from '../../../core/index.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const approved = '000.100.110'
const declinedCard = {
  card: { number: '4000000000000002', holder: 'Jane Jones', expiryMonth: '05', expiryYear: '2034' },
}
const pendingCard = {
  card: { number: '4000000000000077', holder: 'Jane Jones', expiryMonth: '05', expiryYear: '2034' },
}
const again = (industryPractice: string, amount = '10.00') => ({
  paymentType: 'PA',
  ...eur(amount),
  standingInstruction: { industryPractice },
})

describe('follow-ups by payment type', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => closeChecked(run))

  test('a follow-up takes everything about the purchase and its people', async () => {
    const { id } = await run.pay()
    const shipping = { city: 'Berlin', country: 'DE' } as const
    const refund = await run.gateway.payments.refund(id, { ...eur('9.00'), shipping })
    assert.deepEqual({ ...(refund.shipping as object) }, shipping)
    assert.deepEqual((await run.gateway.payments.get(refund.id)).shipping, shipping)
  })

  const follow = (id: string, paymentType: string, amount = '92.00') =>
    run.gateway.payments.followUp(id, { paymentType, ...eur(amount) } as never)
  /** One approved payment of every type that takes follow-ups. */
  const make: Record<string, () => Promise<PaymentView>> = {
    PA: () => run.pay({ paymentType: 'PA' }),
    DB: () => run.pay(),
    CD: () => run.pay({ paymentType: 'CD' }),
    CP: async () => follow((await make.PA!()).id, 'CP'),
    RC: async () => follow((await make.PA!()).id, 'RC'),
    RB: async () => follow((await run.pay()).id, 'RB'),
    RF: async () => follow((await run.pay()).id, 'RF'),
    RV: async () => follow((await run.pay()).id, 'RV'),
    CB: async () => follow((await run.pay()).id, 'CB'),
    CR: async () => follow((await make.CB!()).id, 'CR'),
  }
  const allowed: Record<string, readonly string[]> = {
    PA: ['CP', 'RV', 'RC'],
    DB: ['RF', 'RV', 'RB', 'CB'],
    RB: ['RF', 'RV', 'CB'],
    CP: ['RF', 'RV', 'CB'],
    RC: ['RF', 'RV', 'CB'],
    CD: ['RF'],
    RF: ['CB'],
    CB: ['CR'],
    RV: [],
    CR: [],
  }
  const types = ['CP', 'RV', 'RC', 'RF', 'RB', 'CB', 'CR']

  for (const [on, may] of Object.entries(allowed)) {
    test(`${on} takes ${may.join(', ') || 'nothing'}; any other type is 700.300.100`, async () => {
      for (const type of types) {
        const payment = await make[on]!()
        assert.match(payment.result.code, /^000\.100\.(110|2)/)
        if (may.includes(type)) {
          const done = await follow(payment.id, type)
          assert.match(done.result.code, type === 'CB' ? /^000\.100\.2/ : /^000\.100\.110$/, type)
          assert.equal(done.paymentType, type)
          assert.equal(done.referencedId, payment.id)
          assert.equal(done.amount, '92.00')
          assert.notEqual(done.id, payment.id)
        } else {
          await assert.rejects(follow(payment.id, type), { code: '700.300.100', status: 400 }, type)
        }
      }
    })
  }

  const next: Record<string, readonly string[]> = {
    PA: ['CP', 'RC', 'RV', 'PA'],
    DB: ['RF', 'RV', 'RB', 'CB'],
    RB: ['RF', 'RV', 'CB'],
    CP: ['RF', 'RV', 'CB'],
    CD: ['RF'],
    CB: ['CR'],
  }
  for (const [on, types] of Object.entries(next)) {
    test(`nextActions of ${on} are ${types.join(', ')}, in its answer and on reading`, async () => {
      const payment = await make[on]!()
      const read = await run.gateway.payments.get(payment.id)
      assert.deepEqual(read.nextActions, types, 'when read')
      assert.deepEqual(payment.nextActions, types, 'in the answer')
    })
  }

  test('a declined payment refuses every type with a code of its own, and nothing is stored', async () => {
    const codes: Record<string, readonly [type: string, code: string][]> = {
      PA: [
        ['CP', '700.400.510'],
        ['RV', '700.400.530'],
        ['RC', '700.400.560'],
      ],
      DB: [
        ['RF', '700.400.520'],
        ['RV', '700.400.530'],
        ['CB', '700.400.550'],
        ['RB', '700.100.100'],
      ],
    }
    for (const [paymentType, refusals] of Object.entries(codes)) {
      const { id } = await run.pay({ paymentType, ...declinedCard })
      for (const [type, code] of refusals) {
        await assert.rejects(follow(id, type), { code, status: 400 }, `${type} on ${paymentType}`)
      }
      assert.deepEqual(
        await run.sql('select id from tollgate.payment where referenced_id = $1', [id]),
        [],
      )
    }
    const { id } = await run.pay({ paymentType: 'PA', ...declinedCard })
    await assert.rejects(run.gateway.payments.followUp(id, again('INCREMENTAL_AUTH') as never), {
      code: '700.100.100',
    })
  })

  test('a refusal has the shape that deployed clients expect', async () => {
    const { id } = await run.pay({ paymentType: 'PA', ...declinedCard })
    const capture = await run.send({ paymentType: 'CP', ...eur('1.00') }, { id })
    assert.match(
      capture.body.result.description,
      /capture needs at least one successful transaction/,
    )
    const reversal = await run.send({ paymentType: 'RV' }, { id })
    assert.match(
      reversal.body.result.description,
      /reversal needs at least one successful transaction/,
    )
  })

  test('an undecided payment refuses every type with 400 700.400.570', async () => {
    const { id } = await run.pay(pendingCard)
    for (const type of ['RF', 'RV', 'RB', 'CB']) {
      await assert.rejects(follow(id, type), { code: '700.400.570', status: 400 }, type)
    }
  })

  test('unknown, malformed and foreign ids are 404 alike, by type', async () => {
    const { entities } = run.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const caller = { id: 'theirs', entityId: merchant }
    const { id } = await run.pay()
    const wrong = ['0190f2a0000070008000000000000000', 'nonsense', id]
    const codes = {
      CP: '700.400.510',
      RF: '700.400.520',
      RV: '700.400.530',
      CB: '700.400.550',
      RC: '700.400.560',
      RB: '700.100.100',
    }
    for (const [paymentType, code] of Object.entries(codes)) {
      const replies = await Promise.all(
        wrong.map((one) => run.send({ paymentType, ...eur('1.00') }, { id: one, caller })),
      )
      for (const { status, body } of replies) {
        assert.equal(status, 404)
        assert.equal(body.result.code, code)
        assert.deepEqual(body.result, replies[0]!.body.result)
      }
    }
    for (const one of wrong) {
      const reply = await run.gateway.call('payments.get', caller, {
        path: { id: one },
        query: '',
        requestId: 'read-1',
      })
      assert.equal(reply.status, 404)
      assert.equal((reply.body as PaymentView).result.code, '700.400.580')
    }
  })

  test('a sibling channel is refused with 700.400.700, and the merchant itself is accepted', async () => {
    const { entities } = run.gateway
    const sister = await entities.create({
      kind: 'channel',
      name: 'Sister',
      parentId: run.merchant,
    })
    const { id } = await run.pay()
    const refund = { paymentType: 'RF', ...eur('1.00') } as const
    await assert.rejects(run.gateway.payments.followUp(id, { ...refund, entityId: sister }), {
      code: '700.400.700',
    })
    const done = await run.gateway.payments.followUp(id, { ...refund, entityId: run.channel })
    assert.equal(done.result.code, approved)
  })

  test('another currency is refused with 700.100.500, another test mode with 700.100.600', async () => {
    const { id } = await run.pay()
    const usd = { amount: '1.00', currency: 'USD' as const }
    await assert.rejects(run.gateway.payments.refund(id, usd), { code: '700.100.500' })
    const external = { ...eur('1.00'), testMode: 'EXTERNAL' } as const
    await assert.rejects(run.gateway.payments.refund(id, external), { code: '700.100.600' })
    const internal = await run.gateway.payments.refund(id, { ...eur('1.00'), testMode: 'INTERNAL' })
    assert.equal(internal.result.code, approved)
  })

  test('captures and refunds need amount and currency, a reversal needs neither', async () => {
    const { id } = await run.pay({ paymentType: 'PA' })
    for (const [fields, name] of [
      [{ currency: 'EUR' }, 'amount'],
      [{ amount: '1.00' }, 'currency'],
      [{ amount: '0.00', currency: 'EUR' }, 'amount'],
      [{ amount: '-1.00', currency: 'EUR' }, 'amount'],
    ] as const) {
      const { status, body } = await run.send({ paymentType: 'CP', ...fields }, { id })
      assert.equal(status, 400)
      assert.deepEqual(
        body.result.parameterErrors?.map((error) => error.name),
        [name],
      )
    }
    const reversal = await run.gateway.payments.reverse(id)
    assert.equal(reversal.amount, '92.00')
    assert.equal(reversal.currency, 'EUR')
  })

  test('a follow-up repeats neither brand nor instrument and shows no card', async () => {
    const { id } = await run.pay()
    const refund = await run.gateway.payments.refund(id, eur('1.00'))
    assert.equal(refund.paymentBrand, 'VISA')
    assert.equal(refund.card, undefined)
    const { status, body } = await run.send(
      { paymentType: 'RF', ...eur('1.00'), 'card.number': '4200000000000000' },
      { id },
    )
    assert.equal(status, 400)
    assert.deepEqual(
      body.result.parameterErrors?.map((error) => error.name),
      ['card.number'],
    )
  })

  test('a rebill charges the card of the debit again, with limits of its own', async () => {
    const debit = await run.pay()
    const rebill = await run.gateway.payments.rebill(debit.id, eur('150.00'))
    assert.equal(rebill.result.code, approved)
    assert.equal((rebill.card as Record<string, string>).last4Digits, '0000')
    await run.gateway.payments.refund(rebill.id, eur('150.00'))
    assert.equal((await balanceOf(run, debit.id)).refunded, 0n)
  })

  test('a reversed debit takes no rebill, refund or second reversal', async () => {
    const { id } = await run.pay()
    await run.gateway.payments.reverse(id)
    await assert.rejects(follow(id, 'RF', '1.00'), { code: '700.400.200' })
    await assert.rejects(follow(id, 'RV'), { code: '700.400.300' })
    await assert.rejects(follow(id, 'RB', '1.00'), { status: 400 })
  })
})
