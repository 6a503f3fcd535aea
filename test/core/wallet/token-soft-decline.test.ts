/** The issuer wants the shopper of a token authenticated that proves nothing: one second payment asks for a challenge. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { declined } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import {
  type AuthenticatingRun,
  challenge,
  confirmed,
  startAuthenticating,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { cardNumber, configOf, createDevices, tokenOf, walletPlugins } from '../../rig/wallets.ts'
import { cardFields, newCheckout, nonce, press } from '../checkout/rig.ts'

describe('soft declines of tokens', () => {
  const devices = createDevices()
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating({ plugins: walletPlugins, connectors: configOf(devices) })
    const settings = devices.googlePay.settings.account
    const account = { connector: 'google-pay', mode: 'EXTERNAL', settings } as const
    await run.gateway.accounts.add({ channelId: run.channel, ...account })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  /** A checkout whose first payment is declined softly. */
  const declinedOnce = (reference: string) => {
    let calls = 0
    run.acquirer.tell(reference, {
      debit: (operation, context) => {
        context.sending()
        calls += 1
        return calls === 1 ? declined('300.100.100') : approvedAs(operation)
      },
    })
    run.authenticator.tell(reference, {
      authenticate: ({ request }) =>
        request.threeDSecure === undefined ? confirmed() : challenge(),
    })
    const merchantTransactionId = reference
    return newCheckout(run, { testMode: 'EXTERNAL', merchantTransactionId })
  }
  const withToken = (paymentToken: string) => ({
    ...{ nonce: nonce(), card: undefined, paymentBrand: 'GOOGLEPAY' },
    googlePay: { paymentToken },
  })
  const ownCard = () => tokenOf(devices.googlePay, { numberType: 'PAN', number: cardNumber })
  const statesOf = async (id: string) => {
    const rows = await run.sql<{ state: string }>(
      'select state from tollgate.payment where checkout_id = $1 order by id',
      [id],
    )
    return rows.map(({ state }) => state)
  }

  test('the same press asks for a challenge, and its token stays that of the first payment', async () => {
    const id = await declinedOnce('soft-token')
    const sent = withToken(ownCard())
    const reply = await press(run.gateway, id, sent)
    assert.equal(reply.state, 'waiting')
    assert.ok(reply.redirect !== undefined)
    assert.deepEqual(await statesOf(id), ['declined', 'pending'])
    assert.equal((await press(run.gateway, id, sent)).state, 'waiting')
    assert.deepEqual(await statesOf(id), ['declined', 'pending'])
    const other = await newCheckout(run, { testMode: 'EXTERNAL' })
    assert.equal((await press(run.gateway, other, { ...sent, nonce: nonce() })).state, 'invalid')
  })

  test('neither another token nor a card makes the second payment of a press', async () => {
    for (const [reference, more, states] of [
      ['soft-other-token', withToken(ownCard()), ['declined']],
      ['soft-other-card', { googlePay: undefined, card: cardFields(cardNumber) }, ['declined']],
      ['soft-same-token', {}, ['declined', 'pending']],
    ] as const) {
      const id = await declinedOnce(reference)
      const sent = withToken(ownCard())
      // The process dies before the second payment.
      let commits = 0
      onFaultPoint((point) => {
        if (point === 'before-T1') commits += 1
        if (commits === 2) throw new Error('the process died')
      })
      await assert.rejects(press(run.gateway, id, sent))
      onFaultPoint(undefined)
      assert.deepEqual(await statesOf(id), ['declined'])
      await press(run.gateway, id, { ...sent, ...more, nonce: sent.nonce })
      assert.deepEqual(await statesOf(id), states, reference)
    }
  })
})
