import assert from 'node:assert/strict'
import { contractVersion } from '../../connector.ts'
import { Sensitive } from '../../sensitive.ts'
import { pemKeys } from '../../strict.ts'
import type { Wallet } from '../../wallet.ts'
import { type Canary, leakIn } from '../canary.ts'
import type { TokenFlaw, WalletSandbox } from './sandbox.ts'
import { revealed, scenes, sceneTime, type WalletStage } from './stage.ts'

export type WalletCase = {
  readonly name: string
  readonly without?: (wallet: Wallet, sandbox: WalletSandbox) => string | undefined
  run(stage: WalletStage): void
}

const lacks =
  (flaw: TokenFlaw) =>
  (_: Wallet, sandbox: WalletSandbox): string | undefined =>
    sandbox.without?.[flaw]

const refuses = (flaw: TokenFlaw, name: string): WalletCase => ({
  name,
  without: lacks(flaw),
  run: (stage) => void stage.refused(stage.sandbox.make(stage.scene, flaw), name),
})

const longAgo = new Date(sceneTime.getTime() - 400 * 24 * 60 * 60_000)

const facts: readonly WalletCase[] = [
  {
    name: 'the wallet has a name, a field of the API, and the version of this contract',
    run({ wallet }) {
      assert.match(wallet.name, /^[a-z][a-z0-9-]{0,39}$/)
      assert.ok(['applePay', 'googlePay', 'samsungPay'].includes(wallet.field), wallet.field)
      assert.equal(wallet.contract, contractVersion)
    },
  },
  {
    name: 'settings with private keys are of class secret',
    run({ wallet, sandbox: { settings } }) {
      const tables = [
        [wallet.config, settings.config],
        [wallet.account, settings.account],
      ] as const
      for (const [table, values] of tables) {
        for (const field of table?.fields ?? []) {
          if (pemKeys(String(values[field.name] ?? '')).length === 0) continue
          assert.equal(field.class, 'secret', `${field.name} has a private key`)
        }
      }
    },
  },
  {
    name: 'live trusts no anchor of a test system',
    without: (wallet) => (wallet.trust === undefined ? 'nobody signs its tokens' : undefined),
    run({ wallet, sandbox }) {
      const { roots, testSettings } = wallet.trust!
      assert.ok(testSettings.length > 0, 'trust.testSettings names the settings for test anchors')
      const names = (wallet.config?.fields ?? []).map(({ name }) => name)
      for (const name of testSettings) assert.ok(names.includes(name), `${name} is no setting`)
      const asTest = Object.fromEntries(
        testSettings.map((name) => [name, sandbox.roots.join('\n')]),
      )
      const found = roots(asTest, 'live')
      const anchors = found.is === 'fixed' ? found.anchors : [found.url]
      for (const anchor of sandbox.roots) {
        assert.equal(
          anchors.includes(anchor),
          false,
          'an anchor of testSettings is trusted on live',
        )
      }
    },
  },
  {
    name: 'a fetched document without an anchor is not usable',
    without: (wallet, { settings: { config } }) =>
      wallet.trust?.roots(config, 'test').is === 'document' ? undefined : 'it fetches no document',
    run({ wallet, sandbox }) {
      const { usable } = wallet.trust!
      assert.ok(usable !== undefined, 'trust.usable tells which document may be kept')
      const { config } = sandbox.settings
      for (const anchor of sandbox.roots) assert.equal(usable(anchor, config, sceneTime), true)
      const farAhead = new Date(Date.UTC(9999, 0, 1))
      for (const anchor of sandbox.roots) assert.equal(usable(anchor, config, farAhead), false)
      for (const text of ['', '{}', '[]', 'null', '{"error":{"code":503}}', '<html></html>']) {
        assert.equal(usable(text, config, sceneTime), false, text)
      }
    },
  },
]

const good: readonly WalletCase[] = [
  {
    name: 'a good token gives the card that is in it, and nothing else',
    run(stage) {
      for (const type of stage.types) {
        const scene = scenes[type]
        const said = revealed(stage.opened(stage.sandbox.make(scene), 'a good token opens'))
        assert.equal(said.number, scene.number)
        assert.equal(said.numberType, scene.numberType)
        assert.equal(said.expiryMonth, scene.expiryMonth)
        assert.equal(said.expiryYear, scene.expiryYear)
        assert.equal(said.cryptogram, scene.cryptogram, 'the cryptogram')
        assert.equal(said.eci, scene.eci, 'the ECI, in two digits')
        assert.ok(typeof said.authMethod === 'string' && said.authMethod !== '')
      }
    },
  },
  {
    name: 'a card without an ECI has none',
    without: (_, { numberTypes }) =>
      numberTypes.includes('DPAN') ? undefined : 'no device numbers',
    run(stage) {
      const { eci: _, ...scene } = scenes.DPAN
      assert.equal('eci' in stage.opened(stage.sandbox.make(scene), 'opens without an ECI'), false)
    },
  },
  {
    name: 'the amount and the currency are those of the token',
    without: (_, { namesAmount }) => (namesAmount ? undefined : 'its tokens name no amount'),
    run(stage) {
      for (const amount of [
        stage.scene.amount,
        { minor: 9201n, currency: 'EUR' },
        { minor: 9200n, currency: 'USD' },
      ]) {
        const scene = { ...stage.scene, amount }
        const said = stage.opened(stage.sandbox.make(scene), 'opens').amount
        assert.equal(said?.minor, amount.minor)
        const digits = { EUR: '978', USD: '840' }[amount.currency]
        assert.ok(
          [amount.currency, digits].includes(said?.currency),
          `the currency ${said?.currency}`,
        )
      }
    },
  },
  {
    name: 'a token under the last key opens during a rotation, and no longer after it',
    without: lacks('last-key'),
    run(stage) {
      const token = stage.sandbox.make(stage.scene, 'last-key')
      stage.opened(token, 'a token under the last of several keys opens')
      const { config, account } = stage.sandbox.settings
      const newest = (values: Readonly<Record<string, unknown>>) =>
        typeof values.privateKeys === 'string'
          ? { ...values, privateKeys: `${pemKeys(values.privateKeys)[0]}\n` }
          : values
      stage.refused(token, 'without its key, a token is refused', {
        config: newest(config),
        account: newest(account),
      })
    },
  },
]

const replays: readonly WalletCase[] = [
  {
    name: 'a token has the same replay id whenever it is opened, and another token has another',
    run(stage) {
      const [one, other] = [stage.sandbox.make(stage.scene), makeOther(stage)]
      const [first, again, different] = [one, one, other].map(
        (token) => stage.opened(token, 'opens').replayId,
      )
      assert.ok(first !== '', 'a replay id')
      assert.equal(again, first, 'the same token, the same id')
      assert.notEqual(different, first, 'another token, another id')
    },
  },
  {
    name: 'a token in another spelling is refused, or has the same replay id',
    without: (_, { respelled }) =>
      respelled === undefined ? 'its sandbox makes no other spellings' : undefined,
    run(stage) {
      const token = stage.sandbox.make(stage.scene)
      const whole = revealed(stage.opened(token, 'opens'))
      for (const [index, text] of stage.sandbox.respelled!(token).entries()) {
        assert.notEqual(text, token, 'another spelling is another text')
        const answer = stage.open(text)
        if (answer.is === 'opened') assert.deepEqual(revealed(answer), whole, `spelling ${index}`)
      }
    },
  },
  {
    name: 'a token opens until replayUntil, and is refused from then on',
    run(stage) {
      const token = stage.sandbox.make(stage.scene)
      const { replayUntil } = stage.opened(token, 'opens')
      assert.ok(replayUntil.getTime() > sceneTime.getTime(), 'replayUntil lies ahead')
      stage.opened(token, 'opens until replayUntil', { at: new Date(replayUntil.getTime() - 1) })
      stage.refused(token, 'a token is refused from replayUntil on', { at: replayUntil })
    },
  },
  {
    name: 'an old token is refused',
    run(stage) {
      stage.refused(stage.sandbox.make({ ...stage.scene, at: longAgo }), 'an old token is refused')
    },
  },
]

const forgeries: readonly WalletCase[] = [
  refuses('cut-tag', 'a token whose tag is cut is refused'),
  refuses('wrong-tag', 'a token whose tag does not fit is refused'),
  refuses('foreign-key', 'a token for a key of somebody else is refused'),
  refuses('old-version', 'a token of a version or an algorithm that is not allowed is refused'),
  refuses('no-card', 'a token without a card is refused'),
  {
    name: 'a token for another merchant is refused',
    without: lacks('foreign-recipient'),
    run(stage) {
      const token = stage.sandbox.make(stage.scene, 'foreign-recipient')
      stage.refused(token, 'a token for another merchant is refused')
      const own = stage.sandbox.make(stage.scene)
      stage.refused(own, 'another merchant cannot open a token of ours', {
        account: stage.sandbox.foreignAccount,
      })
    },
  },
  {
    name: 'a token that another authority signed is refused, although it is perfect otherwise',
    without: lacks('foreign-root'),
    run(stage) {
      const { sandbox } = stage
      const token = sandbox.make(stage.scene, 'foreign-root')
      stage.opened(token, 'opens where its authority is trusted', { roots: sandbox.foreignRoots })
      stage.refused(token, 'a token of another authority is refused')
      stage.refused(token, 'a token without any anchor is refused', { roots: [] })
    },
  },
  {
    name: 'a token that was altered anywhere is refused, or is the same token',
    run(stage) {
      const token = stage.sandbox.make(stage.scene)
      const whole = revealed(stage.opened(token, 'opens'))
      for (let at = 0; at < token.length; at += stepOf(token)) {
        const other = token[at] === 'A' ? 'B' : 'A'
        const altered = token.slice(0, at) + other + token.slice(at + 1)
        const answer = stage.open(altered)
        if (answer.is === 'opened') assert.deepEqual(revealed(answer), whole, `altered at ${at}`)
      }
    },
  },
  {
    name: 'any text is answered',
    run(stage) {
      const token = stage.sandbox.make(stage.scene)
      const texts = [
        '',
        ' ',
        '{}',
        '[]',
        'null',
        '"',
        '....',
        '\u0000',
        '['.repeat(16_000),
        'é'.repeat(999),
      ]
      for (const text of [
        ...texts,
        token.slice(1),
        token.slice(0, -1),
        `${token} x`,
        token + token,
      ]) {
        stage.refused(text, 'a text that is no token is refused')
      }
    },
  },
]

const secrets: readonly WalletCase[] = [
  {
    name: 'number, cryptogram and keys are in no answer and in nothing that is written',
    run(stage) {
      const { config, account } = stage.sandbox.settings
      const keys: Canary[] = [config.privateKeys, account.privateKeys].flatMap((text) =>
        typeof text === 'string'
          ? pemKeys(text).map((pem) => ({ name: 'a private key', value: pem.split('\n')[2]! }))
          : [],
      )
      for (const type of stage.types) {
        const scene = scenes[type]
        const canaries: Canary[] = [
          ...keys,
          { name: 'number', value: scene.number },
          ...(scene.cryptogram === undefined
            ? []
            : [{ name: 'cryptogram', value: scene.cryptogram }]),
        ]
        const answers = [
          stage.opened(stage.sandbox.make(scene), 'opens'),
          ...(['wrong-tag', 'no-card', 'foreign-key'] as const).map((flaw) =>
            stage.open(stage.sandbox.make(scene, flaw)),
          ),
        ]
        assert.ok(Sensitive.is((answers[0] as { number: unknown }).number), 'number is Sensitive')
        // JSON has no bigint.
        const json = (_: string, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value
        for (const told of [
          ...answers,
          ...answers.map((one) => JSON.stringify(one, json)),
          stage.written,
        ]) {
          assert.equal(leakIn(told, canaries), undefined)
        }
      }
    },
  },
]

function makeOther(stage: WalletStage): string {
  const { sandbox, scene } = stage
  return sandbox.make({
    ...scene,
    ...(scene.cryptogram !== undefined && { cryptogram: 'AgAAAAAABQrqUtnic6MLQAAAAAA=' }),
  })
}

/** A few hundred places of a token, whatever its length. */
const stepOf = (token: string) => Math.max(1, Math.floor(token.length / 300))

export const walletParts: Readonly<Record<string, readonly WalletCase[]>> = {
  facts,
  'good tokens': good,
  'tokens that come again': replays,
  'forged and foreign tokens': forgeries,
  secrets,
}
