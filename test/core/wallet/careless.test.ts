/** A wallet is code of somebody else: what it throws or leaves out pays nothing, and tells nothing. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  definePlugin,
  defineWallet,
  type OpenedToken,
  PluginError,
  Sensitive,
  type Wallet,
} from '@tollgate/plugin-kit'
import { GatewayError } from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { cryptogram, deviceNumber } from '../../rig/wallets.ts'

const card: OpenedToken = {
  is: 'opened',
  number: new Sensitive(deviceNumber),
  numberType: 'DPAN',
  expiryMonth: '05',
  expiryYear: '2034',
  cryptogram: new Sensitive(cryptogram),
  replayId: 'one',
  replayUntil: new Date(Date.now() + 60 * 60_000),
  authMethod: 'test',
}

const without = (name: keyof OpenedToken) => {
  const { [name]: _, ...rest } = card
  return rest
}

const wrong: Readonly<Record<string, () => unknown>> = {
  'an error that quotes the token': () => {
    throw Object.assign(new Error(`cannot open ${deviceNumber} with ${cryptogram}`), {
      deviceNumber,
    })
  },
  'something that is no error': () => {
    throw deviceNumber
  },
  nothing: () => undefined,
  'a promise': async () => card,
  'a number in clear': () => ({ ...card, number: deviceNumber }),
  'a number with letters': () => ({ ...card, number: new Sensitive('4895x') }),
  'a device number without a cryptogram': () => without('cryptogram'),
  'no replay id': () => without('replayId'),
  'an empty replay id': () => ({ ...card, replayId: '' }),
  'no end of the replay': () => without('replayUntil'),
  'an end that is no time': () => ({ ...card, replayUntil: new Date(Number.NaN) }),
  'a month with one digit': () => ({ ...card, expiryMonth: '5' }),
  'another kind of number': () => ({ ...card, numberType: 'TOKEN' }),
}

describe('a careless wallet', () => {
  let run: TestGateway
  let answer: () => unknown = () => card
  const wallet = (more: Partial<Wallet> = {}): Wallet => ({
    ...defineWallet({
      name: 'careless-pay',
      title: 'Careless Pay',
      field: 'applePay',
      contract: 1,
      open: () => answer() as OpenedToken,
    }),
    ...more,
  })
  const pluginOf = (...wallets: Wallet[]) =>
    definePlugin({ name: 'careless', contract: 1, wallets })

  before(async () => {
    run = await startGateway({ plugins: [pluginOf(wallet())] })
    await run.gateway.accounts.add({
      channelId: run.channel,
      connector: 'careless-pay',
      mode: 'EXTERNAL',
      settings: {},
    })
  })
  after(() => run.close())

  const pay = () =>
    run.gateway.payments.create({
      entityId: run.channel,
      ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB' },
      applePay: { paymentToken: 'anything' },
    } as never)

  for (const [name, given] of Object.entries(wrong)) {
    test(`${name}: refused like any token, and nothing is told`, async () => {
      answer = given
      await assert.rejects(pay(), (error) => {
        assert.ok(error instanceof GatewayError, String(error))
        assert.equal(error.code, '200.300.404')
        assert.deepEqual(
          error.parameterErrors.map((one) => one.name),
          ['applePay.paymentToken'],
        )
        return true
      })
    })
  }

  test('logs and tables have nothing of what it threw', async () => {
    const rows = await run.sql('select * from tollgate.step')
    const told = JSON.stringify([run.logs, rows])
    for (const secret of [deviceNumber, cryptogram]) assert.equal(told.includes(secret), false)
    assert.ok(run.logs.some(({ message }) => message === 'a wallet threw'))
  })

  test('a right answer pays, once', async () => {
    answer = () => card
    assert.equal((await pay()).result.code, '000.100.110')
    await assert.rejects(pay(), GatewayError)
  })

  test('facts that cannot be are found at the start', async () => {
    const start = (...wallets: Wallet[]) => startGateway({ plugins: [pluginOf(...wallets)] })
    const cases: [Wallet[], RegExp][] = [
      [[wallet({ name: 'Careless' })], /lower-case/],
      [[wallet({ contract: 2 })], /contract/],
      [[wallet({ field: 'otherPay' as never })], /field must be/],
      [[wallet({ open: undefined as never })], /has no open/],
      [[wallet(), wallet({ name: 'second-pay' })], /another wallet opens applePay/],
    ]
    for (const [wallets, why] of cases) {
      await assert.rejects(start(...wallets), (error) => {
        assert.ok(error instanceof PluginError, String(error))
        assert.match(error.message, why)
        return true
      })
    }
  })
})
