/** Settings of connectors under names that nobody reads. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  definePlugin,
  none,
  O,
  type Plugin,
  PluginError,
  request,
  settings,
} from '@tollgate/plugin-kit'
import adyen from '../../connectors/adyen/index.ts'
import applePay from '../../connectors/apple-pay/index.ts'
import googlePay from '../../connectors/google-pay/index.ts'
import { checkPlugins, createGateway, localKeys } from '../../core/index.ts'
import { scriptedAcquirer } from '../rig/acquirer.ts'
import { testKey } from '../rig/gateway.ts'

describe('settings of connectors', () => {
  const { plugin } = scriptedAcquirer()
  const [connector] = plugin.connectors!
  const config = settings('Acme', [
    ['region', { kind: 'text', min: 1, max: 8 }, O, request, none, 'The region of the account.'],
    ['url', { kind: 'url', max: 200 }, O, request, none, 'Base URL of the API.'],
  ])
  const configured = definePlugin({
    ...plugin,
    connectors: [
      { ...connector!, name: 'acme', config },
      { ...connector!, name: 'plain' },
    ],
  })
  const refusal = (
    configs: Record<string, Record<string, unknown>>,
    reach?: Parameters<typeof checkPlugins>[2],
  ) => {
    try {
      checkPlugins([configured], configs, reach)
      return undefined
    } catch (error) {
      assert.ok(error instanceof PluginError, String(error))
      return error.message
    }
  }

  test('a name that no plugin brings is refused, with the names that are there', () => {
    const strange =
      'connectors.acem belongs to no connector, authenticator or wallet; did you mean acme? (there are: acme, plain)'
    assert.equal(refusal({ acem: { region: 'eu' } }), strange)
    assert.equal(refusal({ acem: {} }), strange)
    assert.equal(refusal({ acem: {}, plian: {} })!.match(/belongs to no/g)!.length, 2)
    // The settings are missing under the right name, which alone would not tell why.
    const long = refusal({ acem: { region: 'eu' }, acme: { region: 'a long region' } })!
    assert.ok(long.startsWith(`${strange}; connectors.acme.region is "a long region": `), long)
    assert.equal(refusal({ acme: { region: 'eu' }, plain: {} }), undefined)
  })

  test('a setting that is none is named, with the one that is near', () => {
    assert.match(
      refusal({ acme: { regoin: 'eu' } })!,
      /acme\.regoin is no setting; did you mean region\?/,
    )
  })

  test('settings of a connector that takes none are refused', () => {
    assert.match(refusal({ plain: { region: 'eu' } })!, /^connectors\.plain: it takes no settings/)
  })

  test('a URL that no request reaches is refused by its name, as the calls of accounts refuse it', async () => {
    const at = (url: string) => ({ acme: { url } })
    const live = { environment: 'live', allowLoopback: true } as const
    const refused = {
      'http://bank.example': 'must be an https URL',
      'http://127.0.0.1:9090': 'must be an https URL',
      'https://127.0.0.1:9090': 'must lead to a public address',
      'https://10.0.0.5/api': 'must lead to a public address',
    }
    for (const [url, why] of Object.entries(refused)) {
      assert.equal(refusal(at(url), live), `connectors.acme.url is "${url}": ${why}`)
    }
    for (const url of ['https://me:secret@bank.example', 'https:me:secret@bank.example']) {
      const why = 'must not contain a user name or a password'
      assert.equal(refusal(at(url), live), `connectors.acme.url is wrong: ${why}`)
    }
    assert.match(
      refusal(at('ftp://me:secret@bank.example'))!,
      /^connectors\.acme\.url is wrong: use /,
    )
    for (const url of [
      'ftp:me:secret',
      'acme:me:secret',
      'https://bank.example:secret',
      'https://me:secret%40bank.example/',
      'http://me:7/secret%40bank.example/',
      'https://me:secret\uff20bank.example/',
      'http://me:7/secret\uff20bank.example/',
      'https:\\\\me:secret\\bank.example',
      'bank.example?key=secret',
      `https://bank.example/${'x'.repeat(200)}@secret`,
    ]) {
      assert.match(
        refusal(at(url), live) ?? url,
        /^connectors\.acme\.url is wrong: (use|must be an https) /,
      )
    }
    assert.equal(
      refusal(at('http://192.168.0.1:81/api?key=secret#secret'), live),
      'connectors.acme.url is "http://192.168.0.1:81/api": must be an https URL',
    )
    assert.equal(refusal(at('https://bank.example'), live), undefined)
    assert.equal(refusal(at('http://127.0.0.1:9090'), { environment: 'test' }), undefined)
    assert.match(
      refusal(at('http://127.0.0.1:9090'), { environment: 'test', allowLoopback: false })!,
      /https/,
    )
    const start = createGateway({
      database: { url: 'postgres://127.0.0.1:1/nowhere' },
      plugins: [configured],
      connectors: at('http://bank.example'),
      environment: 'live',
      keys: localKeys(testKey),
    })
    await assert.rejects(start, { name: 'PluginError', message: /^connectors\.acme\.url is / })
  })

  test('on live, a URL for the test environment and a default stop no start', () => {
    const refused = (
      plugin: Plugin,
      settings: Record<string, unknown>,
      environment: 'test' | 'live' = 'live',
    ) => {
      const configs = { [plugin.connectors?.[0]?.name ?? plugin.name]: settings }
      try {
        checkPlugins([plugin], configs, { environment, allowLoopback: false })
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    }
    const url = 'http://127.0.0.1:4600/v71'
    for (const [plugin, name] of [
      [adyen, 'url'],
      [adyen, 'reportUrl'],
      [applePay, 'testSessionUrl'],
      [googlePay, 'testRootKeysUrl'],
    ] as const) {
      assert.equal(refused(plugin, { [name]: url }), undefined)
      assert.match(refused(plugin, { [name]: url }, 'test')!, new RegExp(`\\.${name} is "http:`))
    }
    assert.match(refused(googlePay, { rootKeysUrl: url })!, /rootKeysUrl is "http:/)
    const config = settings('Acme', [
      ['url', { kind: 'url', max: 200 }, O, request, none, 'Base URL.', { default: url }],
    ])
    const own = definePlugin({ ...plugin, connectors: [{ ...connector!, name: 'acme', config }] })
    assert.equal(refused(own, {}), undefined)
    assert.match(refused(own, { url: `${url}/x` })!, /url is "http:.*https URL/)
  })
})
