/** What a checkout is made of, where it may be shown, and when it takes no more tries. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { widgetRelease } from '../../rig/widget-release.ts'
import { basket, cardFields, newCheckout, pageOf, press, shop } from './rig.ts'

type Refused = { code: string; parameterErrors: readonly { name: string }[] }
const naming =
  (...names: string[]) =>
  (error: Refused) => {
    assert.deepEqual(
      error.parameterErrors.map(({ name }) => name),
      names,
    )
    return true
  }

const release = widgetRelease('1')

describe('the terms of a checkout', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({
      role: 'api',
      widget: release,
      cardTesting: { number: 2, address: 0, bin: 0, channel: 0, token: 0 },
    })
  })
  after(() => run.close())
  const channelWith = (settings: Record<string, unknown>) =>
    run.gateway.entities.create({
      kind: 'channel',
      name: 'Own',
      parentId: run.merchant,
      settings: settings as never,
    })

  test('errors of the merchant are told when it is made, and not to the shopper', async () => {
    const refused = (fields: object, ...names: string[]) =>
      assert.rejects(newCheckout(run, fields as never), naming(...names))
    await refused({ amount: undefined }, 'amount')
    await refused({ paymentType: undefined, amount: undefined }, 'amount', 'paymentType')
    await refused({ paymentType: 'PA.CP' }, 'paymentType')
    await refused({ paymentType: 'RF' }, 'paymentType')
    await refused({ overridePaymentType: { MASTER: 'PA.CP' } }, 'overridePaymentType[MASTER]')
    await refused({ amount: '1.50', currency: 'JPY' }, 'amount')
    await refused({ card: cardFields() }, 'card')
    await refused({ threeDSecure: { verificationId: 'abc' } }, 'threeDSecure.verificationId')
    await refused({ shopperResultUrl: 'javascript:alert(1)' }, 'shopperResultUrl')
  })

  test('a mode without an account is told when it is made, by its name, as at payments', async () => {
    const isRefused = (error: Refused) => naming('testMode')(error) && error.code === '600.200.700'
    const fields = { testMode: 'EXTERNAL' }
    await assert.rejects(newCheckout(run, fields), isRefused)
    const stored = { ...fields, amount: undefined, currency: undefined, paymentType: undefined }
    await assert.rejects(newCheckout(run, { ...stored, createRegistration: 'true' }), isRefused)
    await assert.rejects(run.pay({ ...fields, card: cardFields(), ...basket } as never), isRefused)
    const { create, dispatching } = run.gateway.entities
    const psp = await create({ kind: 'psp', name: 'Ruled' })
    const division = await create({ kind: 'division', name: 'Ruled', parentId: psp })
    const merchant = await create({ kind: 'merchant', name: 'Ruled', parentId: division })
    const channelId = await create({ kind: 'channel', name: 'Bare', parentId: merchant })
    await dispatching.replace(merchant, [{ priority: 1, channelId }] as never)
    await assert.rejects(newCheckout(run, { ...fields, entityId: merchant }), isRefused)
    assert.ok(await newCheckout(run, { testMode: 'INTERNAL' }))
  })

  test('the hash of the widget is told to whoever asks', async () => {
    const fields = { entityId: run.channel, ...basket, integrity: 'true' }
    const made = await run.gateway.checkouts.create(fields as never)
    assert.equal(made.integrity, release.loader.integrity)
    assert.equal((await run.gateway.checkouts.offer(made.id)).scriptHash, release.loader.hash)
    const other = await run.gateway.checkouts.create({ entityId: run.channel, ...basket } as never)
    assert.equal(other.integrity, undefined)
  })

  test('an update replaces what it names and checks the whole', async () => {
    const customer = { givenName: 'Ada', surname: 'Byron' }
    const id = await newCheckout(run, { customer })
    await run.gateway.checkouts.update(id, {
      amount: '10.00',
      customer: { email: 'ada@shop.example' },
    } as never)
    await assert.rejects(
      run.gateway.checkouts.update(id, { currency: 'JPY', amount: '10.50' } as never),
      naming('amount'),
    )
    assert.equal((await press(run.gateway, id)).state, 'paid')
    const view = (await run.gateway.checkouts.payment(id)) as unknown as Record<string, unknown>
    assert.equal(view.amount, '10.00')
    assert.deepEqual(view.customer, {
      ...customer,
      email: 'ada@shop.example',
      ip: '192.0.2.7',
    })
  })

  test('a form goes on to a page of its own origin only', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    const elsewhere = { resultUrl: 'https://evil.example/', origin: 'https://shop.example' }
    const faults = [{ field: 'resultUrl', reason: 'invalid' }]
    assert.deepEqual(await press(run.gateway, id, elsewhere), { state: 'invalid', errors: faults })
    const own = await newCheckout(run)
    assert.equal((await press(run.gateway, own, elsewhere)).state, 'paid')
  })

  test('a page with a user name or a password is refused by name', async () => {
    const refused = {
      parameterErrors: [
        {
          name: 'shopperResultUrl',
          message: 'must not hold a user name or a password before its host',
        },
      ],
    }
    for (const who of ['shop.example', 'user:secret', ':secret']) {
      const page = `https://${who}@evil.example/thanks`
      await assert.rejects(newCheckout(run, { shopperResultUrl: page }), refused)
      const id = await newCheckout(run, { shopperResultUrl: undefined })
      const form = { resultUrl: page, origin: 'https://evil.example' }
      const errors = [{ field: 'resultUrl', reason: 'invalid' }]
      assert.deepEqual(await press(run.gateway, id, form), { state: 'invalid', errors })
    }
    const id = await newCheckout(run, { shopperResultUrl: 'https://shop.example/@me?to=a@b' })
    assert.equal((await press(run.gateway, id)).state, 'paid')
  })

  test('id and resourcePath in the query of a page are replaced', async () => {
    const page = 'https://shop.example/thanks?id=1&resourcePath=%2Fv1%2Fother&order=7&id=2'
    const id = await newCheckout(run, { shopperResultUrl: page })
    const reply = await press(run.gateway, id)
    assert.deepEqual(reply, { state: 'paid', resultUrl: pageOf(id) })
  })

  for (const [page, location] of [
    [
      "https://shop.example/thanks?a=a%20b&flag&x=~'()*![]&&y=%2f+#top",
      "https://shop.example/thanks?a=a%20b&flag&x=~'()*![]&&y=%2f+&ADDED#top",
    ],
    ['https://shop.example/thanks?%69d=1&b=é"', 'https://shop.example/thanks?b=%C3%A9%22&ADDED'],
    ['https://shop.example/thanks?', 'https://shop.example/thanks?ADDED'],
    ['https://shop.example/thanks??id=1', 'https://shop.example/thanks??id=1&ADDED'],
    [
      "myapp://done/here?a=a%20b&flag&x=~'()*![]",
      "myapp://done/here?a=a%20b&flag&x=~'()*![]&ADDED",
    ],
  ] as const) {
    test(`the query of ${page} stays as it was sent`, async () => {
      const id = await newCheckout(run, { shopperResultUrl: page })
      const added = pageOf(id).slice(pageOf(id).indexOf('id='))
      const reply = await press(run.gateway, id)
      assert.deepEqual(reply, { state: 'paid', resultUrl: location.replace('ADDED', () => added) })
    })
  }

  test('a form that does not tell its origin goes on to no page of its own', async () => {
    const id = await newCheckout(run, { shopperResultUrl: undefined })
    assert.deepEqual(await press(run.gateway, id, { resultUrl: 'https://evil.example/' }), {
      state: 'invalid',
      errors: [{ field: 'origin', reason: 'required' }],
    })
  })

  for (const [brand, hint] of [
    ['MASTERCARD', '; Mastercard has the code MASTER'],
    ['master', '; Mastercard has the code MASTER'],
    ['NOBODY', ''],
  ]) {
    test(`another payment type for the unknown brand ${brand} is refused`, async () => {
      const name = `overridePaymentType[${brand}]`
      const refused = { parameterErrors: [{ name, message: `names no known brand${hint}` }] }
      await assert.rejects(newCheckout(run, { overridePaymentType: { [brand!]: 'PA' } }), refused)
      const id = await newCheckout(run)
      await assert.rejects(
        run.gateway.checkouts.update(id, { overridePaymentType: { [brand!]: 'PA' } } as never),
        refused,
      )
    })
  }

  test('a channel names the origins of its widget', async () => {
    const channel = await channelWith({ widgetOrigins: ['https://shop.example'] })
    const id = await newCheckout(run, { entityId: channel, shopperResultUrl: undefined })
    assert.deepEqual((await run.gateway.checkouts.offer(id)).widgetOrigins, [
      'https://shop.example',
    ])
    const foreign = await press(run.gateway, id, { origin: 'https://evil.example' })
    assert.deepEqual(foreign.errors, [{ field: 'origin', reason: 'invalid' }])
    const reply = await press(run.gateway, id, { resultUrl: shop, origin: 'https://shop.example' })
    assert.equal(reply.state, 'paid')
  })

  test('a channel sets how many tries a checkout has', async () => {
    const channel = await channelWith({ checkoutTries: 2 })
    const id = await newCheckout(run, { entityId: channel })
    const bad = { card: cardFields('4000000000000002') }
    assert.equal((await press(run.gateway, id, bad)).attemptsLeft, 1)
    assert.equal((await press(run.gateway, id, bad)).attemptsLeft, 0)
    assert.equal((await press(run.gateway, id)).state, 'closed')
  })

  test('a card tester closes the checkout: refused tries count as well', async () => {
    const channel = await channelWith({ checkoutTries: 4 })
    const id = await newCheckout(run, { entityId: channel })
    const bad = { card: cardFields('4000000000000127') }
    await press(run.gateway, id, bad)
    assert.deepEqual(await press(run.gateway, id, bad), { state: 'declined', attemptsLeft: 2 })
    // From here on the number is refused before it becomes a payment.
    assert.deepEqual(await press(run.gateway, id, bad), { state: 'declined', attemptsLeft: 1 })
    const last = { state: 'declined', attemptsLeft: 0, resultUrl: pageOf(id) }
    assert.deepEqual(await press(run.gateway, id, bad), last)
    assert.equal((await press(run.gateway, id)).state, 'closed')
    const rows = await run.sql('select id from tollgate.payment where checkout_id = $1', [id])
    assert.equal(rows.length, 2)
  })

  test('the rules of a merchant choose the channel by what the shopper pays with', async () => {
    const [cards, others] = [await channelWith({}), await channelWith({})]
    await run.gateway.entities.dispatching.replace(run.merchant, [
      { priority: 1, channelId: cards, brands: ['VISA'] },
      { priority: 2, channelId: others },
    ] as never)
    const channelOf = async (number: string) => {
      const id = await newCheckout(run, { entityId: run.merchant })
      const offer = await run.gateway.checkouts.offer(id)
      assert.ok(offer.brands.some(({ brand }) => brand === 'MASTER'))
      assert.equal((await press(run.gateway, id, { card: cardFields(number) })).state, 'paid')
      const caller = { id: 'merchant', entityId: run.merchant }
      assert.equal((await run.gateway.checkouts.payment(id, { caller })).result.code, '000.100.110')
      const [row] = await run.sql<{ channel_id: string }>(
        'select channel_id from tollgate.payment where checkout_id = $1',
        [id],
      )
      return row!.channel_id
    }
    assert.equal(await channelOf('4200000000000000'), cards)
    assert.equal(await channelOf('5454545454545454'), others)
  })

  test('an update needs the right to the whole payment', async () => {
    const id = await newCheckout(run, { paymentType: 'CD' })
    const caller = { id: 'charges', entityId: run.channel, rights: 2 }
    await assert.rejects(
      run.gateway.checkouts.update(id, { amount: '900.00' } as never, { caller }),
      { code: '800.900.301' },
    )
  })

  test('a caller of another merchant sees no checkout', async () => {
    const id = await newCheckout(run)
    const merchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const caller = { id: 'other', entityId: merchant }
    await assert.rejects(run.gateway.checkouts.payment(id, { caller }), { status: 404 })
    await assert.rejects(run.gateway.checkouts.remove(id, { caller }), { status: 404 })
  })

  test('a token without the right to pay out makes no such checkout', async () => {
    const caller = { id: 'reader', entityId: run.channel, rights: 1 }
    await assert.rejects(run.gateway.checkouts.create(basket as never, { caller }), {
      code: '800.900.301',
    })
  })
})
