/** Parts of authentications by themselves: answers that are none, secrets in memory, and the second try. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Authenticator, definePlugin, PluginError, Sensitive } from '@tollgate/plugin-kit'
import { Registry } from '../../../core/connector/registry.ts'
import { checkedAuthentication } from '../../../core/three-d-secure/checked.ts'
import { mayReauthenticate, reauthenticate } from '../../../core/three-d-secure/soft-decline.ts'
import { HeldSecrets } from '../../../core/vault/held-secrets.ts'
import { limits } from '../../../schemas/index.ts'
import { scriptedAcquirer } from '../../rig/acquirer.ts'
import { confirmed, scriptedAuthenticator } from '../../rig/authenticator.ts'

describe('answers of authenticators', () => {
  const bad: Record<string, unknown> = {
    nothing: undefined,
    'a text': 'authenticated',
    'an unknown word': { is: 'approved' },
    'no version': confirmed({ version: undefined }),
    'a version that is none': confirmed({ version: 'two' }),
    'a proof in clear': confirmed({ verificationId: 'Q0FWVi1mb3ItYS10ZXN0LW9ubHk=' }),
    'a proof that is no text': confirmed({ verificationId: new Sensitive(7) }),
    'an amount that is none': confirmed({ amount: { minor: 1, currency: 'EUR' } }),
    'a currency that is none': confirmed({ amount: { minor: 1n, currency: 'XXX' } }),
    'a status that is none': { is: 'failed', status: 'Y' },
    'no page': { is: 'shopper' },
    'a page that is a pause': { is: 'shopper', next: { poll: 60_000 } },
    'no pause': { is: 'decoupled' },
    'a pause backwards': { is: 'decoupled', poll: -1 },
  }
  for (const [what, said] of Object.entries(bad)) {
    test(`${what} is no answer`, () => {
      assert.equal(checkedAuthentication(said).is, 'unknown')
    })
  }

  test('values of the wrong form are dropped, and the answer counts', () => {
    const said = checkedAuthentication(
      confirmed({ eci: 'five', dsTransactionId: '4200000000000000', memo: () => 1 }),
    )
    assert.equal(said.is, 'authenticated')
    assert.ok(!('eci' in said) && !('dsTransactionId' in said) && !('memo' in said))
  })

  test('a getter is read once', () => {
    let reads = 0
    const said = checkedAuthentication({
      get is() {
        reads += 1
        return reads === 1 ? 'cancelled' : 'authenticated'
      },
    })
    assert.equal(said.is, 'cancelled')
  })
})

describe('authenticators of plugins', () => {
  const { authenticator } = scriptedAuthenticator()
  const load = (...authenticators: readonly unknown[]) =>
    new Registry(
      [
        scriptedAcquirer().plugin,
        definePlugin({
          name: 'three',
          contract: 1,
          authenticators: authenticators as readonly Authenticator[],
        }),
      ],
      {},
    )

  test('one is found by its name and its mode, and is no connector of a mode', () => {
    const registry = load(authenticator)
    assert.equal(registry.get('scripted-3ds')?.authenticator, authenticator)
    assert.deepEqual(
      registry.authenticatorsForMode('INTERNAL').map(({ connector }) => connector.name),
      ['scripted-3ds'],
    )
    assert.equal(registry.forMode('INTERNAL'), undefined)
  })

  for (const [what, wrong, code] of [
    ['the name of a connector', { ...authenticator, name: 'scripted' }, 'duplicate-name'],
    ['a name that is none', { ...authenticator, name: 'Three D' }, 'bad-name'],
    ['another contract', { ...authenticator, contract: 2 }, 'contract-version'],
    ['no enquire', { ...authenticator, enquire: undefined }, 'missing-handler'],
    ['no scheme', { ...authenticator, supports: { schemes: [], versions: [] } }, 'missing-handler'],
  ] as const) {
    test(`one with ${what} is refused at the start`, () => {
      assert.throws(
        () => load(wrong),
        (error) => {
          assert.ok(error instanceof PluginError)
          assert.equal(error.code, code)
          return true
        },
      )
    })
  }
})

describe('secrets that wait in memory', () => {
  const held = () => {
    const clock = { ms: 0, elapsedMs: () => clock.ms }
    return { clock, secrets: new HeldSecrets(clock) }
  }
  const code = (text: string) => new Sensitive(text)

  test('one is for one use', () => {
    const { secrets } = held()
    secrets.put('a', code('123'), 'shop')
    assert.equal(secrets.take('a')?.reveal(), '123')
    assert.equal(secrets.take('a'), undefined)
  })

  test('one is erased, or goes after its time', () => {
    const { clock, secrets } = held()
    secrets.put('a', code('123'), 'shop')
    secrets.put('b', code('456'), 'shop')
    secrets.erase('a')
    assert.equal(secrets.take('a'), undefined)
    clock.ms = limits.heldSecretsMs
    assert.equal(secrets.take('b'), undefined)
    assert.equal(secrets.size, 0)
  })

  test('with too many, the oldest goes', () => {
    const { secrets } = held()
    for (let no = 0; no <= limits.heldSecrets; no += 1) secrets.put(`k${no}`, code('123'), 'shop')
    assert.equal(secrets.size, limits.heldSecrets)
    assert.equal(secrets.take('k0'), undefined)
    assert.ok(secrets.take('k1') !== undefined)
  })

  test('a merchant with many pushes out its own, and never those of another', () => {
    const { secrets } = held()
    secrets.put('first', code('123'), 'small shop')
    for (let no = 0; no < 2 * limits.heldSecrets; no += 1) {
      secrets.put(`k${no}`, code('123'), 'large shop')
    }
    secrets.put('second', code('456'), 'small shop')
    assert.equal(secrets.size, limits.heldSecrets)
    assert.equal(secrets.take('first')?.reveal(), '123')
    assert.equal(secrets.take('second')?.reveal(), '456')
  })
})

describe('the second try after a soft decline', () => {
  const soft = { state: 'declined', resultCode: '300.100.100', request: {} }
  const on = { settings: { threeDSecure: 'on' } }

  test('there is one, where the gateway authenticates', () => {
    assert.equal(mayReauthenticate(soft, on), true)
    assert.equal(mayReauthenticate(soft, { settings: {} }), false)
    assert.equal(mayReauthenticate({ ...soft, resultCode: '800.100.152' }, on), false)
    assert.equal(mayReauthenticate({ ...soft, state: 'pending' }, on), false)
    assert.equal(
      mayReauthenticate({ ...soft, request: { threeDSecure: { eci: '05' } } }, on),
      false,
    )
  })

  test('it asks for a challenge, so that no third one follows', () => {
    const request = { fields: { amount: '1.00' }, names: [['amount', '1.00']] } as const
    const second = reauthenticate(request)
    assert.deepEqual(second.fields, {
      amount: '1.00',
      threeDSecure: { challengeIndicator: '04' },
    })
    assert.deepEqual(second.names.at(-1), ['threeDSecure.challengeIndicator', '04'])
    assert.equal(mayReauthenticate({ ...soft, request: second.fields }, on), false)
  })
})
