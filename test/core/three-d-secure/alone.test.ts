/** Authentications without a payment, stored accounts whose owners are authenticated, and stored accounts that pay. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Connector } from '@tollgate/plugin-kit'
import type { GatewayError, PaymentView } from '../../../core/index.ts'
import {
  type AuthenticatingRun,
  authenticatorName,
  browser,
  challenge,
  confirmed,
  resultPage,
  secretProof,
  startAuthenticating,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { card } from '../../rig/gateway.ts'
import { charged } from '../../rig/late-words.ts'

const pendingCode = '000.200.000'

describe('authentications without a payment', () => {
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating()
  })
  after(() => closeChecked(run))

  const { paymentType: _, ...noType } = card('4200000000000000')
  const authenticate = (reference: string, more: object = {}) =>
    run.gateway.threeDSecure.create({
      ...noType,
      ...browser,
      testMode: 'EXTERNAL',
      entityId: run.channel,
      shopperResultUrl: resultPage,
      merchantTransactionId: reference,
      ...more,
    } as never)
  const proofIn = (view: PaymentView) =>
    (view.threeDSecure as { verificationId?: string } | undefined)?.verificationId
  const tokenOf = (reference: string) => {
    const call = run.authenticator.calls.find((one) => one.reference === reference)
    return call!.request.returnUrl!.split('/').at(-1)!
  }

  test('the answer is of type 3D and holds the proof, asked again each time', async () => {
    const view = await authenticate('alone-at-once')
    assert.equal(view.paymentType, '3D')
    assert.equal(view.result.code, charged)
    assert.equal(proofIn(view), secretProof)
    assert.equal(view.nextActions, undefined)
    assert.equal(proofIn(await run.gateway.threeDSecure.get(view.id)), secretProof)
    assert.equal(proofIn(await run.gateway.payments.get(view.id)), undefined)
    assert.deepEqual(run.authenticator.of('alone-at-once'), ['authenticate', 'enquire', 'enquire'])
    assert.deepEqual(run.acquirer.of('alone-at-once'), [])
    await assert.rejects(run.gateway.payments.refund(view.id, { amount: '1.00', currency: 'EUR' }))
    await assert.rejects(run.gateway.payments.reverse(view.id))
    assert.deepEqual(run.acquirer.of('alone-at-once'), [])
  })

  test('a challenge ends it at the return', async () => {
    run.authenticator.tell('alone-challenged', { authenticate: challenge })
    const view = await authenticate('alone-challenged')
    assert.equal(view.result.code, pendingCode)
    assert.equal(proofIn(view), undefined)
    await run.back(view.id, tokenOf('alone-challenged'))
    const after = await run.gateway.threeDSecure.get(view.id)
    assert.equal(after.result.code, charged)
    assert.equal(proofIn(after), secretProof)
    assert.deepEqual(run.acquirer.of('alone-challenged'), [])
  })

  test('U declines it, also where payments go on without', async () => {
    run.authenticator.tell('alone-unavailable', { authenticate: () => ({ is: 'unavailable' }) })
    const view = await authenticate('alone-unavailable', run.goesOn)
    assert.equal(view.result.code, '100.390.112')
  })

  test('a card that takes no part declines it, because nobody can confirm its holder', async () => {
    const notEnrolled = { is: 'notEnrolled' } as const
    run.authenticator.tell('alone-no-part', { authenticate: () => notEnrolled })
    const view = await authenticate('alone-no-part', run.goesOn)
    assert.equal(view.result.code, '000.400.109')
    assert.deepEqual(view.threeDSecure, {
      authenticationStatus: 'U',
      transactionStatusReason: '13',
    })
    assert.deepEqual(run.acquirer.of('alone-no-part'), [])
  })

  test('a non-payment authentication says so', async () => {
    await authenticate('alone-without-payment', { threeDSecure: { npa: 'true' } })
    const [call] = run.authenticator.calls.filter(
      ({ reference }) => reference === 'alone-without-payment',
    )
    assert.equal(call!.request.isPayment, false)
  })

  test('missing fields, another type, external values, and a channel where it is off', async () => {
    const refusedWith = (code: string, name?: string) => (error: GatewayError) => {
      assert.equal(error.code, code)
      if (name !== undefined) assert.ok(error.parameterErrors.some((one) => one.name === name))
      return true
    }
    const twoHundred = '200.300.404'
    await assert.rejects(
      authenticate('alone-no-browser', { customer: undefined }),
      refusedWith(twoHundred, 'customer.browser.userAgent'),
    )
    await assert.rejects(
      authenticate('alone-debit', { paymentType: 'DB' }),
      refusedWith(twoHundred, 'paymentType'),
    )
    await assert.rejects(
      authenticate('alone-external', { threeDSecure: { eci: '05' } }),
      refusedWith(twoHundred, 'threeDSecure'),
    )
    await assert.rejects(authenticate('alone-switched-off', run.off), refusedWith('600.200.200'))
    await assert.rejects(
      run.pay({ paymentType: '3D', merchantTransactionId: 'alone-as-payment' }),
      refusedWith('600.200.200', 'paymentType'),
    )
    await assert.rejects(run.gateway.threeDSecure.get('0'.repeat(32)), refusedWith('700.400.580'))
  })

  test('a payment is no authentication to read', async () => {
    const { id } = await run.authenticated('plain-payment')
    await assert.rejects(run.gateway.threeDSecure.get(id))
  })

  test('the same key makes one authentication', async () => {
    const once = (key: string) =>
      run.gateway.threeDSecure.create(
        {
          ...noType,
          ...browser,
          testMode: 'EXTERNAL',
          entityId: run.channel,
          merchantTransactionId: 'alone-keyed',
        } as never,
        { idempotencyKey: key },
      )
    const [one, two] = [await once('key-1'), await once('key-1')]
    assert.equal(one.id, two.id)
    assert.equal(proofIn(two), secretProof)
    assert.equal(
      run.authenticator.of('alone-keyed').filter((what) => what === 'authenticate').length,
      1,
    )
  })

  test('an account is stored after an authentication only where that is asked for', async () => {
    const store = (reference: string, more: object = {}) =>
      run.gateway.registrations.create({
        paymentBrand: 'VISA',
        card: card('4200000000000000').card,
        ...browser,
        testMode: 'EXTERNAL',
        entityId: run.channel,
        shopperResultUrl: resultPage,
        merchantTransactionId: reference,
        ...more,
      } as never)
    const plain = await store('stored-plain')
    assert.equal(plain.result.code, charged)
    assert.deepEqual(run.authenticator.of('stored-plain'), [])
    run.authenticator.tell('stored-asked', { authenticate: challenge })
    const asked = await store('stored-asked', { threeDSecure: { authenticationInd: 'ADD_CARD' } })
    assert.equal(asked.result.code, pendingCode)
    const [call] = run.authenticator.calls.filter(({ reference }) => reference === 'stored-asked')
    assert.equal(call!.request.isPayment, false)
    await assert.rejects(run.gateway.registrations.get(asked.id))
    await run.back(asked.id, tokenOf('stored-asked'))
    assert.equal((await run.gateway.registrations.get(asked.id)).id, asked.id)
    run.authenticator.tell('stored-refused', {
      authenticate: () => ({ is: 'failed', status: 'N' }),
    })
    const refused = await store('stored-refused', { threeDSecure: { npa: 'true' } })
    assert.equal(refused.result.code, '100.380.401')
    await assert.rejects(run.gateway.registrations.get(refused.id))
  })

  test('a stored account pays after a challenge, in another process too', async () => {
    const made = await run.authenticated('stored-with-payment', {}, { createRegistration: 'true' })
    run.authenticator.tell('stored-pays', { authenticate: challenge, complete: () => confirmed() })
    const paid = await run.gateway.registrations.pay(
      made.registrationId as string,
      {
        amount: '5.00',
        currency: 'EUR',
        paymentType: 'DB',
        ...browser,
        testMode: 'EXTERNAL',
        entityId: run.channel,
        shopperResultUrl: resultPage,
        merchantTransactionId: 'stored-pays',
      } as never,
    )
    assert.equal(paid.result.code, pendingCode)
    const other = await run.another({ role: 'api', publicUrl: 'https://pay.example' })
    await run.back(paid.id, tokenOf('stored-pays'), other)
    assert.equal(await run.code(paid.id), charged)
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'stored-pays')
    const { instrument } = call!.operation
    assert.equal(instrument?.kind === 'card' ? instrument.number.reveal() : '', '4200000000000000')
    await other.close()
  })

  test('an authentication that creates a registration keeps it only when the payment is approved', async () => {
    const { id, token } = await run.away('stored-on-return', {}, { createRegistration: 'true' })
    const { registrationId } = await run.gateway.payments.get(id)
    await assert.rejects(run.gateway.registrations.get(registrationId as string))
    await run.back(id, token)
    assert.equal((await run.gateway.registrations.get(registrationId as string)).id, registrationId)
  })
})

describe('acquirers that take no authentication of the gateway', () => {
  const saying =
    (threeDSecure: 'own' | 'none') =>
    (connector: Connector): Connector => ({
      ...connector,
      supports: { ...connector.supports, threeDSecure },
    })
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating({ variants: { own: saying('own'), none: saying('none') } })
    const { entities } = run.gateway
    for (const name of ['own', 'none']) {
      const { entityId: channelId } = run.at(name)
      await entities.configure(channelId, { threeDSecure: 'on' })
      const connector = authenticatorName
      await entities.createAccount({ channelId, connector, mode: 'EXTERNAL', settings: {} })
    }
  })
  after(() => closeChecked(run))

  const asking = { threeDSecure: { authenticationInd: 'PAYMENT' } }

  test('one that authenticates by itself gets the payment and the wish', async () => {
    const view = await run.authenticated('acquirers-own', {}, { ...run.at('own'), ...asking })
    assert.equal(view.result.code, charged)
    assert.deepEqual(run.authenticator.of('acquirers-own'), [])
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'acquirers-own')
    assert.deepEqual(call!.operation.request.threeDSecure, asking.threeDSecure)
  })

  test('one that takes none gets the payment, and the wish is refused by name', async () => {
    const view = await run.authenticated('acquirer-without', {}, run.at('none'))
    assert.equal(view.result.code, charged)
    assert.deepEqual(run.authenticator.of('acquirer-without'), [])
    await assert.rejects(
      run.authenticated('acquirer-refused', {}, { ...run.at('none'), ...asking }),
      ({ code, parameterErrors }: GatewayError) => {
        assert.equal(code, '600.200.200')
        assert.deepEqual(
          parameterErrors.map(({ name }) => name),
          ['threeDSecure.authenticationInd'],
        )
        return true
      },
    )
  })
})
