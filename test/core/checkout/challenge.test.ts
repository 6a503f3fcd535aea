/** Shoppers of checkouts who are authenticated: in a frame of the widget, or in the whole tab. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { declined, pending } from '@tollgate/plugin-kit'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import {
  type AuthenticatingRun,
  challenge,
  confirmed,
  issuerPage,
  startAuthenticating,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { charged } from '../../rig/late-words.ts'
import { cardFields, newCheckout, nonce, pageOf, press } from './rig.ts'

describe('challenges in checkouts', () => {
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating()
  })
  after(() => closeChecked(run))

  const made = (reference: string) => {
    run.authenticator.tell(reference, { authenticate: challenge })
    return newCheckout(run, { merchantTransactionId: reference, testMode: 'EXTERNAL' })
  }
  const wayBack = (reference: string) => {
    const call = run.authenticator.calls.find((one) => one.reference === reference)!
    const [id = '', token = ''] = call.request.returnUrl!.split('/').slice(-2)
    return { id, token }
  }
  const codeOf = async (id: string) => (await run.gateway.checkouts.payment(id)).result.code
  const away = { state: 'waiting', ...issuerPage }

  for (const challenge of ['frame', 'tab'] as const) {
    test(`a challenge in a ${challenge} leads back to where it was, and the checkout is paid`, async () => {
      const reference = `challenge-in-${challenge}`
      const id = await made(reference)
      const inFrame = challenge === 'frame' ? { inFrame: true } : {}
      const one = { nonce: nonce(), challenge }
      assert.deepEqual(await press(run.gateway, id, one), { ...away, ...inFrame })
      assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'busy' })
      assert.deepEqual(await run.gateway.checkouts.state(id, { nonce: one.nonce }), {
        state: 'busy',
        ...issuerPage,
        ...inFrame,
      })
      assert.deepEqual(run.acquirer.of(reference), [])
      const { id: payment, token } = wayBack(reference)
      const back = await run.back(payment, token)
      assert.deepEqual(
        back,
        challenge === 'frame'
          ? { to: 'frame', checkout: id, location: pageOf(id) }
          : { to: 'merchant', location: pageOf(id) },
      )
      assert.equal(await codeOf(id), charged)
      assert.deepEqual(run.acquirer.of(reference), ['debit'])
      const [debit] = run.acquirer.calls.filter((call) => call.reference === reference)
      const { instrument } = debit!.operation
      assert.equal(instrument?.kind === 'card' && instrument.cvv?.reveal(), '123')
      assert.deepEqual(await run.back(payment, token), back)
    })
  }

  test('the acquirer of a payment that was authenticated in a frame gets the whole tab', async () => {
    const reference = 'frame-then-bank'
    const id = await made(reference)
    const bankPage = { redirect: { url: 'https://bank.example/confirm' } }
    run.acquirer.tell(reference, {
      debit: (_, context) => {
        context.sending()
        return pending(bankPage, { refs: { bank: 'b' } })
      },
    })
    const one = { nonce: nonce(), challenge: 'frame' }
    await press(run.gateway, id, one)
    const { id: payment, token } = wayBack(reference)
    const outOfFrame = { to: 'frame', checkout: id, location: undefined }
    assert.deepEqual(await run.back(payment, token), outOfFrame)
    assert.deepEqual(await run.gateway.checkouts.state(id, { nonce: one.nonce }), {
      state: 'busy',
      ...bankPage,
    })
  })

  test('the same press answers with the same challenge', async () => {
    const id = await made('same-challenge')
    const one = { nonce: nonce(), challenge: 'frame' }
    const told = { ...away, inFrame: true }
    assert.deepEqual(await press(run.gateway, id, one), told)
    assert.deepEqual(await press(run.gateway, id, one), told)
    assert.deepEqual(run.authenticator.of('same-challenge'), ['authenticate'])
  })

  test('a new press ends the open challenge, and its way back takes no money', async () => {
    const id = await made('new-press-then')
    await press(run.gateway, id)
    run.authenticator.tell('new-press-then', {})
    assert.deepEqual(await press(run.gateway, id), { state: 'paid', resultUrl: pageOf(id) })
    const { id: first, token } = wayBack('new-press-then')
    assert.equal(await run.code(first), '100.396.101')
    const back = await run.back(first, token)
    assert.deepEqual(back, { to: 'merchant', location: pageOf(id) })
    assert.deepEqual(run.acquirer.of('new-press-then'), ['debit'])
  })

  test('a press with errors ends no challenge', async () => {
    const id = await made('errors-end-nothing')
    const one = { nonce: nonce() }
    await press(run.gateway, id, one)
    const wrong = await press(run.gateway, id, { card: cardFields('4200000000000001') })
    assert.equal(wrong.state, 'invalid')
    assert.deepEqual(await run.gateway.checkouts.state(id, { nonce: one.nonce }), {
      state: 'busy',
      ...issuerPage,
    })
  })

  test('a new press and a return at the same moment take money once', async () => {
    const id = await made('press-and-return')
    await press(run.gateway, id)
    const { id: first, token } = wayBack('press-and-return')
    run.authenticator.tell('press-and-return', {})
    const [, reply] = await Promise.all([run.back(first, token), press(run.gateway, id)])
    const isOver = ['paid', 'waiting', 'busy'].includes(reply.state)
    assert.ok(isOver, JSON.stringify(reply))
    assert.equal((await press(run.gateway, id)).state, 'paid')
    assert.deepEqual(run.acquirer.of('press-and-return'), ['debit'])
  })

  test('the authenticator gets the browser and the connection of the shopper', async () => {
    const id = await made('browser-and-address')
    const browser = { userAgent: 'Mozilla/5.0', language: 'en', screenWidth: '1400' }
    await press(run.gateway, id, { customer: { browser } })
    const { request } = run.authenticator.calls.find(
      ({ reference }) => reference === 'browser-and-address',
    )!
    assert.deepEqual(JSON.parse(JSON.stringify(request.request.customer)), {
      ip: '192.0.2.7',
      browser: { ...browser, acceptHeader: 'text/html' },
    })
  })

  test('a soft decline is followed by one payment with a mandatory challenge, under the same press', async () => {
    const softly: Script = {
      debit: (operation, context) => {
        context.sending()
        const isProven = operation.threeDSecure !== undefined && operation.request.threeDSecure
        return isProven ? approvedAs(operation) : declined('300.100.100')
      },
    }
    const id = await newCheckout(run, {
      merchantTransactionId: 'soft-decline',
      testMode: 'EXTERNAL',
    })
    run.acquirer.tell('soft-decline', softly)
    run.authenticator.tell('soft-decline', {
      authenticate: ({ request }) =>
        request.threeDSecure === undefined ? confirmed() : challenge(),
    })
    const one = { nonce: nonce() }
    assert.deepEqual(await press(run.gateway, id, one), away)
    assert.deepEqual(await press(run.gateway, id, one), away)
    const call = run.authenticator.calls.filter(({ reference }) => reference === 'soft-decline')[1]!
    assert.equal(
      (call.request.request.threeDSecure as { challengeIndicator: string }).challengeIndicator,
      '04',
    )
    const [payment = '', token = ''] = call.request.returnUrl!.split('/').slice(-2)
    await run.back(payment, token)
    assert.equal(await codeOf(id), charged)
    assert.deepEqual(run.acquirer.of('soft-decline'), ['debit', 'debit'])
    const keys = run.acquirer.calls
      .filter(({ reference }) => reference === 'soft-decline')
      .map(({ operation }) => operation.key)
    assert.equal(new Set(keys).size, 2)
  })

  test('a second soft decline is a decline', async () => {
    const id = await newCheckout(run, { merchantTransactionId: 'soft-twice', testMode: 'EXTERNAL' })
    run.acquirer.tell('soft-twice', {
      debit: (_, context) => {
        context.sending()
        return declined('300.100.100')
      },
    })
    assert.deepEqual(await press(run.gateway, id), { state: 'declined', attemptsLeft: 9 })
    assert.deepEqual(run.acquirer.of('soft-twice'), ['debit', 'debit'])
  })
})
