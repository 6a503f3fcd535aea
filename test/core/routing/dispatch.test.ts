import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { defineConnector, definePlugin, settings } from '@tollgate/plugin-kit'
import pg from 'pg'
import { type Clock, type DispatchRule, systemClock } from '../../../core/index.ts'
import { AN, none, R } from '../../../schemas/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { card, flat, startGateway, type TestGateway } from '../../rig/gateway.ts'

/** An acquirer that records the merchant number of each request. */
const asked: string[] = []
const contracts = definePlugin({
  name: 'contracts',
  contract: 1,
  connectors: [
    defineConnector({
      name: 'contracts',
      title: 'Contracts',
      contract: 1,
      account: settings('Account', [
        ['merchantId', AN(20), R, 'stored', none, 'Number of the merchant there.'],
      ]),
      supports: {
        brands: 'any',
        currencies: 'any',
        methods: ['card'],
        key: { by: 'none' },
        enquiryVisibleAfterMs: 0,
      },
      debit: async (operation, context) => {
        asked.push(`debit ${context.account.merchantId}`)
        context.sending()
        return approvedAs(operation)
      },
      refund: async (operation, context) => {
        asked.push(`refund ${context.account.merchantId}`)
        context.sending()
        return approvedAs(operation)
      },
      resolve: { enquire: async () => ({ is: 'notFound' }) },
    }),
  ],
})

const visa = '4200000000000000'
const master = '5454545454545454'

describe('dispatching of payments by merchant id', () => {
  let run: TestGateway
  let aheadMs = 0
  let merchant: string
  let a: string
  let b: string
  const clock: Clock = { ...systemClock, elapsedMs: () => systemClock.elapsedMs() + aheadMs }

  before(async () => {
    run = await startGateway({ plugins: [contracts], clock })
  })
  after(() => closeChecked(run))
  beforeEach(async () => {
    const { entities } = run.gateway
    merchant = await entities.create({ kind: 'merchant', name: 'Shop', parentId: run.division })
    a = await entities.create({ kind: 'channel', name: 'A', parentId: merchant })
    b = await entities.create({ kind: 'channel', name: 'B', parentId: merchant })
  })

  /** Ages every cache in every process. */
  const seen = () => {
    aheadMs += 5000
  }
  const rules = async (...list: Omit<DispatchRule, 'priority'>[]) => {
    const numbered = list.map((rule, index) => ({ ...rule, priority: index + 1 }))
    await run.gateway.entities.dispatching.replace(merchant, numbered)
    seen()
  }
  const form = (more: Record<string, string> = {}): Record<string, string> => ({
    ...flat(card(visa)),
    entityId: merchant,
    ...more,
  })
  const send = (more: Record<string, string> = {}, idempotencyKey?: string) =>
    run.send(form(more), idempotencyKey === undefined ? {} : { idempotencyKey })
  const rowOf = async (id: string) => {
    const [row] = await run.sql<{ channel_id: string; entity_id: string }>(
      'select channel_id, entity_id from tollgate.payment where id = $1',
      [id],
    )
    return row
  }
  const channelOf = async (more: Record<string, string> = {}) => {
    const { body, status } = await send(more)
    assert.equal(status, 200, JSON.stringify(body.result))
    return (await rowOf(body.id))?.channel_id
  }

  test('a payment goes to the channel of the first matching rule and stores that channel', async () => {
    await rules(
      { channelId: b, brands: ['MASTER'] },
      { channelId: b, currencies: ['USD'], countries: ['US'] },
      { channelId: b, paymentTypes: ['PA'] },
      { channelId: a },
    )
    const { body } = await send()
    assert.deepEqual(await rowOf(body.id), { channel_id: a, entity_id: merchant })
    assert.equal(await channelOf({ paymentBrand: 'MASTER', 'card.number': master }), b)
    assert.equal(await channelOf({ paymentType: 'PA' }), b)
    assert.equal(await channelOf({ paymentType: 'PA.CP' }), b, 'the first step is a PA')
    assert.equal(await channelOf({ currency: 'USD' }), a)
    const us = { 'billing.country': 'US' }
    assert.equal(await channelOf({ currency: 'USD', ...us }), b)
    assert.equal(await channelOf(us), a)
  })

  test('a missing brand is derived from the number', async () => {
    await rules({ channelId: b, brands: ['MASTER'] }, { channelId: a })
    const { paymentBrand: _, ...rest } = form({ 'card.number': master })
    const { body } = await run.send(rest)
    assert.equal((await rowOf(body.id))?.channel_id, b)
  })

  test("a wallet's card matches by its scheme and by its wallet", async () => {
    const wallet = {
      paymentBrand: 'APPLEPAY',
      'applePay.source': 'web',
      'threeDSecure.verificationId': 'AAACCWVBEQAAAABgJQERAAAAAAA=',
      'threeDSecure.eci': '05',
    }
    await rules({ channelId: b, brands: ['APPLEPAY'] }, { channelId: a })
    assert.equal(await channelOf(wallet), b)
    await rules({ channelId: b, brands: ['VISA'] }, { channelId: a })
    assert.equal(await channelOf(wallet), b)
  })

  test("the payer's country is billing.country, else the country of the bank account", async () => {
    await rules({ channelId: b, countries: ['DE'] }, { channelId: a })
    const bank: Record<string, string> = {
      ...Object.fromEntries(Object.entries(form()).filter(([name]) => !name.startsWith('card.'))),
      paymentBrand: 'DIRECTDEBIT_SEPA',
      'bankAccount.holder': 'Jane Jones',
      'bankAccount.iban': 'DE89370400440532013000',
      'bankAccount.bic': 'COBADEFFXXX',
    }
    const channel = async (more: Record<string, string>) => {
      const { body, status } = await run.send({ ...bank, ...more })
      assert.equal(status, 200, JSON.stringify(body.result))
      return (await rowOf(body.id))?.channel_id
    }
    assert.equal(await channel({}), b)
    assert.equal(await channel({ 'bankAccount.country': 'AT' }), a)
    assert.equal(await channel({ 'billing.country': 'FR' }), a)
    assert.equal(await channelOf({ 'shipping.country': 'DE' }), a, 'goods do not decide')
  })

  test('a payment without a matching rule is refused with the fields and values that were compared', async () => {
    await rules(
      { channelId: a, brands: ['VISA'], currencies: ['EUR'], countries: ['DE', 'AT'] },
      { channelId: b, brands: ['MASTER'], currencies: ['USD'] },
    )
    const refusal = async (more: Record<string, string>) => {
      const { status, body } = await send(more)
      assert.equal(status, 400)
      const { code, description, parameterErrors = [] } = body.result
      return { code, description, errors: parameterErrors.map(({ name, value }) => [name, value]) }
    }
    const jpy = await refusal({ currency: 'JPY', amount: '92' })
    assert.equal(jpy.code, '600.200.500')
    assert.deepEqual(jpy.errors, [['currency', 'JPY']])
    assert.equal(
      jpy.description,
      'No dispatching rule of this merchant fits the request; looked at: paymentBrand VISA, currency JPY, billing.country not sent.',
    )
    const together = await refusal({ currency: 'USD', 'billing.country': 'DE' })
    assert.deepEqual(together.errors, [
      ['paymentBrand', 'VISA'],
      ['currency', 'USD'],
      ['billing.country', 'DE'],
    ])
    for (const id of [a, b]) assert.doesNotMatch(JSON.stringify([jpy, together]), new RegExp(id))
    await rules({ channelId: a, paymentTypes: ['PA'] })
    const type = await refusal({})
    assert.equal(type.code, '600.200.202')
    assert.deepEqual(type.errors, [['paymentType', 'DB']])
    const [count] = await run.sql<{ count: bigint }>(
      'select count(*) as count from tollgate.payment where entity_id = $1',
      [merchant],
    )
    assert.equal(count?.count, 0n, 'nothing was stored')
  })

  test('errors of the request are reported before rules are applied', async () => {
    await rules({ channelId: a, brands: ['MASTER'] })
    const code = async (more: Record<string, string>) => (await send(more)).body.result.code
    assert.equal(await code({ 'card.number': '4200000000000001' }), '100.100.101')
    assert.equal(await code({ currency: 'XYZ' }), '100.550.401')
    assert.equal(await code({ 'billing.country': 'XX' }), '100.800.501')
    assert.equal(await code({}), '600.200.500')
  })

  test('a merchant without rules, a division and a PSP are refused by entityId', async () => {
    const wrong = async (entityId: string) => {
      const { status, body } = await send({ entityId })
      assert.deepEqual([status, body.result.code], [400, '200.300.404'])
      const [error] = body.result.parameterErrors ?? []
      assert.deepEqual([error?.name, error?.value], ['entityId', entityId])
      return error?.message
    }
    assert.match(
      (await wrong(merchant)) ?? '',
      /without dispatching rules: send the id of a channel/,
    )
    assert.match(
      (await wrong(run.division)) ?? '',
      /belongs to a division: send the id of a channel or/,
    )
    assert.match((await wrong(run.psp)) ?? '', /belongs to a psp/)
  })

  test('a rule with a closed channel refuses the payment, and no other contract replaces it', async () => {
    await rules({ channelId: a, currencies: ['EUR'] }, { channelId: b })
    await run.gateway.entities.close(a)
    seen()
    const { body } = await send()
    assert.equal(body.result.code, '500.100.203')
    assert.match(body.result.description, /the dispatching rules choose for this request is closed/)
    assert.equal(await channelOf({ currency: 'USD' }), b)
    await run.gateway.entities.open(a)
    seen()
    assert.equal(await channelOf(), a)
  })

  test('the settings of the chosen channel apply', async () => {
    await run.gateway.entities.configure(merchant, { cvvRequired: true })
    await run.gateway.entities.configure(b, { cvvRequired: false })
    await rules({ channelId: a, currencies: ['EUR'] }, { channelId: b })
    const { 'card.cvv': _, ...rest } = form()
    assert.equal((await run.send(rest)).body.result.code, '100.100.600')
    assert.equal((await run.send({ ...rest, currency: 'USD' })).status, 200)
  })

  test('the payment and its follow-ups go through the account of the chosen channel', async () => {
    for (const [channelId, merchantId] of [
      [a, 'MID-A'],
      [b, 'MID-B'],
    ] as const) {
      await run.gateway.entities.createAccount({
        channelId,
        connector: 'contracts',
        mode: 'EXTERNAL',
        settings: { merchantId },
      })
    }
    await rules({ channelId: b })
    asked.length = 0
    const { body } = await send({ testMode: 'EXTERNAL' })
    await rules({ channelId: a })
    const refund = await run.send(
      { entityId: merchant, paymentType: 'RF', amount: '92.00', currency: 'EUR' },
      { id: body.id },
    )
    assert.equal(refund.status, 200)
    assert.deepEqual(await rowOf(refund.body.id), { channel_id: b, entity_id: merchant })
    assert.equal((await send({ testMode: 'EXTERNAL' })).status, 200)
    assert.deepEqual(asked, ['debit MID-B', 'refund MID-B', 'debit MID-A'])
  })

  test('captures, increments and reversals go to the channel of the payment they refer to', async () => {
    await rules({ channelId: b })
    const agreement = {
      'standingInstruction.mode': 'INITIAL',
      'standingInstruction.source': 'CIT',
      'standingInstruction.type': 'UNSCHEDULED',
    }
    const { body: pa } = await send({ paymentType: 'PA', ...agreement })
    await rules({ channelId: a })
    const named = { entityId: merchant, currency: 'EUR' }
    const more = await send({
      paymentType: 'PA',
      amount: '8.00',
      referenceUuid: pa.id,
      'standingInstruction.industryPractice': 'INCREMENTAL_AUTH',
      'standingInstruction.mode': 'REPEATED',
      'standingInstruction.source': 'MIT',
      'standingInstruction.type': 'UNSCHEDULED',
    })
    const capture = await run.send({ ...named, paymentType: 'CP', amount: '50.00' }, { id: pa.id })
    const reversal = await run.send({ ...named, paymentType: 'RV' }, { id: pa.id })
    for (const { status, body } of [more, capture, reversal]) {
      assert.equal(status, 200, JSON.stringify(body.result))
      assert.equal((await rowOf(body.id))?.channel_id, b)
    }
    const wrong = await run.send(
      { ...named, entityId: a, paymentType: 'RF', amount: '1.00' },
      { id: capture.body.id },
    )
    assert.equal(wrong.body.result.code, '700.400.700', 'the channels differ')
  })

  test('dispatching reads nothing from the database: rules are loaded with the merchant', async () => {
    await rules({ channelId: a })
    await send()
    const lock = new pg.Client({ connectionString: run.database.url })
    await lock.connect()
    let isAnswered = false
    try {
      await lock.query('begin')
      await lock.query('lock table tollgate.dispatching, tollgate.entity in access exclusive mode')
      const unread = send({ entityId: b }).finally(() => {
        isAnswered = true
      })
      for (let round = 0; round < 20; round += 1) assert.equal((await send()).status, 200)
      assert.equal(isAnswered, false, 'an uncached entity waits for the lock')
      await lock.query('rollback')
      assert.equal((await unread).status, 200)
    } finally {
      await lock.end()
    }
  })

  test('a request that names a channel bypasses the rules', async () => {
    await rules({ channelId: a })
    const fresh = await run.another({ role: 'api' })
    const meetings = () =>
      [...fresh.statements()].filter((statement) => /dispatching/.test(JSON.stringify(statement)))
    const pay = (entityId: string) =>
      run.send(form({ entityId }), { on: fresh, idempotencyKey: entityId })
    for (let round = 0; round < 2; round += 1) assert.equal((await pay(b)).status, 200)
    assert.equal(meetings().length, 0)
    assert.equal((await pay(merchant)).status, 200)
    assert.equal(meetings().length, 1)
  })
})
