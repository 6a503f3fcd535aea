/** Whoever has a token learns nothing of the number in it beyond the ten digits that every answer shows. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GatewayError } from '../../../core/index.ts'
import { sameEnds } from '../../rig/same-ends.ts'
import {
  startWithWallets,
  tokenOf,
  type WalletRun,
  walletBrands,
  walletFields,
} from '../../rig/wallets.ts'
import { newCheckout, press } from '../checkout/rig.ts'

describe('guesses about the number in a token', () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets({ publicUrl: 'https://pay.example' })
  })
  after(() => run.close())

  const [secret, ...others] = sameEnds(40) as [string, ...string[]]
  const ownCard = () => tokenOf(run.devices.googlePay, { numberType: 'PAN', number: secret })

  const answerTo = async (
    token: string,
    more: Record<string, unknown> = {},
    field: (typeof walletFields)[number] = 'googlePay',
  ) => {
    const sent = run.gateway.payments.create({
      entityId: run.channel,
      ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB', testMode: 'EXTERNAL' },
      paymentBrand: walletBrands[field],
      [field]: { paymentToken: token },
      ...more,
    } as never)
    return sent.then(
      () => 'paid',
      (error: unknown) => {
        assert.ok(error instanceof GatewayError, String(error))
        const { code, parameterErrors } = error
        return JSON.stringify({ code, parameterErrors })
      },
    )
  }
  const inText = (...numbers: string[]) => ({
    customParameters: { guess: `11111${numbers.join('')}11111` },
  })

  test('a text with the number is refused like a text with any number of the same ends', async () => {
    const token = ownCard()
    const told = new Set<string>()
    for (const number of [secret, ...others]) told.add(await answerTo(token, inText(number)))
    told.add(await answerTo(token, inText(...others)))
    assert.equal(told.size, 1, [...told].join('\n'))
    assert.match([...told][0]!, /customParameters\[guess\]/)
    // Nothing of it used the token up.
    assert.equal(await answerTo(token, inText('4111111111111111')), 'paid')
  })

  test('a used token answers nothing but that it cannot be paid with', async () => {
    const token = ownCard()
    assert.equal(await answerTo(token), 'paid')
    const used = await answerTo(token)
    assert.equal(await answerTo(token, inText(secret)), used)
    assert.equal(await answerTo(token, inText(others[0]!)), used)
    assert.equal(await answerTo(token, { amount: '93.00' }), used)
  })

  for (const field of walletFields) {
    test(`${field}: a used token looks like a forged one, whatever brand is sent with it`, async () => {
      const token = tokenOf(run.devices[field])
      assert.equal(await answerTo(token, {}, field), 'paid')
      const forged = tokenOf(run.devices[field], {}, 'wrong-tag')
      for (const more of [{}, { paymentBrand: 'MASTER' }]) {
        assert.equal(await answerTo(token, more, field), await answerTo(forged, more, field))
      }
    })
  }

  test('at a checkout a guess with a used token is refused like the token itself', async () => {
    const submitted = (token: string, userAgent = 'Mozilla/5.0') => ({
      ...{ card: undefined, paymentBrand: 'GOOGLEPAY', googlePay: { paymentToken: token } },
      customer: { browser: { userAgent } },
    })
    const token = ownCard()
    const paid = await press(run.gateway, await newCheckout(run), submitted(token))
    assert.equal(paid.state, 'paid')
    const id = await newCheckout(run)
    const plain = await press(run.gateway, id, submitted(token))
    assert.equal(plain.state, 'invalid')
    for (const guess of [secret, ...others.slice(0, 3)]) {
      const reply = await press(run.gateway, id, submitted(token, `11111${guess}11111`))
      assert.deepEqual(reply, plain)
    }
    // With a token that could pay, each number of the same ends is a decline.
    const fresh = ownCard()
    const other = await newCheckout(run)
    for (const guess of [secret, others[0]!]) {
      const reply = await press(run.gateway, other, submitted(fresh, `11111${guess}11111`))
      assert.equal(reply.state, 'declined')
    }
  })
})
