/** A press of the pay button is one try, however often it is sent, and ends no other try in vain. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { declined, pending } from '@tollgate/plugin-kit'
import { type FaultPoint, onFaultPoint } from '../../../core/fault-point.ts'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import {
  type AuthenticatingRun,
  authenticatorName,
  challenge,
  issuerPage,
  startAuthenticating,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { charged } from '../../rig/late-words.ts'
import { cardFields, newCheckout, nonce, pageOf, press } from './rig.ts'

/** The issuer wants the shopper authenticated at the first debit. */
const softOnce = (): Script => {
  let no = 0
  return {
    debit: (operation, context) => {
      context.sending()
      no += 1
      return no === 1 ? declined('300.100.100') : approvedAs(operation)
    },
  }
}
const bankPage = { redirect: { url: 'https://bank.example/confirm' } }
const toBank: Script = {
  debit: (_, context) => {
    context.sending()
    return pending(bankPage, { refs: { bank: 'b' } })
  },
  reverseByKey: () => ({ is: 'reversed', refs: {} }),
}

describe('a press of the pay button', () => {
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating()
  })
  after(() => closeChecked(run))
  afterEach(() => onFaultPoint(undefined))

  const made = (reference: string, script: Script = {}, more: object = {}) => {
    run.acquirer.tell(reference, script)
    return newCheckout(run, { merchantTransactionId: reference, testMode: 'EXTERNAL', ...more })
  }
  const debits = (reference: string) =>
    run.acquirer.of(reference).filter((what) => what === 'debit').length
  const paid = (id: string) => ({ state: 'paid', resultUrl: pageOf(id) })
  const atNth = (point: FaultPoint, nth: number, act: () => Promise<unknown>) => {
    let no = 0
    onFaultPoint(async (at) => {
      if (at !== point) return
      no += 1
      if (no !== nth) return
      onFaultPoint(undefined)
      await act()
    })
  }
  /** A channel with settings of its own. */
  const channel = async (settings: object) => {
    const id = await run.gateway.entities.create({
      kind: 'channel',
      name: `press ${Object.keys(settings).join(' ')}`,
      parentId: run.merchant,
      settings: { threeDSecure: 'on', ...settings },
    } as never)
    for (const connector of ['scripted', authenticatorName]) {
      await run.gateway.entities.createAccount({
        channelId: id,
        connector,
        mode: 'EXTERNAL',
        settings: {},
      })
    }
    return { entityId: id }
  }

  test('an update between a soft decline and the second payment: the new amount is paid', async () => {
    const id = await made('soft-updated', softOnce())
    atNth('after-T2', 1, () => run.gateway.checkouts.update(id, { amount: '150.00' } as never))
    assert.deepEqual(await press(run.gateway, id), paid(id))
    const view = (await run.gateway.checkouts.payment(id)) as unknown as { amount: string }
    assert.equal(view.amount, '150.00')
    assert.equal(debits('soft-updated'), 2)
  })

  test('an update right before the second commit: that commit writes nothing', async () => {
    const id = await made('soft-updated-late', softOnce())
    atNth('before-T1', 2, () => run.gateway.checkouts.update(id, { amount: '151.00' } as never))
    assert.deepEqual(await press(run.gateway, id), paid(id))
    const view = (await run.gateway.checkouts.payment(id)) as unknown as { amount: string }
    assert.equal(view.amount, '151.00')
    assert.equal(debits('soft-updated-late'), 2)
  })

  test('a removal between a soft decline and the second payment: nothing more is sent', async () => {
    const id = await made('soft-removed', softOnce())
    atNth('after-T2', 1, () => run.gateway.checkouts.remove(id))
    assert.equal((await press(run.gateway, id)).state, 'declined')
    assert.equal(debits('soft-removed'), 1)
  })

  for (const point of ['after-T2', 'before-T1', 'before-send'] as const) {
    test(`sent twice, at ${point} around a soft decline: both learn the end`, async () => {
      const reference = `soft-twice-${point}`
      const id = await made(reference, softOnce())
      const one = { nonce: nonce() }
      const other = await run.another({ role: 'api', publicUrl: 'https://pay.example' })
      let twin: ReturnType<typeof press> | undefined
      const isHere = point === 'before-send'
      atNth(point, point === 'after-T2' ? 1 : 2, async () => {
        twin = press(other, id, one)
        // A sending that is under way is waited for by its twin, and not the other way round.
        if (!isHere) await twin
      })
      assert.deepEqual(await press(run.gateway, id, one), paid(id))
      assert.deepEqual(await twin, paid(id))
      assert.equal(debits(reference), 2)
      await other.close()
    })
  }

  test('the second payment of a soft decline belongs to the last try', async () => {
    const id = await made('soft-last', softOnce(), await channel({ checkoutTries: 1 }))
    assert.deepEqual(await press(run.gateway, id), paid(id))
    assert.equal(debits('soft-last'), 2)
  })

  test('a last try that is declined twice closes the checkout', async () => {
    const soft: Script = {
      debit: (_, context) => {
        context.sending()
        return declined('300.100.100')
      },
    }
    const id = await made('soft-last-twice', soft, await channel({ checkoutTries: 1 }))
    const told = { state: 'declined', attemptsLeft: 0, resultUrl: pageOf(id) }
    const one = { nonce: nonce() }
    assert.deepEqual(await press(run.gateway, id, one), told)
    assert.deepEqual(await press(run.gateway, id, one), told)
    assert.equal((await press(run.gateway, id)).state, 'closed')
    assert.equal(debits('soft-last-twice'), 2)
  })

  const { cvv: _, ...withoutCode } = cardFields()
  const refusals = [
    ['a missing code', { cvvRequired: true }, { card: withoutCode }, 'invalid'],
    // The same first six and last four digits as the first number.
    ['a guessed number', { distinctNumbers: 1 }, { card: cardFields('4200000000180000') }, 'busy'],
    ['a brand that nobody takes', {}, { paymentBrand: 'PAYPAL' }, 'invalid'],
  ] as const

  for (const [what, settings, entry, state] of refusals) {
    test(`an entry refused for ${what} ends no challenge`, async () => {
      const reference = `challenge ${what}`
      run.authenticator.tell(reference, { authenticate: challenge })
      const id = await made(reference, {}, await channel(settings))
      const one = { nonce: nonce() }
      await press(run.gateway, id, one)
      assert.equal((await press(run.gateway, id, entry)).state, state)
      assert.deepEqual(await run.gateway.checkouts.state(id, one), { state: 'busy', ...issuerPage })
      const call = run.authenticator.calls.find((one) => one.reference === reference)!
      const [payment = '', token = ''] = call.request.returnUrl!.split('/').slice(-2)
      await run.back(payment, token)
      assert.equal(await run.code(payment), charged)
    })

    test(`an entry refused for ${what} leaves the shopper at the bank in peace`, async () => {
      const reference = `bank ${what}`
      const id = await made(reference, toBank, await channel(settings))
      const one = { nonce: nonce() }
      await press(run.gateway, id, one)
      assert.equal((await press(run.gateway, id, entry)).state, state)
      assert.deepEqual(await run.gateway.checkouts.state(id, one), { state: 'busy', ...bankPage })
      assert.deepEqual(run.acquirer.of(reference), ['debit'])
    })
  }
})
