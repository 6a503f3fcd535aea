/** Registrations: accounts that are stored, shown masked, recognised and removed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Caller, GatewayError, newId } from '../../../core/index.ts'
import { cardOf } from '../../rig/payment-request.ts'
import {
  amount,
  done,
  good,
  type RegistrationRun,
  refusal,
  startRegistrations,
} from './registration-run.ts'

describe('registrations', { concurrency: true }, () => {
  let run: RegistrationRun
  before(async () => {
    run = await startRegistrations()
  })
  after(() => run.close())

  test('an account is stored with everything that a payment takes about the purchase and its people', async () => {
    const about = {
      shipping: { city: 'Berlin', country: 'DE', method: 'GROUND' } as const,
      merchant: { name: 'Shop' },
      cart: { items: [{ name: 'Book', price: '12.00', quantity: '1' }] },
      customParameters: { SHOPPER_cart: '17' },
    }
    const { id, shipping, cart } = await run.store({ ...about, testMode: 'EXTERNAL' })
    const { shipping: to, cart: bought } = JSON.parse(JSON.stringify({ shipping, cart }))
    assert.deepEqual({ to, bought }, { to: about.shipping, bought: about.cart })
    const account = await run.gateway.registrations.get(id)
    assert.deepEqual(account.customParameters, about.customParameters)
    assert.equal('shipping' in account, false, 'an account is not of one purchase')
    const payment = await run.payWith(id, { ...about, testMode: 'EXTERNAL' })
    const reference = 'one-array'
    const back = {
      ...about,
      merchantTransactionId: reference,
      amount: '1.00',
      currency: 'EUR',
    } as const
    await run.gateway.payments.refund(payment.id, back)
    const sent = run.acquirer.calls.find((call) => call.reference === reference)
    assert.deepEqual({ ...(sent?.operation.request.shipping as object) }, about.shipping)
  })

  test('a known field that moves money is named with the path that takes it', async () => {
    await assert.rejects(run.store({ amount: '12.00' }), (error: unknown) => {
      assert.ok(error instanceof GatewayError)
      assert.deepEqual(error.parameterErrors, [
        { name: 'amount', message: 'is not taken here; it belongs to POST /v1/payments' },
      ])
      return true
    })
  })

  test('an account is stored, read masked, paid with and removed', async () => {
    const made = await run.store({ customer: { givenName: 'Jane', surname: 'Jones' } })
    assert.equal(made.result.code, done)
    assert.equal(made.paymentType, 'RG')
    for (const name of ['amount', 'currency', 'registrationId', 'descriptor', 'nextActions']) {
      assert.equal(name in made, false, name)
    }
    const read = await run.gateway.registrations.get(made.id)
    assert.equal(read.paymentBrand, 'VISA')
    assert.deepEqual(read.card, {
      holder: 'Jane Jones',
      expiryMonth: '05',
      expiryYear: '2034',
      bin: '420000',
      last4Digits: '0000',
    })
    assert.deepEqual(read.customer, { givenName: 'Jane', surname: 'Jones' })
    assert.doesNotMatch(JSON.stringify([made, read]), /4200000000000000|"123"/)

    const payment = await run.payWith(made.id)
    assert.equal(payment.result.code, done)
    assert.equal(payment.registrationId, made.id)
    assert.equal(payment.paymentBrand, 'VISA')
    assert.deepEqual(payment.card, read.card)
    const refund = await run.gateway.payments.refund(payment.id, {
      amount: '12.00',
      currency: 'EUR',
    })
    assert.equal(refund.result.code, done)

    const removed = await run.gateway.registrations.remove(made.id)
    assert.equal(removed.id, made.id)
    assert.equal(await run.sealedOf(made.id), 0, 'the number of the removed registration is erased')
    await assert.rejects(run.gateway.registrations.get(made.id), refusal('100.150.202', 400))
    await assert.rejects(run.payWith(made.id), refusal('100.150.202', 400))
    await assert.rejects(run.gateway.registrations.remove(made.id), refusal('100.150.202', 400))
    const records = await run.sql('select type from tollgate.record where resource = $1', [made.id])
    assert.deepEqual(records, [{ type: 'DR' }])
  })

  test('the stored number decides the outcome of a registration as of a payment', async () => {
    const declined = await run.store({ card: cardOf('4000000000000002') })
    assert.equal(declined.result.code, '800.100.152')
    assert.equal(
      await run.sealedOf(declined.id),
      0,
      'the number of a refused registration is erased',
    )
    await assert.rejects(run.gateway.registrations.get(declined.id), refusal('100.150.203', 400))
    await assert.rejects(run.payWith(declined.id), refusal('100.150.203', 400))
  })

  test('bank, virtual and token accounts are stored like cards', async () => {
    const bank = await run.store({
      paymentBrand: 'DIRECTDEBIT_SEPA',
      card: undefined,
      bankAccount: {
        holder: 'Jane Jones',
        iban: 'DE89370400440532013000',
        bic: 'COBADEFFXXX',
        country: 'DE',
      },
    })
    const shown = (await run.gateway.registrations.get(bank.id)).bankAccount
    assert.deepEqual(shown, {
      holder: 'Jane Jones',
      bic: 'COBADEFFXXX',
      country: 'DE',
      last4Digits: '3000',
    })
    assert.equal((await run.payWith(bank.id)).result.code, done)
    const token = await run.store({
      card: undefined,
      tokenAccount: { number: good, type: 'NETWORK', expiryMonth: '05', expiryYear: '2034' },
    })
    assert.equal((await run.payWith(token.id)).result.code, done)
    const virtual = await run.store({
      paymentBrand: 'PAYPAL',
      card: undefined,
      virtualAccount: { accountId: 'jane@example.com' },
    })
    assert.equal(await run.sealedOf(virtual.id), 0, 'there is no number to seal')
    assert.match(virtual.result.code, /^000\.200/, 'the shopper confirms it at the wallet')
    await assert.rejects(run.gateway.registrations.get(virtual.id), refusal('100.150.201', 400))
    await assert.rejects(
      run.store({ paymentBrand: 'DIRECTDEBIT_SEPA', card: undefined }),
      (error) => error instanceof GatewayError && error.code.startsWith('100.150'),
    )
  })

  test('malformed, unknown and foreign ids get the same answer', async () => {
    const { id } = await run.store()
    const merchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: merchant,
    })
    const stranger: Caller = { id: 'stranger', entityId: channel }
    const { registrations } = run.gateway
    await assert.rejects(registrations.get('short'), refusal('100.150.101', 400))
    for (const unknown of [newId(), 'Z'.repeat(32), id]) {
      const asStranger = { caller: stranger }
      await assert.rejects(registrations.get(unknown, asStranger), refusal('100.150.200', 404))
      await assert.rejects(registrations.remove(unknown, asStranger), refusal('100.150.200', 404))
      await assert.rejects(
        registrations.update(unknown, {} as never, asStranger),
        refusal('100.150.200', 404),
      )
      await assert.rejects(
        registrations.pay(unknown, amount as never, asStranger),
        refusal('100.150.200', 404),
      )
    }
    // Even a caller above both merchants cannot charge one merchant's customer for the other.
    await assert.rejects(
      run.payWith(id, { entityId: channel }),
      refusal('100.150.200', 400, 'entityId'),
    )
    const sibling = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Second shop',
      parentId: run.merchant,
    })
    assert.equal((await run.payWith(id, { entityId: sibling })).result.code, done)
  })

  test('a fingerprint identifies the same account again', async () => {
    const number = '4711100000000000'
    const [one, two] = [
      await run.store({ card: cardOf(number) }),
      await run.store({ card: cardOf(number) }),
    ]
    await run.store()
    const found = await run.gateway.registrations.sameAccount(one.id)
    assert.deepEqual(found, [one.id, two.id])
    // Other tests use the merchant's first channel and its settings.
    const entityId = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Shows fingerprints',
      parentId: run.merchant,
      settings: { showFingerprint: true },
    })
    const [three, four] = [
      await run.store({ entityId, card: cardOf(number) }),
      await run.store({ entityId }),
    ]
    const shown = async (id: string) => (await run.gateway.registrations.get(id)).fingerprint
    assert.match(String(await shown(three.id)), /^[0-9a-f]{32}$/)
    assert.notEqual(await shown(three.id), await shown(four.id))
    assert.equal(await shown(one.id), undefined, 'a channel without the setting shows none')
    assert.deepEqual(await run.gateway.registrations.sameAccount(three.id), [
      one.id,
      two.id,
      three.id,
    ])
  })

  test('the fingerprints of two merchants have nothing in common, even for a guessed number', async () => {
    const number = '4711100000000000'
    const prints = new Set<string>()
    for (const name of ['Victim', 'Attacker']) {
      const parentId = await run.gateway.entities.create({
        kind: 'merchant',
        name,
        parentId: run.division,
        settings: { showFingerprint: true },
      })
      const entityId = await run.gateway.entities.create({ kind: 'channel', name, parentId })
      const { id } = await run.store({ entityId, card: cardOf(number) })
      prints.add((await run.gateway.registrations.get(id)).fingerprint as string)
      assert.deepEqual(await run.gateway.registrations.sameAccount(id), [id])
    }
    assert.equal(prints.size, 2)
    const stored = await run.sql<{ n: bigint }>(
      `select count(distinct instrument.fingerprint) as n
       from tollgate.instrument
       join tollgate.registration on registration.instrument_id = instrument.id
       where left(encode(registration.fingerprint, 'hex'), 32) = any($1)`,
      [[...prints]],
    )
    assert.equal(stored[0]?.n, 2n)
  })

  test('one key sent a hundred times at once over two processes makes one registration', async () => {
    const other = await run.another()
    const request = { entityId: run.channel, paymentBrand: 'VISA', card: cardOf(good) } as never
    const made = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? run.gateway : other).registrations
          .create(request, { idempotencyKey: 'one-registration' })
          .catch((error: unknown) => {
            assert.ok(error instanceof GatewayError && error.code === '200.300.405', String(error))
            return undefined
          }),
      ),
    )
    const ids = new Set(made.flatMap((one) => (one === undefined ? [] : [one.id])))
    assert.equal(ids.size, 1)
    const [id] = ids
    assert.equal(
      await run.count('select count(*) as n from tollgate.registration where id = $1', id),
      1,
    )
  })
})
