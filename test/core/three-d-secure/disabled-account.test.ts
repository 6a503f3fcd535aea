/** While the account at an authenticator is disabled, its payments are unauthenticated, and do not pass for others. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Gateway } from '../../../core/index.ts'
import {
  type AuthenticatingRun,
  authenticatorName,
  browser,
  challenge,
  resultPage,
  startAuthenticating,
  testCode,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { card } from '../../rig/gateway.ts'
import { charged } from '../../rig/late-words.ts'

describe('a disabled account at an authenticator', () => {
  let run: AuthenticatingRun
  let later: Gateway
  let waiting: { id: string; token: string }

  before(async () => {
    run = await startAuthenticating()
    waiting = await run.away('waiting-shopper', { authenticate: challenge })
    for (const { id, connector } of await run.gateway.accounts.list()) {
      if (connector === authenticatorName) await run.gateway.accounts.disable(id)
    }
    // Every process follows within five seconds; a new one knows at once.
    later = await run.another({ role: 'api' })
  })
  after(() => closeChecked(run))

  const pay = (reference: string, fields: object = {}) =>
    later.payments.create({
      ...card('4200000000000000', { cvv: testCode }),
      ...browser,
      testMode: 'EXTERNAL',
      merchantTransactionId: reference,
      shopperResultUrl: resultPage,
      ...fields,
    } as never)
  const calls = (reference: string) =>
    run.acquirer.calls.filter((call) => call.reference === reference)

  test('a payment is declined as one that no issuer answers for, and nobody is asked', async () => {
    const view = await pay('declined-unavailable', { entityId: run.channel })
    assert.equal(view.result.code, '100.390.112')
    assert.deepEqual(calls('declined-unavailable'), [])
    assert.deepEqual(run.authenticator.of('declined-unavailable'), [])
  })

  test('where the entity goes on without an authentication, it goes to the acquirer without values', async () => {
    const view = await pay('goes-on-unavailable', run.goesOn)
    assert.equal(view.result.code, charged)
    assert.deepEqual(run.authenticator.of('goes-on-unavailable'), [])
    assert.equal(calls('goes-on-unavailable')[0]!.operation.threeDSecure, undefined)
  })

  test('an authentication without a payment is declined', async () => {
    const { paymentType: _, ...withoutType } = card('4200000000000000')
    const view = await later.threeDSecure.create({
      ...withoutType,
      ...browser,
      entityId: run.channel,
      testMode: 'EXTERNAL',
      shopperResultUrl: resultPage,
    } as never)
    assert.equal(view.result.code, '100.390.112')
  })

  test('a payment that asks for no authentication, or an entity without, is not concerned', async () => {
    assert.equal((await pay('off-as-before', run.off)).result.code, charged)
    const server = await pay('server-as-before', {
      entityId: run.channel,
      shopperResultUrl: undefined,
      customer: undefined,
    })
    assert.equal(server.result.code, charged)
  })

  test('a payment that waits at its challenge still goes on when the shopper comes back', async () => {
    await run.back(waiting.id, waiting.token, later)
    assert.equal((await later.payments.get(waiting.id)).result.code, charged)
    assert.equal(calls('waiting-shopper').length, 1)
  })

  test('another account that knows the scheme is in its place', async () => {
    const id = await run.gateway.accounts.add({
      channelId: run.channel,
      connector: authenticatorName,
      mode: 'EXTERNAL',
      settings: {},
    })
    const now = await run.another({ role: 'api' })
    run.authenticator.tell('in-its-place', {})
    const view = await now.payments.create({
      ...card('4200000000000000', { cvv: testCode }),
      ...browser,
      entityId: run.channel,
      testMode: 'EXTERNAL',
      merchantTransactionId: 'in-its-place',
      shopperResultUrl: resultPage,
    } as never)
    assert.equal(view.result.code, charged)
    assert.deepEqual(run.authenticator.of('in-its-place'), ['authenticate'])
    await run.gateway.accounts.disable(id)
  })
})
