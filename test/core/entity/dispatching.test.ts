import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { DispatchFacts, DispatchRule } from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

describe('dispatching rules', () => {
  let run: TestGateway
  let merchant: string
  let euro: string
  let dollar: string
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())
  beforeEach(async () => {
    const { entities } = run.gateway
    const make = (kind: 'merchant' | 'channel', name: string, parentId: string) =>
      entities.create({ kind, name, parentId })
    merchant = await make('merchant', 'Shop', run.division)
    euro = await make('channel', 'Euro', merchant)
    dollar = await make('channel', 'Dollar', merchant)
  })

  const rules = () => run.gateway.entities.dispatching
  const written = (list: readonly DispatchRule[]) => rules().replace(merchant, list)
  const facts = (more: Partial<DispatchFacts> = {}): DispatchFacts => ({
    brands: ['VISA'],
    currency: 'EUR',
    paymentType: 'DB',
    country: null,
    ...more,
  })
  const chosen = async (more: Partial<DispatchFacts> = {}) =>
    (await rules().choose(merchant, facts(more)))?.priority

  test('the matching rule with the lowest priority decides, in whatever order rules were written', async () => {
    await written([
      { priority: 30, channelId: euro },
      { priority: 20, channelId: dollar, currencies: ['USD'] },
      { priority: 10, channelId: euro, currencies: ['USD'], countries: ['DE'] },
    ])
    assert.equal(await chosen({ currency: 'USD', country: 'DE' }), 10)
    assert.equal(await chosen({ currency: 'USD', country: 'FR' }), 20)
    assert.equal(await chosen({ currency: 'USD' }), 20, 'no country fits no list of countries')
    assert.equal(await chosen(), 30)
    const { rules: listed } = await rules().list(merchant)
    assert.deepEqual(
      listed.map((rule) => rule.priority),
      [10, 20, 30],
    )
  })

  test('each list counts by itself, all lists count together, and PA includes PA.CP', async () => {
    await written([
      { priority: 1, channelId: euro, brands: ['MASTER', 'VISA'], paymentTypes: ['PA'] },
      { priority: 2, channelId: euro, paymentTypes: ['PA.CP'], brands: ['AMEX'] },
      { priority: 3, channelId: dollar, countries: ['US', 'CA'] },
    ])
    assert.equal(await chosen({ paymentType: 'PA' }), 1)
    assert.equal(await chosen({ paymentType: 'PA.CP' }), 1)
    assert.equal(await chosen({ paymentType: 'PA.CP', brands: ['AMEX'] }), 2)
    assert.equal(await chosen({ paymentType: 'PA', brands: ['AMEX'] }), undefined)
    assert.equal(await chosen({ brands: ['JCB', 'APPLEPAY'], country: 'CA' }), 3)
    assert.equal(await chosen({ brands: [] }), undefined)
  })

  test('an older spelling of a brand becomes its code, in rules and in payments', async () => {
    await written([{ priority: 1, channelId: euro, brands: ['AMERICAN_EXPRESS', 'AMEX'] }])
    assert.deepEqual((await rules().list(merchant)).rules[0]?.brands, ['AMEX'])
    assert.equal(await chosen({ brands: ['AMERICAN_EXPRESS'] }), 1)
  })

  const wrong: readonly [string, (channel: string) => unknown, RegExp][] = [
    [
      'brand',
      (channelId) => ({ priority: 7, channelId, brands: ['VISSA'] }),
      /^rule 7: brands: "VISSA" must be one of VISA, MASTER, /,
    ],
    [
      'currency',
      (channelId) => ({ priority: 7, channelId, currencies: ['eur'] }),
      /^rule 7: currencies: "eur" must be an ISO 4217 code: three capital/,
    ],
    [
      'type',
      (channelId) => ({ priority: 7, channelId, paymentTypes: ['RF'] }),
      /^rule 7: paymentTypes: "RF" must be one of PA, DB, CD, PA.CP, 3D, RG$/,
    ],
    [
      'country',
      (channelId) => ({ priority: 7, channelId, countries: ['UK'] }),
      /^rule 7: countries: "UK" must be an ISO 3166-1 code: two capital/,
    ],
    [
      'value that is no text',
      (channelId) => ({ priority: 7, channelId, currencies: [978] }),
      /^rule 7: currencies: "978" must be/,
    ],
    [
      'empty list',
      (channelId) => ({ priority: 7, channelId, brands: [] }),
      /^rule 7: brands must be a list of at least one; leave it out/,
    ],
    [
      'text for a list',
      (channelId) => ({ priority: 7, channelId, brands: 'VISA' }),
      /^rule 7: brands must be a list/,
    ],
    [
      'unknown part',
      (channelId) => ({ priority: 7, channelId, brand: ['VISA'] }),
      /^rule 7: "brand" is no part of a rule \(there are: priority, channelId, brands,/,
    ],
    [
      'no priority',
      (channelId) => ({ channelId }),
      /^priority of a rule must be a whole number from 1 to 1000000$/,
    ],
    ['priority of zero', (channelId) => ({ priority: 0, channelId }), /^priority of a rule/],
    [
      'priority with a fraction',
      (channelId) => ({ priority: 1.5, channelId }),
      /^priority of a rule/,
    ],
    ['no object', () => null, /^a rule must be an object$/],
  ]
  for (const [what, rule, message] of wrong) {
    test(`a rule is refused for its ${what}, and nothing changes`, async () => {
      await written([{ priority: 1, channelId: euro }])
      const bad = rule(euro) as DispatchRule
      await assert.rejects(rules().add(merchant, bad), { constructor: Error, message })
      assert.equal((await rules().list(merchant)).version, 1)
    })
  }

  test("another merchant's channel is refused like one that does not exist", async () => {
    const without = async (channelId: string) => {
      const error = await written([{ priority: 1, channelId }]).then(
        () => assert.fail('it was taken'),
        (thrown: Error) => thrown,
      )
      return error.message.replace(channelId, '…')
    }
    const foreign = await without(run.channel)
    assert.equal(foreign, await without('f'.repeat(32)))
    assert.match(foreign, /^rule 1: channelId "…" is no channel of this merchant \(there are: /)
    assert.ok(foreign.includes(`${euro} Euro, ${dollar} Dollar`))
    assert.match(await without(merchant), /is no channel of this merchant/)
  })

  test('only merchants have rules', async () => {
    const rule = { priority: 1, channelId: euro }
    for (const [id, what] of [
      [run.division, 'a division'],
      [euro, 'a channel'],
      ['x', 'nobody'],
    ] as const) {
      await assert.rejects(
        rules().add(id, rule),
        new RegExp(`rules belong to a merchant, .* to ${what}`),
      )
      await assert.rejects(rules().list(id), new RegExp(`to ${what}`))
    }
  })

  test('two rules cannot have the same priority', async () => {
    await rules().add(merchant, { priority: 5, channelId: euro })
    await assert.rejects(
      rules().add(merchant, { priority: 5, channelId: dollar }),
      /two rules have priority 5/,
    )
  })

  test('the removal of an unknown rule lists the existing rules', async () => {
    await written([
      { priority: 5, channelId: euro },
      { priority: 9, channelId: dollar },
    ])
    await assert.rejects(rules().remove(merchant, 6), /there is no rule 6 \(there are: 5, 9\)/)
    await rules().remove(merchant, 5)
    assert.equal((await rules().list(merchant)).rules.length, 1)
  })

  test('a rule that can never decide is kept and reported', async () => {
    await written([
      { priority: 1, channelId: euro, paymentTypes: ['PA', 'DB'] },
      { priority: 2, channelId: dollar, paymentTypes: ['PA.CP'], currencies: ['USD'] },
      { priority: 3, channelId: dollar, paymentTypes: ['CD', 'DB'] },
    ])
    const listed = (await rules().list(merchant)).rules
    assert.deepEqual(
      listed.map((rule) => rule.shadowedBy),
      [undefined, 1, undefined],
    )
  })

  test('a change based on an older version is refused, and every change is audited with its author', async () => {
    const first = await written([{ priority: 1, channelId: euro }])
    await rules().add(merchant, { priority: 2, channelId: dollar }, { version: first, by: 'ann' })
    await assert.rejects(
      rules().replace(merchant, [], { version: first }),
      /the rules were changed meanwhile: they are at version 2, not 1/,
    )
    const audit = await run.sql<{ actor: string; after: { version: number; rules: unknown[] } }>(
      `select actor, after from tollgate.audit
       where resource = $1 and action = 'dispatching.changed' order by id`,
      [merchant],
    )
    assert.deepEqual(
      audit.map(({ actor, after: to }) => [actor, to.version, to.rules.length]),
      [
        ['embedder', 1, 1],
        ['ann', 2, 2],
      ],
    )
  })

  test('simultaneous changes by many operators do not overwrite each other', async () => {
    const priorities = Array.from({ length: 20 }, (_, index) => index + 1)
    await Promise.all(
      priorities.map((priority) => rules().add(merchant, { priority, channelId: euro })),
    )
    const { version, rules: listed } = await rules().list(merchant)
    assert.equal(version, 20)
    assert.deepEqual(
      listed.map((rule) => rule.priority),
      priorities,
    )
    await Promise.all(priorities.slice(5).map((priority) => rules().remove(merchant, priority)))
    assert.equal((await rules().list(merchant)).rules.length, 5)
  })

  test('a closed channel is marked in the list and can open again, and both changes are audited', async () => {
    await written([{ priority: 1, channelId: euro }])
    const closed = async () => (await rules().list(merchant)).rules[0]?.channelClosed
    await run.gateway.entities.close(euro, 'ann')
    assert.equal(await closed(), true)
    await run.gateway.entities.open(euro)
    assert.equal(await closed(), false)
    await assert.rejects(run.gateway.entities.close('f'.repeat(32)), /there is no entity/)
    const audit = await run.sql<{ row: string }>(
      `select actor || ' ' || action as row from tollgate.audit
       where resource = $1 and action <> 'entity.created' order by id`,
      [euro],
    )
    assert.deepEqual(
      audit.map(({ row }) => row),
      ['ann entity.closed', 'embedder entity.opened'],
    )
  })

  test('a payment with an unknown value is refused with the allowed values', async () => {
    await assert.rejects(
      rules().choose(merchant, facts({ country: 'XX' })),
      /countries: "XX" must be an ISO 3166-1/,
    )
    await assert.rejects(
      rules().choose(merchant, facts({ paymentType: 'RV' })),
      /paymentTypes: "RV" must be one of/,
    )
  })
})
