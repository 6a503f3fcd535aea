/** A merchant sends a wallet's token as the device made it, and the acquirer gets the card in it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Card, Operation } from '@tollgate/plugin-kit'
import { GatewayError } from '../../../core/index.ts'
import {
  cardNumber,
  cryptogram,
  deviceNumber,
  type Field,
  startWithWallets,
  tokenOf,
  type WalletRun,
  walletBrands,
  walletFields,
} from '../../rig/wallets.ts'

describe("payments with a wallet's token", () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets({ publicUrl: 'https://pay.example' })
  })
  after(() => run.close())

  let count = 0
  /** A debit of 92.00 EUR at the scripted acquirer. */
  const pay = (field: Field, token: string, more: Record<string, unknown> = {}) => {
    count += 1
    const reference = `wallet-${count}`
    const payment = run.gateway.payments.create({
      entityId: run.channel,
      amount: '92.00',
      currency: 'EUR',
      paymentType: 'DB',
      paymentBrand: walletBrands[field],
      testMode: 'EXTERNAL',
      merchantTransactionId: reference,
      [field]: { paymentToken: token },
      ...more,
    } as never)
    const sent = (): Operation[] =>
      run.acquirer.calls
        .filter((call) => call.reference === reference)
        .map(({ operation }) => operation)
    return { payment, sent }
  }

  const refusal = async (payment: Promise<unknown>): Promise<GatewayError> => {
    const error = await payment.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof GatewayError, `refused, and not ${String(error)}`)
    return error
  }

  for (const field of walletFields) {
    describe(field, () => {
      test('the acquirer gets the device number with its cryptogram and ECI', async () => {
        const { payment, sent } = pay(field, tokenOf(run.devices[field], { cryptogram }))
        const view = await payment
        assert.match(view.result.code, /^000\.100\.11/)
        assert.equal(view.paymentBrand, 'VISA')
        const [operation, ...others] = sent()
        assert.equal(others.length, 0)
        const card = operation!.instrument as Card
        assert.equal(card.number.reveal(), deviceNumber)
        assert.equal(card.numberType, 'DPAN')
        assert.deepEqual([card.expiryMonth, card.expiryYear, card.cvv], ['05', '2034', undefined])
        assert.equal(operation!.threeDSecure?.verificationId?.reveal(), cryptogram)
        assert.equal(operation!.threeDSecure?.eci, '05')
      })

      test('the simulator takes device numbers', async () => {
        const { payment } = pay(field, tokenOf(run.devices[field]), { testMode: 'INTERNAL' })
        assert.equal((await payment).result.code, '000.100.110')
      })

      test('a token is refused with one error, whatever is wrong with it', async () => {
        const sandbox = run.devices[field]
        const flaws = [
          'cut-tag',
          'wrong-tag',
          'foreign-root',
          'foreign-recipient',
          'foreign-key',
        ] as const
        const tokens = [
          ...flaws
            .filter((flaw) => sandbox.without?.[flaw] === undefined)
            .map((flaw) => tokenOf(sandbox, {}, flaw)),
          tokenOf(sandbox, {}, 'old-version'),
          tokenOf(sandbox, {}, 'no-card'),
          tokenOf(sandbox, { at: new Date(Date.now() - 400 * 24 * 60 * 60_000) }),
          tokenOf(sandbox).slice(0, -9),
          'no token at all',
        ]
        const before = await run.sql('select id from tollgate.payment')
        const told = new Set<string>()
        for (const token of tokens) {
          const { payment, sent } = pay(field, token)
          const { code, status, message, parameterErrors } = await refusal(payment)
          told.add(JSON.stringify({ code, status, message, parameterErrors }))
          assert.equal(sent().length, 0)
        }
        assert.equal(told.size, 1, [...told].join('\n'))
        const [one] = [...told].map((text) => JSON.parse(text))
        assert.deepEqual([one.code, one.status], ['200.300.404', 400])
        assert.deepEqual(
          one.parameterErrors.map(({ name, value }: { name: string; value?: string }) => [
            name,
            value,
          ]),
          [[`${field}.paymentToken`, undefined]],
        )
        assert.equal((await run.sql('select id from tollgate.payment')).length, before.length)
      })
    })
  }

  for (const field of ['applePay', 'samsungPay'] as const) {
    describe(field, () => {
      test('another amount or currency than the shopper saw is refused before anything is written', async () => {
        const count = async () =>
          (
            await run.sql(`select id::text from tollgate.payment
            union all select payment_id::text from tollgate.wallet_replay`)
          ).length
        const before = await count()
        const token = tokenOf(run.devices[field])
        const amount = pay(field, token, { amount: '92.01' })
        assert.deepEqual(
          (await refusal(amount.payment)).parameterErrors.map(({ name }) => name),
          ['amount'],
        )
        const currency = pay(field, token, { currency: 'USD' })
        assert.deepEqual(
          (await refusal(currency.payment)).parameterErrors.map(({ name }) => name),
          ['currency'],
        )
        assert.equal(amount.sent().length + currency.sent().length, 0)
        assert.equal(await count(), before)
        // The token was not used up.
        assert.match((await pay(field, token).payment).result.code, /^000\./)
      })
    })
  }

  test('a token that proves nothing about the shopper gives a plain card', async () => {
    const token = tokenOf(run.devices.googlePay, { numberType: 'PAN', number: cardNumber })
    const { payment, sent } = pay('googlePay', token)
    await payment
    const card = sent()[0]!.instrument as Card
    assert.equal(card.number.reveal(), cardNumber)
    assert.equal(card.numberType, 'PAN')
    assert.equal(sent()[0]!.threeDSecure, undefined)
  })

  test('a token decides the brand of the card, and dispatching knows the wallet', async () => {
    const { gateway, merchant, channel, devices } = run
    await gateway.entities.dispatching.add(merchant, {
      priority: 1,
      channelId: channel,
      brands: ['SAMSUNGPAY'],
    })
    const more = { entityId: merchant }
    const paid = await pay('samsungPay', tokenOf(devices.samsungPay), more).payment
    assert.equal(paid.paymentBrand, 'VISA')
    const other = pay('applePay', tokenOf(devices.applePay), more)
    assert.equal((await refusal(other.payment)).code, '600.200.500')
  })

  test('an expired card in a token is refused under the name of the token', async () => {
    const token = tokenOf(run.devices.googlePay, { expiryYear: '2021' })
    const { code, parameterErrors } = await refusal(pay('googlePay', token).payment)
    assert.equal(code, '100.100.303')
    assert.deepEqual(
      parameterErrors.map(({ name }) => name),
      ['googlePay.paymentToken'],
    )
  })

  test('JSON in several lines is the same token', async () => {
    const token = JSON.parse(tokenOf(run.devices.googlePay)) as object
    const { payment } = pay('googlePay', JSON.stringify(token, undefined, 2))
    assert.match((await payment).result.code, /^000\./)
  })

  test('a token with a card number or a cryptogram beside it is ambiguous', async () => {
    const token = tokenOf(run.devices.applePay)
    for (const more of [
      { card: { number: cardNumber, expiryMonth: '05', expiryYear: '2034' } },
      { threeDSecure: { verificationId: cryptogram, eci: '05' } },
      { googlePay: { paymentToken: tokenOf(run.devices.googlePay) } },
    ]) {
      const { code, parameterErrors } = await refusal(pay('applePay', token, more).payment)
      assert.equal(code, '200.300.404')
      assert.ok(parameterErrors.some(({ name }) => name === 'applePay.paymentToken'))
    }
  })

  test('a channel without an account at the wallet says so', async () => {
    const { gateway, merchant } = run
    const entityId = await gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: merchant,
    })
    const token = tokenOf(run.devices.applePay)
    const { code, parameterErrors } = await refusal(pay('applePay', token, { entityId }).payment)
    assert.equal(code, '600.200.200')
    assert.match(parameterErrors[0]!.message, /no active account at the wallet apple-pay/)
  })

  test('a registration keeps the card of a token, and a payment keeps it on the way', async () => {
    const { gateway, devices, channel } = run
    const fields = { entityId: channel, testMode: 'EXTERNAL' }
    const made = await gateway.registrations.create({
      ...fields,
      applePay: { paymentToken: tokenOf(devices.applePay) },
    } as never)
    assert.match(made.result.code, /^000\./)
    const kept = pay('googlePay', tokenOf(devices.googlePay), { createRegistration: 'true' })
    const ids = [made.id, (await kept.payment).registrationId as string]
    for (const [index, id] of ids.entries()) {
      const reference = `stored-${index}`
      await gateway.registrations.pay(id, {
        ...fields,
        ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB' },
        merchantTransactionId: reference,
      } as never)
      const call = run.acquirer.calls.find((one) => one.reference === reference)!
      const card = call.operation.instrument as Card
      assert.equal(card.number.reveal(), deviceNumber)
      assert.equal(card.numberType, 'DPAN')
      assert.equal(call.operation.threeDSecure?.verificationId, undefined, 'used once')
    }
  })
})
