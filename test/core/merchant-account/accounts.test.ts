/** Operators connect channels to acquirers: settings, secrets, checks, and accounts that take no more payments. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { definePlugin, notSent, Sensitive } from '@tollgate/plugin-kit'
import bankConnector, { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { cards } from '../../../connectors/acquirer-json/sandbox/order.ts'
import { type RunningBank, startBank } from '../../../connectors/acquirer-json/sandbox/server.ts'
import { simulatorHttp } from '../../../connectors/simulator/http-connector.ts'
import type { GatewayError } from '../../../core/index.ts'
import { card, startGateway, type TestGateway, until } from '../../rig/gateway.ts'

const secrets = { apiKey: 'a'.repeat(32), eventSecret: 'e'.repeat(32) }
const settings = { merchantId: 'shop-1', ...secrets }
const ann = { kind: 'system-user', id: '7', name: 'ann' } as const

/** An acquirer that answers every request with this status. */
async function answering(status: number): Promise<{ url: string; server: Server }> {
  const server = createServer((_, response) => response.writeHead(status).end('{}'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** The example connector under another name, with a check of its own. */
const variant = (name: string, check: NonNullable<typeof acquirerJson.check> | undefined) => {
  const { check: _, ...rest } = acquirerJson
  return { ...rest, name, ...(check === undefined ? {} : { check }) }
}

describe('acquirer accounts', () => {
  let bank: RunningBank
  let broken: { url: string; server: Server }
  let run: TestGateway
  let moved = 0
  const tokens: string[] = []

  before(async () => {
    bank = await startBank(settings)
    broken = await answering(503)
    const { url } = bank
    run = await startGateway({
      plugins: [
        bankConnector,
        definePlugin({
          name: 'variants',
          contract: 1,
          connectors: [
            variant('checkless', undefined),
            variant('moving', async ({ http, config }) => {
              await http.post(`${config.url}/payments`, {}, { moves: true })
              moved += 1
              return { ok: true }
            }),
            variant('throwing', async () => {
              throw new RangeError('4200000000000000')
            }),
            variant('telling', async ({ account }) => ({
              ok: false,
              why: `${account.apiKey} is not known`,
            })),
            {
              ...variant('tokened', undefined),
              debit: async (_, context) => {
                const { apiKey } = context.account as { apiKey: string }
                const fetched = await context.token('api', async () => ({
                  value: new Sensitive(`token for ${apiKey}`),
                  expiresInMs: 3_600_000,
                }))
                tokens.push(String(fetched.reveal()))
                return notSent('only the token matters')
              },
            },
            variant('nonsense', async () => ({ ok: 'yes' }) as never),
            simulatorHttp,
          ],
        }),
      ],
      connectors: Object.fromEntries(
        ['acquirer-json', 'checkless', 'moving', 'throwing', 'telling', 'nonsense', 'tokened']
          .map((name) => [name, { url }] as const)
          .concat([['simulator-http', { url: broken.url }]]),
      ),
    })
  })
  after(async () => {
    await run.close()
    await bank.close()
    broken.server.close()
  })

  const accounts = () => run.gateway.accounts
  const channel = () =>
    run.gateway.entities.create({ kind: 'channel', name: 'Other', parentId: run.merchant })
  const add = async (more: Partial<Parameters<ReturnType<typeof accounts>['add']>[0]> = {}) =>
    accounts().add(
      {
        channelId: await channel(),
        connector: 'acquirer-json',
        mode: 'EXTERNAL',
        settings,
        ...more,
      },
      { by: ann },
    )
  const trail = (id: string) =>
    run.sql<{ action: string; actor: string; before: unknown; after: unknown; detail: unknown }>(
      'select action, actor, before, after, detail from tollgate.audit where resource = $1 order by at, id',
      [id],
    )
  const pay = (entityId: string) =>
    run.pay({ ...card(cards.approved), testMode: 'EXTERNAL', entityId })
  /** The engine follows a change of accounts within five seconds. */
  const elsewhere = () => run.another({ role: 'api' })

  test('an account is listed and shown with its settings and the names of its secrets', async () => {
    const channelId = await channel()
    const id = await add({ channelId, brands: ['VISA'] })
    const [listed, ...more] = await accounts().list({ entityId: channelId })
    assert.deepEqual(more, [])
    const { createdAt, ...view } = listed!
    assert.ok(createdAt instanceof Date)
    assert.deepEqual(view, {
      id,
      channelId,
      connector: 'acquirer-json',
      mode: 'EXTERNAL',
      brands: ['VISA'],
      position: 0,
      settings: { merchantId: 'shop-1' },
      active: true,
    })
    const shown = await accounts().show(id)
    assert.deepEqual(shown.secrets, ['apiKey', 'eventSecret'])
    assert.doesNotMatch(JSON.stringify([shown, listed, run.logs]), /aaaaaaaa|eeeeeeee/)
    assert.ok((await accounts().list({ entityId: run.psp })).some((one) => one.id === id))
    assert.deepEqual(await accounts().list({ entityId: 'f'.repeat(32) }), [])
    await assert.rejects(accounts().list({ entityId: 'x' }), /entity must be 32 lower-case hex/)
    await assert.rejects(accounts().list({ after: 'x' }), /after must be 32 lower-case hex/)
  })

  test('a list goes on after its last entry', async () => {
    const channelId = await channel()
    const ids = [await add({ channelId }), await add({ channelId }), await add({ channelId })]
    const first = await accounts().list({ entityId: channelId, limit: 2 })
    const rest = await accounts().list({ entityId: channelId, after: first.at(-1)!.id, limit: 2 })
    assert.deepEqual(
      [...first, ...rest].map(({ id }) => id),
      ids,
    )
    assert.equal(rest.length, 1)
  })

  test('each wrong field of a new account is named, and nothing is stored', async () => {
    const before = (await accounts().list()).length
    const wrong: [object, string, RegExp][] = [
      [{ channelId: run.merchant }, 'channelId', /and this is the id of a merchant/],
      [{ channelId: 'x' }, 'channelId', /the id of a channel$/],
      [{ connector: 'nobody' }, 'connector', /acquirer-json/],
      [{ mode: 'LIVE' }, 'mode', /EXTERNAL in the test environment/],
      [{ brands: ['VISA', 'FISA'] }, 'brands', /FISA/],
      [{ settings: secrets }, 'settings.merchantId', /merchantId is missing/],
      // The name may be a secret in the wrong place.
      [
        { settings: { ...settings, shortSecret: 'red' } },
        'settings',
        /has a name that is no setting/,
      ],
      [{ settings: { ...settings, apiKey: 'short' } }, 'settings.apiKey', /apiKey is wrong/],
    ]
    for (const [more, name, message] of wrong) {
      await assert.rejects(add(more), (error: Error & { parameterErrors: { name: string }[] }) => {
        assert.equal(error.parameterErrors[0]?.name, name, error.message)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /short/)
        return true
      })
    }
    assert.equal((await accounts().list()).length, before)
  })

  test('everything wrong in a new account is named at once, and no error of the database gets out', async () => {
    const { entities } = run.gateway
    const told = async (account: unknown): Promise<Record<string, string>> => {
      const given = account as Parameters<typeof entities.createAccount>[0]
      const messages = await Promise.all(
        [entities.createAccount(given), accounts().add(given)].map((work) =>
          work.then(
            () => assert.fail('it was made'),
            (error: GatewayError) => {
              assert.equal(error.code, '200.300.404', String(error))
              return error.parameterErrors.map(({ name, message }) => [name, message])
            },
          ),
        ),
      )
      assert.deepEqual(messages[0], messages[1])
      return Object.fromEntries(messages[0]!)
    }
    const channelId = await channel()
    const right = { channelId, connector: 'acquirer-json', mode: 'EXTERNAL', settings }
    const external = { mode: 'must be EXTERNAL in the test environment' }
    for (const mode of ['INTERNAL', 'TEST', 'external', 'LIVE', undefined, null, 5]) {
      assert.deepEqual(await told({ ...right, mode }), external)
    }
    for (const wrong of ['zz', '', null, 5, {}, 'f'.repeat(32)]) {
      const message = 'must be the id of a channel'
      assert.deepEqual(await told({ ...right, channelId: wrong }), { channelId: message })
    }
    const { channelId: _, ...without } = right
    assert.deepEqual(await told({ ...without, chanelId: channelId }), {
      chanelId: 'is no option of this call; did you mean channelId?',
      channelId: 'is missing: the id of a channel',
    })
    assert.match(
      (await told({ ...right, connector: 'acquirer-jsom' })).connector!,
      /did you mean acquirer-json\?$/,
    )
    assert.match(
      (await told({ ...right, brands: ['VISSA'] })).brands!,
      /brand VISSA; did you mean VISA\?$/,
    )
    assert.match((await told({ ...right, brands: 'VISA' })).brands!, /must be a list of brands/)
    assert.match((await told({ ...right, brands: [null] })).brands!, /unknown brand null$/)
    assert.deepEqual(await told({ ...right, settings: 'x' }), { settings: 'must be an object' })
    const { settings: __, ...bare } = right
    const setings = await told({ ...bare, setings: settings })
    assert.equal(setings.setings, 'is no option of this call; did you mean settings?')
    assert.match(setings['settings.merchantId']!, /^is missing: /)
    const several = await told({ mode: 'LIVE', settings: 1, connector: 'acquirer-json' })
    assert.deepEqual(Object.keys(several), ['channelId', 'mode', 'settings'])
    assert.deepEqual(Object.keys(await told(undefined)), ['channelId', 'connector', 'mode'])
    // A misspelt setting hides neither a missing one nor one that is too short.
    const misspelt = { merchantID: 'shop-1', apiKey: 'short', eventSecret: 'e'.repeat(32) }
    const wrongSettings = await told({ ...right, settings: misspelt })
    assert.match(
      wrongSettings.settings!,
      /^has a name that is no setting; did you mean merchantId\?/,
    )
    assert.match(wrongSettings['settings.merchantId']!, /^is missing: /)
    assert.match(wrongSettings['settings.apiKey']!, /^is wrong: use /)
    assert.deepEqual(await accounts().list({ entityId: channelId }), [])
  })

  test('a change keeps other settings and the secrets, and the trail has before and after', async () => {
    const id = await add()
    await accounts().set(id, { brands: ['MASTER', 'VISA', 'VISA'], position: 5 }, { by: ann })
    await accounts().set(id, { settings: { merchantId: 'shop-2' } }, { by: ann })
    const shown = await accounts().show(id)
    assert.deepEqual(
      [shown.brands, shown.position, shown.settings, shown.secrets],
      [['MASTER', 'VISA'], 5, { merchantId: 'shop-2' }, ['apiKey', 'eventSecret']],
    )
    const rows = await trail(id)
    assert.deepEqual(
      rows.map(({ action, actor }) => `${action} ${actor}`),
      ['account.created ann', 'account.changed ann', 'account.changed ann'],
    )
    assert.deepEqual(rows[1]!.before, {
      brands: null,
      position: 0,
      settings: { merchantId: 'shop-1' },
    })
    assert.deepEqual(rows[2]!.after, {
      brands: ['MASTER', 'VISA'],
      position: 5,
      settings: { merchantId: 'shop-2' },
    })
    await accounts().set(id, { brands: null })
    assert.equal((await accounts().show(id)).brands, null)
    const refusals: [object, RegExp][] = [
      [{ settings: { apiKey: 'b'.repeat(32) } }, /rotate replaces secrets/],
      [{ settings: { merchantId: '' } }, /merchantId is missing/],
      [{ position: 1.5 }, /position must be a whole number/],
      [{ brands: ['NONESUCH'] }, /unknown brand NONESUCH$/],
      [{ brands: ['VISA', 'MASTERCARD'] }, /unknown brand MASTERCARD; did you mean MASTER\?$/],
      [{ brands: ['visaa'] }, /unknown brand visaa; did you mean VISA\?$/],
      [{}, /give brands, position or settings/],
    ]
    for (const [edit, message] of refusals) {
      await assert.rejects(accounts().set(id, edit), message)
    }
    await assert.rejects(accounts().set('0'.repeat(32), { position: 1 }), { status: 404 })
  })

  test('a check tells whether the acquirer takes the credentials, before and after a rotation', async () => {
    const id = await add({ settings: { ...settings, apiKey: 'w'.repeat(32) } })
    const refused = await accounts().check(id, { by: ann })
    assert.equal(refused.is, 'refused')
    await accounts().rotate(id, { apiKey: secrets.apiKey }, { by: ann })
    assert.deepEqual(await accounts().check(id, { by: ann }), { is: 'accepted' })
    const rows = (await trail(id)).slice(1)
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['account.checked', 'account.rotated', 'account.checked'],
    )
    assert.deepEqual(rows[1]!.after, { sealed: ['apiKey'] })
    assert.doesNotMatch(JSON.stringify([rows, run.logs]), /wwwwwwww|aaaaaaaa/)
    const [row] = await run.sql<{ row: string }>(
      'select to_jsonb(a)::text as row from tollgate.merchant_account a where id = $1',
      [id],
    )
    assert.doesNotMatch(row!.row, /aaaaaaaa/)
  })

  test('a rotation keeps the secrets that it does not name, also beside another one', async () => {
    const id = await add({ settings: { ...settings, apiKey: 'w'.repeat(32) } })
    await Promise.all([
      accounts().rotate(id, { apiKey: secrets.apiKey }),
      accounts().rotate(id, { eventSecret: 'n'.repeat(32) }),
    ])
    assert.deepEqual(await accounts().check(id), { is: 'accepted' })
    assert.deepEqual((await accounts().show(id)).secrets, ['apiKey', 'eventSecret'])
    await assert.rejects(accounts().rotate(id, {}), /at least one secret/)
    await assert.rejects(accounts().rotate(id, { merchantId: 'x' }), /set changes it/)
    await assert.rejects(accounts().rotate(id, { apiKey: 'short' }), /apiKey is wrong/)
    await assert.rejects(
      accounts().rotate(id, { pin: '1' }),
      /has a name that is no setting \(known/,
    )
  })

  test('after a rotation, no access token that was made with the old secret is used', async () => {
    const channelId = await channel()
    const id = await add({ channelId, connector: 'tokened' })
    await pay(channelId)
    await pay(channelId)
    await accounts().rotate(id, { apiKey: 'n'.repeat(32) })
    await until(async () => {
      await pay(channelId)
      return tokens.at(-1) === `token for ${'n'.repeat(32)}` ? true : undefined
    })
    assert.deepEqual(
      [...new Set(tokens)],
      ['a', 'n'].map((one) => `token for ${one.repeat(32)}`),
    )
  })

  test('a check without a word of the acquirer proves nothing, says why and shows no secret', async () => {
    const why = async (connector: string, more = settings as Record<string, string>) =>
      accounts().check(await add({ connector, settings: more }))
    assert.deepEqual(await why('checkless'), {
      is: 'unknown',
      why: 'the connector checkless has no check',
    })
    const threw = await why('throwing')
    assert.deepEqual(threw, { is: 'unknown', why: 'the check had no answer: RangeError' })
    assert.deepEqual(await why('nonsense'), {
      is: 'unknown',
      why: 'the check of the connector gave no usable answer',
    })
    const told = await why('telling')
    assert.equal(told.is, 'refused')
    assert.doesNotMatch(JSON.stringify(told), /aaaaaaaa/)
  })

  test('a check cannot move money', async () => {
    const before = bank.ledger.entries().length
    const id = await add({ connector: 'moving' })
    const found = await accounts().check(id)
    assert.equal(found.is, 'unknown')
    assert.equal(moved, 0)
    assert.equal(bank.ledger.entries().length, before)
  })

  test('the simulator over HTTP has a check that needs its acquirer', async () => {
    const id = await add({
      connector: 'simulator-http',
      settings: { merchantId: 'm', secret: 's'.repeat(32) },
    })
    const found = await accounts().check(id)
    assert.deepEqual(found, { is: 'unknown', why: 'the acquirer answered 503' })
  })

  test('the simulator in the process accepts, as it has no credentials', async () => {
    const id = await add({ connector: 'simulator', settings: {} })
    assert.deepEqual(await accounts().check(id), { is: 'accepted' })
  })

  test('a disabled account takes no new payment, but the refund of an old one', async () => {
    const channelId = await channel()
    const id = await add({ channelId })
    const paid = await pay(channelId)
    assert.equal(paid.result.code, '000.100.112')
    await accounts().disable(id, { by: ann })
    const later = await elsewhere()
    await assert.rejects(
      later.payments.create({
        ...card(cards.approved),
        testMode: 'EXTERNAL',
        entityId: channelId,
      } as never),
      { code: '600.200.700' },
    )
    const refunded = await later.payments.refund(paid.id, { amount: '10.00', currency: 'EUR' })
    assert.equal(refunded.result.code, '000.100.112')
    await accounts().enable(id, { by: ann })
    const again = await elsewhere()
    const second = await again.payments.create({
      ...card(cards.approved),
      testMode: 'EXTERNAL',
      entityId: channelId,
    } as never)
    assert.equal(second.result.code, '000.100.112')
    assert.deepEqual(
      (await trail(id)).map(({ action }) => action),
      ['account.created', 'account.disabled', 'account.enabled'],
    )
  })

  test('the lowest position takes a payment', async () => {
    const channelId = await channel()
    await add({ channelId, connector: 'simulator', settings: {} })
    const preferred = await add({ channelId })
    await accounts().set((await accounts().list({ entityId: channelId }))[0]!.id, { position: 9 })
    const on = await elsewhere()
    const paid = await on.payments.create({
      ...card(cards.approved),
      testMode: 'EXTERNAL',
      entityId: channelId,
    } as never)
    const [row] = await run.sql<{ account_id: string }>(
      `select replace(account_id::text, '-', '') as account_id from tollgate.payment where id = $1`,
      [paid.id],
    )
    assert.equal(row!.account_id, preferred)
  })

  test('the connectors say which settings an account needs, and how many accounts each has', async () => {
    const found = accounts().connectors()
    const json = found.find(({ name }) => name === 'acquirer-json')
    assert.deepEqual(
      json?.settings.map(({ name, isSecret, isRequired }) => [name, isSecret, isRequired]),
      [
        ['merchantId', false, true],
        ['apiKey', true, true],
        ['eventSecret', true, true],
      ],
    )
    assert.equal(found.find(({ name }) => name === 'checkless')?.hasCheck, false)
    assert.deepEqual(found.find(({ name }) => name === 'simulator')?.modes, ['INTERNAL'])
    const count = (await accounts().counts()).find(({ connector }) => connector === 'moving')
    assert.deepEqual(count, { connector: 'moving', mode: 'EXTERNAL', enabled: 1, disabled: 0 })
  })
})
