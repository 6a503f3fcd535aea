/** The amount that the issuer confirms, and the amount that the acquirer takes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GatewayError } from '../../../core/index.ts'
import {
  type AuthenticatingRun,
  browser,
  confirmed,
  startAuthenticating,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { card } from '../../rig/gateway.ts'
import { charged } from '../../rig/late-words.ts'
import { newCheckout } from '../checkout/rig.ts'

describe('amounts of authentications', () => {
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating()
  })
  after(() => closeChecked(run))

  test('a non-payment authentication of less pays nothing', async () => {
    const one = { minor: 100n, currency: 'EUR' }
    const view = await run.authenticated(
      'npa-of-less',
      { authenticate: () => confirmed({ amount: one }) },
      { threeDSecure: { npa: 'true', amount: '1.00', currency: 'EUR' } },
    )
    assert.equal(view.result.code, '100.390.101')
    assert.deepEqual(run.acquirer.of('npa-of-less'), [])
    const whole = await run.authenticated('npa-of-all', {}, { threeDSecure: { npa: 'true' } })
    assert.equal(whole.result.code, charged)
  })

  const refusedFor = (name: string) => (error: GatewayError) => {
    assert.equal(error.status, 400)
    assert.deepEqual(
      error.parameterErrors.map((one) => one.name),
      [name],
    )
    return true
  }
  const written = (reference: string) =>
    run.sql('select 1 from tollgate.payment where merchant_transaction_id = $1', [reference])

  test('an amount that its currency cannot have is refused before anything is written', async () => {
    const fields = { risk: { amount: '92.50' }, threeDSecure: { currency: 'JPY' } }
    await assert.rejects(run.authenticated('yen-with-sen', {}, fields), refusedFor('risk.amount'))
    assert.deepEqual(await written('yen-with-sen'), [])
    await assert.rejects(newCheckout(run, fields), refusedFor('risk.amount'))
  })

  test('so is an amount without a currency, where only an account is stored', async () => {
    const {
      paymentType: _,
      amount: _amount,
      currency: _currency,
      ...account
    } = card('4200000000000000') as Record<string, unknown>
    const stored = run.gateway.registrations.create({
      ...account,
      ...browser,
      entityId: run.channel,
      testMode: 'EXTERNAL',
      merchantTransactionId: 'stored-for-one',
      threeDSecure: { amount: '1.00' },
    } as never)
    await assert.rejects(stored, refusedFor('threeDSecure.currency'))
    assert.deepEqual(await written('stored-for-one'), [])
  })
})
