/** Stored accounts: checkouts that store one, and shoppers who pay with one click. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../../core/clock.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { housekeeping } from '../../../core/jobs/housekeeping.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { cardFields, newCheckout, pageOf, press, shop } from './rig.ts'

describe('stored accounts of checkouts', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  const swept = async () => {
    const database = new Database({ url: run.database.url })
    const lanes = new Lanes(database, { single: 1, read: 1 })
    const engine = { lanes, steps: { days: 90 }, clock: systemClock, log: { info() {}, warn() {} } }
    await housekeeping.run({}, engine as never).finally(() => database.close())
  }
  type View = Record<string, unknown> & { id: string; result: { code: string } }
  const read = async (id: string) => (await run.gateway.checkouts.payment(id)) as unknown as View
  const stored = async (number = '4200000000000000') => {
    const { cvv: _, ...card } = cardFields(number)
    const account = { entityId: run.channel, paymentBrand: 'VISA', card }
    return (await run.gateway.registrations.create(account as never)).id
  }
  const storing = () =>
    run.gateway.checkouts
      .create({
        entityId: run.channel,
        createRegistration: 'true',
        shopperResultUrl: shop,
      } as never)
      .then(({ id }) => id)

  test('a checkout without payment type stores the account and takes no money', async () => {
    const id = await storing()
    const reply = await press(run.gateway, id)
    assert.deepEqual(reply, { state: 'paid', resultUrl: pageOf(id, 'registration') })
    const view = (await run.gateway.checkouts.registration(id)) as unknown as View
    assert.equal(view.result.code, '000.100.110')
    assert.equal(view.ndc, id)
    assert.equal(view.amount, undefined)
    const registration = await run.gateway.registrations.get(view.id)
    assert.equal((registration.card as { last4Digits: string }).last4Digits, '0000')
    const paid = await run.gateway.registrations.pay(view.id, {
      entityId: run.channel,
      amount: '5.00',
      currency: 'EUR',
      paymentType: 'DB',
    } as never)
    assert.equal(paid.result.code, '000.100.110')
  })

  test('a declined verification stores nothing and leaves the checkout open', async () => {
    const id = await storing()
    assert.equal(
      (await press(run.gateway, id, { card: cardFields('4000000000000002') })).state,
      'declined',
    )
    assert.equal((await press(run.gateway, id)).state, 'paid')
  })

  for (const by of ['merchant', 'shopper'] as const) {
    test(`an account that the ${by} stores with the payment can be charged again`, async () => {
      const wish = { createRegistration: 'true' }
      const id = await newCheckout(run, by === 'merchant' ? wish : {})
      assert.equal((await press(run.gateway, id, by === 'shopper' ? wish : {})).state, 'paid')
      const { registrationId } = await read(id)
      const again = await run.gateway.registrations.pay(
        registrationId as string,
        {
          entityId: run.channel,
          amount: '5.00',
          currency: 'EUR',
          paymentType: 'DB',
        } as never,
      )
      assert.equal(again.result.code, '000.100.110')
    })
  }

  test('a shopper pays with a registration of the checkout and its security code', async () => {
    const own = await stored()
    const id = await newCheckout(run, { registrations: [{ id: own }] })
    const [offered] = (await run.gateway.checkouts.offer(id)).registrations
    assert.deepEqual(offered, {
      id: own,
      brand: 'VISA',
      last4: '0000',
      expiryMonth: '05',
      expiryYear: '2034',
      cvv: 'asked',
    })
    const click = { card: undefined, registrationId: own }
    assert.deepEqual(await press(run.gateway, id, click), {
      state: 'invalid',
      errors: [{ field: 'card.cvv', reason: 'required' }],
    })
    const reply = await press(run.gateway, id, { ...click, card: { cvv: '123' } })
    assert.equal(reply.state, 'paid')
    assert.equal((await read(id)).registrationId, own)
  })

  test('a channel may take stored cards without their code', async () => {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'One click',
      parentId: run.merchant,
      settings: { oneClickCvv: false },
    })
    const own = await stored()
    const id = await newCheckout(run, { entityId: channel, registrations: [{ id: own }] })
    assert.equal((await run.gateway.checkouts.offer(id)).registrations[0]?.cvv, 'not')
    const reply = await press(run.gateway, id, { card: undefined, registrationId: own })
    assert.equal(reply.state, 'paid')
  })

  test('no other registration pays, not even one of the merchant', async () => {
    const [own, other] = [await stored(), await stored('4711100000000000')]
    const id = await newCheckout(run, { registrations: [{ id: own }] })
    const click = { card: { cvv: '123' }, registrationId: other }
    assert.deepEqual(await press(run.gateway, id, click), {
      state: 'invalid',
      errors: [{ field: 'registrationId', reason: 'invalid' }],
    })
  })

  test('a registration of another merchant is refused by name, and a removed one is not offered', async () => {
    const foreign = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: foreign,
    })
    const own = await stored()
    await assert.rejects(
      newCheckout(run, { entityId: channel, registrations: [{ id: own }] }),
      (error: { code: string; parameterErrors: { name: string }[] }) =>
        error.code === '100.150.200' && error.parameterErrors[0]?.name === 'registrations[0].id',
    )
    const id = await newCheckout(run, { registrations: [{ id: own }] })
    await run.gateway.registrations.remove(own)
    assert.deepEqual((await run.gateway.checkouts.offer(id)).registrations, [])
    const click = { card: { cvv: '123' }, registrationId: own }
    assert.equal((await press(run.gateway, id, click)).state, 'invalid')
  })

  test('an IBAN tells its bank: the shopper enters nothing else', async () => {
    const id = await newCheckout(run)
    const account = {
      card: undefined,
      paymentBrand: 'DIRECTDEBIT_SEPA',
      bankAccount: { iban: 'DE89370400440532013000', holder: 'Jane Jones' },
    }
    assert.equal((await press(run.gateway, id, account)).state, 'paid')
  })

  test('numbers of a sender are sealed, reach the payment and go with the checkout', async () => {
    const sender = { accountNumber: 'GB33BUKB20201555555555', givenName: 'Ada', surname: 'Byron' }
    const id = await newCheckout(run, { sender })
    const secrets = () => run.sql('select id from tollgate.checkout_secret')
    const rows = async () =>
      JSON.stringify(await run.sql('select request from tollgate.checkout where id = $1', [id]))
    assert.equal((await secrets()).length, 1)
    assert.ok(!(await rows()).includes('GB33BUKB'))
    await run.gateway.checkouts.update(id, { amount: '93.00' } as never)
    assert.equal((await secrets()).length, 1)
    await run.gateway.checkouts.remove(id)
    assert.equal((await secrets()).length, 0)
    const kept = await newCheckout(run, { sender })
    await run.sql("update tollgate.checkout_secret set made_at = now() - interval '2 hours'")
    await run.sql(
      "update tollgate.checkout set made_at = now() - interval '31 days' where id = $1",
      [kept],
    )
    await swept()
    assert.equal((await secrets()).length, 0)
    assert.deepEqual(await run.sql('select id from tollgate.checkout where id = $1', [kept]), [])
    const other = await newCheckout(run, { sender })
    assert.equal((await press(run.gateway, other)).state, 'paid')
    const paid = (await read(other)) as unknown as { sender: { givenName: string } }
    assert.equal(paid.sender.givenName, 'Ada')
  })
})
