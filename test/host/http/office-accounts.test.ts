/** Acquirer accounts in the operators' API: rights, entities, two people, and secrets that never come back. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { definePlugin } from '@tollgate/plugin-kit'
import plugin, { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { type RunningBank, startBank } from '../../../connectors/acquirer-json/sandbox/server.ts'
import { limits } from '../../../schemas/index.ts'
import { authenticatorName, scriptedAuthenticator } from '../../rig/authenticator.ts'
import { until } from '../../rig/gateway.ts'
import { enrol, logIn, movedClock, office } from '../../rig/operators.ts'
import { type Hosted, startHost } from './hosted.ts'

const secrets = { apiKey: 'a'.repeat(32), eventSecret: 'e'.repeat(32) }

describe("acquirer accounts in the operators' API", () => {
  const clock = movedClock()
  const cookies = new Map<string, string>()
  let bank: RunningBank
  let host: Hosted
  let otherChannel: string
  /** Checks of the connector `slow`, which wait for the test. */
  let slowChecks = 0
  let answerSlow = (): void => {}
  const slow = {
    ...acquirerJson,
    name: 'slow',
    check: () => {
      slowChecks += 1
      return new Promise<{ ok: true }>((resolve) => {
        const before = answerSlow
        answerSlow = () => {
          before()
          resolve({ ok: true })
        }
      })
    },
  }

  before(async () => {
    bank = await startBank({ merchantId: 'shop-1', ...secrets })
    host = await startHost(
      { surfaces: ['office'] },
      {
        clock,
        passwordLogRounds: 8,
        fourEyes: true,
        plugins: [
          plugin,
          definePlugin({
            name: 'others',
            contract: 1,
            connectors: [slow],
            authenticators: [scriptedAuthenticator().authenticator],
          }),
        ],
        connectors: { 'acquirer-json': { url: bank.url }, slow: { url: bank.url } },
      },
    )
    const loose = await host.another({ fourEyes: false, clock, passwordLogRounds: 8 })
    const merchant = await loose.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: host.division,
    })
    otherChannel = await loose.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: merchant,
    })
    for (const [name, role, entity] of [
      ['ann', 'admin', null],
      ['bob', 'admin', null],
      ['mia', 'admin', host.merchant],
      ['vic', 'viewer', host.merchant],
    ] as const) {
      const person = await enrol(loose, name, role, entity)
      cookies.set(name, (await logIn(host.url, person, clock)).cookie)
    }
  })
  after(async () => {
    await host.close()
    await bank.close()
  })

  const as = (name: string, path: string, values?: object) =>
    office(host.url, `/operator/v1/accounts${path}`, {
      cookie: cookies.get(name)!,
      ...(values === undefined ? {} : { values }),
    })
  const order = (more: object = {}) => ({
    channelId: host.channel,
    connector: 'acquirer-json',
    mode: 'EXTERNAL',
    brands: 'VISA,MASTER',
    settings: { merchantId: 'shop-1', ...secrets },
    ...more,
  })
  /** What one admin asks for and another agrees to. */
  async function agreed(path: string, values: object): Promise<Record<string, unknown>> {
    const proposed = await as('ann', path, values)
    assert.equal(proposed.status, 202, proposed.text)
    const { proposal } = proposed.body
    // A confirmation has no fields, so it needs no body.
    const confirmed = await office(host.url, `/operator/v1/proposals/${proposal}/confirm`, {
      cookie: cookies.get('bob')!,
      method: 'POST',
      headers: { Origin: host.url },
    })
    assert.equal(confirmed.status, 200, confirmed.text)
    const done = await as('ann', path, { ...values, proposal })
    assert.equal(done.status, 200, done.text)
    return done.body
  }

  test('two people add an account; the list and the account show no secret', async () => {
    const { id } = await agreed('', order())
    const listed = await as('vic', '')
    assert.equal(listed.status, 200, listed.text)
    const entries = listed.body.accounts as { id: string; brands: string[] }[]
    assert.deepEqual(
      entries.map((entry) => [entry.id, entry.brands]),
      [[id, ['VISA', 'MASTER']]],
    )
    const shown = await as('vic', `/${id}`)
    const account = shown.body.account as { secrets: string[] }
    assert.deepEqual(account.secrets, ['apiKey', 'eventSecret'])
    assert.doesNotMatch(
      JSON.stringify([listed.text, shown.text, host.lines, host.logs]),
      /aaaaaaaa|eeeeeeee/,
    )
  })

  test('another secret than the agreed one is refused by the proposal', async () => {
    const { id } = await agreed('', order())
    const values = { secrets: { apiKey: 'b'.repeat(32) } }
    const proposed = await as('ann', `/${id}/rotate`, values)
    const { proposal } = proposed.body
    await office(host.url, `/operator/v1/proposals/${proposal}/confirm`, {
      cookie: cookies.get('bob')!,
      values: {},
    })
    const other = { secrets: { apiKey: 'c'.repeat(32) }, proposal }
    const refused = await as('ann', `/${id}/rotate`, other)
    assert.equal(refused.status, 400, refused.text)
    assert.match(refused.body.result.description, /proposal .*about something else/)
    assert.equal((await as('ann', `/${id}/rotate`, { ...values, proposal })).status, 200)
    const checked = await as('ann', `/${id}/check`, {})
    assert.equal((checked.body.check as { is: string }).is, 'refused')
    await agreed(`/${id}/rotate`, { secrets: { apiKey: secrets.apiKey } })
    const again = await as('ann', `/${id}/check`, {})
    assert.deepEqual(again.body.check, { is: 'accepted' })
  })

  test('one person disables an account, and two enable and change it', async () => {
    const { id } = await agreed('', order())
    assert.equal((await as('ann', `/${id}/disable`, {})).status, 200)
    const active = async () => (await host.gateway.accounts.show(String(id))).active
    assert.equal(await active(), false)
    await agreed(`/${id}/enable`, {})
    assert.equal(await active(), true)
    await agreed(`/${id}`, { brands: 'all', position: '3', settings: { merchantId: 'shop-9' } })
    const { brands, position, settings } = await host.gateway.accounts.show(String(id))
    assert.deepEqual([brands, position, settings], [null, 3, { merchantId: 'shop-9' }])
  })

  test('an account at an authenticator is disabled by two people', async () => {
    const { id } = await agreed(
      '',
      order({ connector: authenticatorName, settings: {}, brands: 'all' }),
    )
    const active = async () => (await host.gateway.accounts.show(String(id))).active
    const alone = await as('ann', `/${id}/disable`, {})
    assert.equal(alone.status, 202, alone.text)
    assert.equal(await active(), true)
    await agreed(`/${id}/disable`, {})
    assert.equal(await active(), false)
  })

  test('of eight requests at once with one proposal, one is carried out and the others are told why', async () => {
    const { id } = await agreed('', order())
    const values = { position: '5' }
    const { proposal } = (await as('ann', `/${id}`, values)).body
    await office(host.url, `/operator/v1/proposals/${proposal}/confirm`, {
      cookie: cookies.get('bob')!,
      values: {},
    })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => as('ann', `/${id}`, { ...values, proposal })),
    )
    const statuses = answers.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
    for (const { status, text, headers } of answers) {
      if (status === 400) assert.match(text, /carried out before/)
      else if (status === 409) assert.match(text, /somebody else has just changed/)
      else if (status === 503) assert.equal(headers.get('retry-after'), '1')
      else assert.equal(status, 200, text)
    }
  })

  test('a lock that others hold is told as a busy database, and not as a wrong proposal', async () => {
    const { id } = await agreed('', order())
    await host.sql('begin')
    await host.sql('select from tollgate.merchant_account where id = $1 for update', [id])
    const waiting = await as('ann', `/${id}/disable`, {})
    await host.sql('rollback')
    assert.deepEqual([waiting.status, waiting.headers.get('retry-after')], [503, '1'], waiting.text)
    assert.equal((await as('ann', `/${id}/disable`, {})).status, 200)
  })

  test('a few checks run at once at one account and for one person, and others get 429', async () => {
    const settings = { merchantId: 'shop-1', ...secrets }
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      ids.push(String((await agreed('', order({ connector: 'slow', settings }))).id))
    }
    const [first, second, third] = ids
    const ofAnn = [first, first, second, second].map((id) => as('ann', `/${id}/check`, {}))
    await until(async () => (slowChecks === 4 ? true : undefined))
    const ofAccount = await as('bob', `/${first}/check`, {})
    const ofPerson = await as('ann', `/${third}/check`, {})
    for (const { status, headers } of [ofAccount, ofPerson]) {
      assert.deepEqual([status, headers.get('retry-after')], [429, '1'])
    }
    const ofBob = as('bob', `/${third}/check`, {})
    await until(async () => (slowChecks === 5 ? true : undefined))
    answerSlow()
    for (const { status } of await Promise.all([...ofAnn, ofBob])) assert.equal(status, 200)
    assert.deepEqual([limits.accountChecksPerAccount, limits.accountChecksPerPerson], [2, 4])
    const again = as('ann', `/${first}/check`, {})
    await until(async () => (slowChecks === 6 ? true : undefined))
    answerSlow()
    assert.equal((await again).status, 200)
  })

  test('an account of another merchant is not there for an operator of this one', async () => {
    const { id } = await agreed('', order({ channelId: otherChannel }))
    for (const [path, values] of [
      [`/${id}`, undefined],
      [`/${id}`, { position: '1' }],
      [`/${id}/check`, {}],
      [`/${id}/disable`, {}],
      [`/${id}/enable`, {}],
      [`/${id}/rotate`, { secrets: { apiKey: 'b'.repeat(32) } }],
    ] as const) {
      const foreign = await as('mia', path, values)
      const unknown = await as('mia', path.replace(String(id), '0'.repeat(32)), values)
      assert.deepEqual([foreign.status, unknown.status], [404, 404], path)
      assert.deepEqual(foreign.body.result, unknown.body.result)
    }
    assert.equal((await as('mia', '', order({ channelId: otherChannel }))).status, 404)
    assert.equal((await as('mia', `?entityId=${otherChannel}`)).status, 404)
    assert.doesNotMatch((await as('mia', '')).text, new RegExp(String(id)))
  })

  test('each wrong field is named', async () => {
    const wrong: [object, string][] = [
      [{ settings: 'text' }, 'settings'],
      [{ settings: { merchantId: 1 } }, 'settings'],
      [{ settings: [] }, 'settings'],
      [{ mode: 'TEST' }, 'mode'],
      [{ connector: 'nobody' }, 'connector'],
      [{ channelId: 'x' }, 'channelId'],
      [{ brands: 'FISA' }, 'brands'],
      [{ brands: ',' }, 'brands'],
      [{ brands: 'VISA,' }, 'brands'],
      [{ brands: ' ' }, 'brands'],
      [{ colour: 'red' }, 'unknown'],
      [{ settings: { merchantId: 'a\u0000b', ...secrets } }, 'settings.merchantId'],
      [{ settings: { merchantId: '\ud800', ...secrets } }, 'settings.merchantId'],
      [
        { settings: { merchantId: 'shop-1', ...secrets, apiKey: '\ud800'.repeat(20) } },
        'settings.apiKey',
      ],
    ]
    for (const [more, name] of wrong) {
      const { status, body, text } = await as('ann', '', order(more))
      assert.equal(status, 400, text)
      assert.equal(body.result.parameterErrors?.[0]?.name, name, text)
    }
    const { id } = await agreed('', order())
    const wrongChanges: [string, object, string][] = [
      ...[' ', '0x1F', '1e2', '-1', '1.0', '1001'].map(
        (position) => ['', { position }, 'position'] as [string, object, string],
      ),
      ['', { brands: ',' }, 'brands'],
      ['', {}, 'settings'],
      ['', { settings: { merchantId: 'x\u009b2K' } }, 'settings.merchantId'],
      ['/rotate', { secrets: { apiKey: `${'b'.repeat(32)}\n` } }, 'secrets.apiKey'],
      ['/rotate', { secrets: { [secrets.apiKey]: 'x' } }, 'secrets'],
    ]
    for (const [path, values, name] of wrongChanges) {
      const { status, body, text } = await as('ann', `/${id}${path}`, values)
      assert.equal(status, 400, `${JSON.stringify(values)} ${text}`)
      assert.equal(body.result.parameterErrors?.[0]?.name, name, text)
      assert.doesNotMatch(text, /aaaaaaaa|bbbbbbbb/)
    }
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, no) => [`s${no}`, 'x']))
    assert.equal((await as('ann', '', order({ settings: many }))).status, 400)
    assert.equal((await as('ann', '?limit=0')).status, 400)
  })
})
