import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defineConnector, definePlugin, settings } from '@tollgate/plugin-kit'
import type { GatewayError } from '../../../core/index.ts'
import { AN, none, R, secret } from '../../../schemas/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { card, flat, startGateway, type TestGateway } from '../../rig/gateway.ts'

/** An acquirer whose accounts have one open setting and one secret. */
const seen: Record<string, unknown>[] = []
const withAccounts = definePlugin({
  name: 'with-accounts',
  contract: 1,
  connectors: [
    defineConnector({
      name: 'with-accounts',
      title: 'With accounts',
      contract: 1,
      account: settings('Account', [
        ['merchantId', AN(20), R, 'stored', none, 'Number of the merchant there.'],
        ['password', AN(40), R, 'stored', secret, 'Password there.'],
      ]),
      supports: {
        brands: ['VISA'],
        currencies: ['EUR'],
        methods: ['card'],
        key: { by: 'none' },
        enquiryVisibleAfterMs: 0,
      },
      debit: async (operation, context) => {
        seen.push({ ...context.account })
        context.sending()
        return approvedAs(operation)
      },
      resolve: { enquire: async () => ({ is: 'notFound' }) },
    }),
  ],
})

describe('entities, tokens and accounts', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ plugins: [withAccounts] })
  })
  after(() => run.close())

  const channel = (more: { parentId?: string; settings?: Record<string, unknown> } = {}) =>
    run.gateway.entities.create({ kind: 'channel', name: 'Shop', parentId: run.merchant, ...more })
  const bearer = (token: string) => run.gateway.authenticate(`Bearer ${token}`)
  const refusal = (work: Promise<unknown>): Promise<GatewayError> =>
    work.then(
      () => assert.fail('it was allowed'),
      (error: GatewayError) => error,
    )

  test('an entity belongs below an entity of the right kind, and the refusal names that kind', async () => {
    const { entities } = run.gateway
    await assert.rejects(
      entities.create({ kind: 'psp', name: 'P', parentId: run.psp }),
      /a psp has no parent/,
    )
    await assert.rejects(
      entities.create({ kind: 'channel', name: 'C' }),
      /needs parentId, the id of a merchant/,
    )
    await assert.rejects(
      entities.create({ kind: 'channel', name: 'C', parentId: run.division }),
      /needs parentId, the id of a merchant/,
    )
    await assert.rejects(channel({ parentId: 'f'.repeat(32) }), /needs parentId/)
    await assert.rejects(entities.create({ kind: 'psp', name: '  ' }), /needs a name/)
    await assert.rejects(entities.create({ kind: 'psp' } as never), /needs a name/)
    for (const wrong of [{}, { kind: 'chanel', name: 'x' }, { kind: 'toString', name: 'x' }]) {
      await assert.rejects(entities.create(wrong as never), /kind must be psp, division/)
    }
    const expiresAt = '2027-01-01' as never
    await assert.rejects(
      entities.createToken(run.channel, 'x', { expiresAt }),
      /expiresAt must be a Date/,
    )
    await assert.rejects(
      entities.create({ kind: 'psp', name: 'P', id: 'F'.repeat(32) }),
      /32 lower-case hex/,
    )
  })

  test('a name with a card number is refused, because the audit trail would repeat it', async () => {
    const { entities } = run.gateway
    for (const number of ['4200000000000000', '4200 0000 0000 0000', '4200%200000%200000%200000']) {
      const name = `shop ${number}`
      for (const make of [
        () => entities.create({ kind: 'channel', name, parentId: run.merchant }),
        () => entities.createToken(run.channel, name),
      ]) {
        await assert.rejects(make, (error) => {
          assert.match(String(error), /the name of a (channel|token) must not hold a card number/)
          assert.ok(!String(error).includes('4200'))
          return true
        })
      }
      const id = await entities.create(
        { kind: 'channel', name: 'Mine', parentId: run.merchant },
        { by: `operator ${number}` },
      )
      const rows = await run.sql<{ told: string }>(
        'select audit::text as told from tollgate.audit where entity_id = $1',
        [id],
      )
      assert.ok(rows.length > 0)
      for (const { told } of rows) assert.doesNotMatch(told, /4200\W*0000/)
    }
  })

  test('an entity keeps the id it is given, and creating it twice changes nothing', async () => {
    const { entities } = run.gateway
    const id = 'c0ffee'.padEnd(32, '0')
    assert.equal(
      await entities.create({ kind: 'channel', name: 'Mine', parentId: run.merchant, id }),
      id,
    )
    await entities.create({ kind: 'channel', name: 'Other', parentId: run.merchant, id })
    assert.equal((await entities.get(id))?.name, 'Mine')
  })

  test('a token acts for its entity and those below it, and for no other', async () => {
    const { entities } = run.gateway
    const [mine, sister] = [await channel(), await channel()]
    const tokens = {
      channel: await entities.createToken(mine, 'shop'),
      merchant: await entities.createToken(run.merchant, 'office'),
    }
    const pay = async (token: string, entityId: string | undefined) => {
      const { status } = await run.send(
        { ...flat(card('4200000000000000')), ...(entityId === undefined ? {} : { entityId }) },
        { caller: await bearer(token) },
      )
      return status
    }
    assert.equal(await pay(tokens.channel.token, mine), 200)
    assert.equal(await pay(tokens.channel.token, undefined), 200, 'a channel is its own default')
    assert.equal(await pay(tokens.channel.token, sister), 403)
    assert.equal(await pay(tokens.merchant.token, mine), 200)
    assert.equal(await pay(tokens.merchant.token, sister), 200)
    assert.equal(await pay(tokens.merchant.token, undefined), 400, 'a merchant has many channels')
    const paid = await run.pay({ entityId: sister })
    const caller = await bearer(tokens.channel.token)
    await assert.rejects(run.gateway.payments.get(paid.id, { caller }), { status: 404 })
  })

  test('a token is shown once and stored as a hash', async () => {
    const { token } = await run.gateway.entities.createToken(run.channel, 'once')
    assert.ok(token.length >= 43, '256 bits')
    const rows = await run.sql<{ row: string }>(
      'select to_jsonb(t)::text as row from tollgate.token t',
    )
    for (const { row } of rows) {
      assert.ok(!row.includes(token))
      assert.ok(!row.includes(Buffer.from(token).toString('hex')))
    }
    assert.doesNotMatch(
      JSON.stringify(await run.gateway.entities.tokens(run.channel)),
      new RegExp(token),
    )
  })

  test('a missing or malformed header is 401, an invalid token 403, with 800.900.300', async () => {
    for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b']) {
      const { status, code } = await refusal(run.gateway.authenticate(header))
      assert.deepEqual([status, code], [401, '800.900.300'], String(header))
    }
    const { id, token } = await run.gateway.entities.createToken(run.channel, 'gone')
    await run.gateway.entities.revokeToken(id)
    const wrong = [await refusal(bearer('x'.repeat(43))), await refusal(bearer(token))]
    for (const { status, code } of wrong) assert.deepEqual([status, code], [403, '800.900.300'])
    assert.equal(wrong[0]?.message, wrong[1]?.message, 'unknown and revoked tokens look alike')
  })

  test('a token of the other environment is refused with 403, which says so', async () => {
    const { id, token } = await run.gateway.entities.createToken(run.channel, 'live')
    await run.sql(`update tollgate.token set environment = 'live' where id = $1`, [id])
    const { status, message } = await refusal(bearer(token))
    assert.equal(status, 403)
    assert.match(message, /not valid in the test environment/)
  })

  test('a closed merchant takes no payments', async () => {
    const { entities } = run.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Closed',
      parentId: run.division,
    })
    const entityId = await channel({ parentId: merchant })
    await run.sql('update tollgate.entity set closed = true where id = $1', [merchant])
    const { status, body } = await run.send({ ...flat(card('4200000000000000')), entityId })
    assert.equal(status, 400)
    assert.equal(body.result.code, '500.100.203')
  })

  test("a channel's settings win over those of the entities above it", async () => {
    const { entities } = run.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Strict',
      parentId: run.division,
      settings: { cvvRequired: true },
    })
    const strict = await channel({ parentId: merchant })
    const loose = await channel({ parentId: merchant, settings: { cvvRequired: false } })
    const { 'card.cvv': _, ...form } = flat(card('4200000000000000'))
    assert.equal((await run.send({ ...form, entityId: strict })).body.result.code, '100.100.600')
    assert.equal((await run.send({ ...form, entityId: loose })).status, 200)
  })

  test('null takes a setting away, so that the one above holds again', async () => {
    const { entities } = run.gateway
    const merchant = await entities.create({
      ...{ kind: 'merchant', name: 'M', parentId: run.division },
      settings: { cvvRequired: true },
    } as never)
    const loose = await channel({ parentId: merchant, settings: { cvvRequired: false } })
    const own = { cvvRequired: null, widgetOrigins: ['https://shop.example'] }
    await entities.configure(loose, own)
    assert.deepEqual((await entities.get(loose))?.settings, {
      widgetOrigins: ['https://shop.example'],
    })
    const { 'card.cvv': _cvv, ...form } = flat(card('4200000000000000'))
    const answer = await run.send({ ...form, entityId: loose })
    assert.equal(answer.body.result.code, '100.100.600')
    await assert.rejects(
      entities.configure(loose, { cvvRequired: 'yes' }),
      /cvvRequired must be one of true, false; null takes it away/,
    )
    await assert.rejects(
      entities.create({
        kind: 'channel',
        name: 'N',
        parentId: merchant,
        settings: { cvvRequired: null },
      } as never),
      /cvvRequired must be one of true, false$/,
    )
  })

  test('an account stores open settings in clear and seals secret ones; its connector gets both', async () => {
    const { entities } = run.gateway
    const entityId = await channel()
    const given = { merchantId: 'MID-1', password: 'account-secret-canary' }
    const id = await entities.createAccount({
      channelId: entityId,
      connector: 'with-accounts',
      mode: 'EXTERNAL',
      settings: given,
    })
    const [row] = await run.sql<{ row: string }>(
      'select to_jsonb(a)::text as row from tollgate.merchant_account a where id = $1',
      [id],
    )
    assert.match(row!.row, /MID-1/)
    assert.doesNotMatch(row!.row, /account-secret-canary/)
    const answer = await run.pay({ entityId, testMode: 'EXTERNAL' })
    assert.equal(answer.result.code, '000.100.112')
    assert.deepEqual(seen.at(-1), given)
    assert.doesNotMatch(JSON.stringify([answer, run.logs]), /account-secret-canary/)
  })

  test('payments of several channels at the same moment each use their own settings and account', async () => {
    const { entities } = run.gateway
    const channels: { id: string; cvvRequired: boolean; merchantId: string }[] = []
    for (let no = 0; no < 12; no += 1) {
      const cvvRequired = no % 3 === 0
      const id = await channel({ settings: { cvvRequired } })
      const merchantId = `MID-${no}`
      await entities.createAccount({
        channelId: id,
        connector: 'with-accounts',
        mode: 'EXTERNAL',
        settings: { merchantId, password: `p${no}` },
      })
      channels.push({ id, cvvRequired, merchantId })
    }
    const { 'card.cvv': _, ...withoutCvv } = flat(card('4200000000000000'))
    const usedBefore = seen.length
    const unknown = 'e'.repeat(32)
    const ids = [...channels.map(({ id }) => id), unknown, 'no id']
    const answers = await Promise.all(
      ids.map((entityId) => run.send({ ...withoutCvv, entityId, testMode: 'EXTERNAL' })),
    )
    const codes = answers.map(({ status, body }) => `${status} ${body.result.code}`)
    assert.deepEqual(codes, [
      ...channels.map(({ cvvRequired }) => (cvvRequired ? '400 100.100.600' : '200 000.100.112')),
      // The caller has no token, so an unknown entity is named.
      '400 200.300.404',
      '400 200.300.404',
    ])
    const paid = channels.filter(({ cvvRequired }) => !cvvRequired)
    assert.deepEqual(
      seen
        .slice(usedBefore)
        .map((account) => account.merchantId)
        .sort(),
      paid.map(({ merchantId }) => merchantId).sort(),
    )
  })

  test('missing, wrong and unknown settings of an account are named, and secrets are never shown', async () => {
    const create = (given: Record<string, string>) =>
      run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: 'with-accounts',
        mode: 'EXTERNAL',
        settings: given,
      })
    await assert.rejects(create({ password: 'p' }), /merchantId is missing/)
    await assert.rejects(
      create({ merchantId: 'M', password: 'p', extra: '1' }),
      /has a name that is no setting/,
    )
    await assert.rejects(
      create({ merchantid: 'M', password: 'p' }),
      /has a name that is no setting; did you mean merchantId\?/,
    )
    await assert.rejects(
      create({ merchantId: 'M', password: 'long-secret-'.repeat(5) }),
      (error: Error) => {
        assert.match(error.message, /password is wrong/)
        assert.doesNotMatch(error.message, /long-secret/)
        return true
      },
    )
    await assert.rejects(
      run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: 'nobody',
        mode: 'EXTERNAL',
        settings: {},
      }),
      /connector must be the name of an installed connector: simulator, simulator-3ds, with-accounts$/,
    )
  })

  test('an account for other brands or currencies is not used', async () => {
    const entityId = await channel()
    await run.gateway.entities.createAccount({
      channelId: entityId,
      connector: 'with-accounts',
      mode: 'EXTERNAL',
      settings: { merchantId: 'MID-2', password: 'p' },
    })
    const external = { entityId, testMode: 'EXTERNAL' }
    const master = { ...card('5454545454545454'), paymentBrand: 'MASTER' }
    await assert.rejects(run.pay({ ...master, ...external }), { code: '600.200.500' })
    await assert.rejects(run.pay({ ...external, currency: 'USD' }), { code: '600.200.500' })
    await assert.rejects(run.pay({ ...external, paymentType: 'PA' }), { code: '600.200.400' })
  })
})
