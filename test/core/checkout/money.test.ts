/** However often a shopper tries, and whatever dies in between, a checkout takes money once. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { approved, declined, pending } from '@tollgate/plugin-kit'
import { type FaultPoint, onFaultPoint } from '../../../core/fault-point.ts'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  heldCall,
  type LateRun,
  lose,
  noMoney,
  notCharged,
  refuse,
  startLate,
  withoutKeyReversal,
} from '../../rig/late-words.ts'
import { basket, cardFields, newCheckout, nonce, pageOf, press, shop } from './rig.ts'

const bankPage = { redirect: { url: 'https://bank.example/confirm' } }
const toBank: Script['debit'] = (_, context) => {
  context.sending()
  return pending(bankPage, { refs: { bank: 'b' } })
}

describe('the one payment of a checkout', () => {
  let run: LateRun
  before(async () => {
    run = await startLate(
      {
        bank: (connector) => ({
          ...connector,
          complete: async (_, back, context) => {
            if (back.query.paid !== 'yes') return declined('100.396.101')
            context.sending()
            return approved({ reference: 'at-bank' })
          },
        }),
        stubborn: withoutKeyReversal,
      },
      { publicUrl: 'https://pay.example' },
    )
  })
  after(() => closeChecked(run))
  afterEach(() => onFaultPoint(undefined))

  /** A checkout at the scripted acquirer, whose operations have this reference. */
  const made = (reference: string, script: Script = {}, more: object = {}) => {
    run.acquirer.tell(reference, script)
    return newCheckout(run, { merchantTransactionId: reference, testMode: 'EXTERNAL', ...more })
  }
  const paid = (id: string) => ({ state: 'paid', resultUrl: pageOf(id) })
  const debits = (reference: string) =>
    run.acquirer.of(reference).filter((what) => what === 'debit').length
  const paymentsOf = async (id: string) =>
    (
      await run.sql<{ id: string }>(
        'select id from tollgate.payment where checkout_id = $1 order by id',
        [id],
      )
    ).map((row) => row.id)
  const codeOf = async (id: string) => (await run.gateway.checkouts.payment(id)).result.code
  /** Does something at the next such point, once. */
  const atNext = (point: FaultPoint, act: () => Promise<unknown>) => {
    const done = Promise.withResolvers<void>()
    onFaultPoint(async (at) => {
      if (at !== point) return
      onFaultPoint(undefined)
      await act().finally(() => done.resolve())
    })
    return done.promise
  }

  test('two tabs on two hosts send one payment, and the other learns that one is under way', async () => {
    const other = await run.another({ role: 'api', publicUrl: 'https://pay.example' })
    const call = heldCall()
    const id = await made('two-tabs', { debit: call.handler })
    const first = press(run.gateway, id)
    const operation = await call.begun
    assert.deepEqual(await press(other, id), { state: 'busy' })
    assert.deepEqual(await other.checkouts.state(id), { state: 'busy' })
    call.answer(approvedAs(operation))
    assert.deepEqual(await first, paid(id))
    assert.deepEqual(await press(other, id), paid(id))
    assert.equal(debits('two-tabs'), 1)
    await other.close()
  })

  test('a double click on two hosts is one payment, and both learn its end', async () => {
    const other = await run.another({ role: 'api', publicUrl: 'https://pay.example' })
    const call = heldCall()
    const id = await made('double-click', { debit: call.handler })
    const one = { nonce: nonce() }
    const first = press(run.gateway, id, one)
    const operation = await call.begun
    const second = press(other, id, one)
    call.answer(approvedAs(operation))
    assert.deepEqual([await first, await second], [paid(id), paid(id)])
    assert.equal(debits('double-click'), 1)
    await other.close()
  })

  test('the same press after a decline tells of the decline and sends nothing', async () => {
    const id = await made('same-press', { debit: refuse })
    const one = { nonce: nonce() }
    const told = { state: 'declined', attemptsLeft: 9 }
    assert.deepEqual(await press(run.gateway, id, one), told)
    assert.deepEqual(await press(run.gateway, id, one), told)
    assert.equal(debits('same-press'), 1)
  })

  test('a process that dies between the commit and the call leaves the checkout busy, then free', async () => {
    const id = await made('died-before-call')
    onFaultPoint((point) => {
      if (point === 'after-T1') throw new Error('killed')
    })
    await assert.rejects(press(run.gateway, id))
    onFaultPoint(undefined)
    const [payment] = await paymentsOf(id)
    assert.deepEqual(await press(run.gateway, id), { state: 'busy' })
    await run.age(payment!)
    await until(async () => ((await run.code(payment!)) === notCharged ? true : undefined))
    assert.equal(debits('died-before-call'), 0)
    assert.deepEqual(await press(run.gateway, id), paid(id))
    assert.equal(debits('died-before-call'), 1)
  })

  test('an answer that is lost keeps the checkout busy until the acquirer says more', async () => {
    const id = await made('lost-answer', { debit: lose, enquire: (one) => approvedAs(one) })
    assert.deepEqual(await press(run.gateway, id), { state: 'waiting' })
    assert.deepEqual(await press(run.gateway, id), { state: 'busy' })
    const [payment] = await paymentsOf(id)
    await run.age(payment!)
    await run.dueNow(payment!)
    await until(async () => ((await codeOf(id)) === charged ? true : undefined))
    assert.deepEqual(await press(run.gateway, id), paid(id))
    assert.equal(debits('lost-answer'), 1)
  })

  test('a late success of the first try is taken back when the second one has paid', async () => {
    const id = await made('late-success', { debit: refuse })
    assert.equal((await press(run.gateway, id)).state, 'declined')
    run.acquirer.tell('late-success', { reverseByKey: () => ({ is: 'reversed', refs: {} }) })
    assert.deepEqual(await press(run.gateway, id), paid(id))
    const [first, second] = await paymentsOf(id)
    await run.tell(first!, { outcome: approval })
    await until(async () => ((await run.kinds(first!)).join() === '(conflict)' ? true : undefined))
    assert.equal(await run.code(first!), noMoney)
    assert.equal(await run.code(second!), charged)
    assert.equal(await codeOf(id), charged)
  })

  test('while a late success is taken back nobody can pay', async () => {
    const id = await made('late-and-open', {
      debit: refuse,
      reverseByKey: () => ({ is: 'unknown', why: 'not yet' }),
    })
    await press(run.gateway, id)
    const [first] = await paymentsOf(id)
    await run.tell(first!, { outcome: approval })
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'busy' })
    assert.deepEqual(await press(run.gateway, id), { state: 'busy' })
    run.acquirer.tell('late-and-open', { reverseByKey: () => ({ is: 'reversed', refs: {} }) })
    await until(async () => {
      await run.sql('update tollgate.attempt set lease_until = null where payment_id = $1', [first])
      await run.dueNow(first!)
      return (await run.kinds(first!)).join() === '(conflict)' ? true : undefined
    })
    assert.deepEqual(await press(run.gateway, id), paid(id))
  })

  test('a late success between the read and the commit: nothing is sent', async () => {
    const id = await made('late-between', {
      debit: refuse,
      reverseByKey: () => ({ is: 'unknown', why: 'not yet' }),
    })
    await press(run.gateway, id)
    const [first] = await paymentsOf(id)
    const told = atNext('before-T1', () => run.tell(first!, { outcome: approval }))
    assert.deepEqual(await press(run.gateway, id), { state: 'busy' })
    await told
    assert.equal(debits('late-between'), 1)
    run.acquirer.tell('late-between', { reverseByKey: () => ({ is: 'reversed', refs: {} }) })
  })

  test('an update between the read and the commit: the shopper pays the new amount', async () => {
    const id = await made('updated-between')
    const updated = atNext('before-T1', () =>
      run.gateway.checkouts.update(id, { amount: '93.00' } as never),
    )
    assert.deepEqual(await press(run.gateway, id), paid(id))
    await updated
    const view = (await run.gateway.checkouts.payment(id)) as unknown as { amount: string }
    assert.equal(view.amount, '93.00')
    assert.equal(debits('updated-between'), 1)
  })

  test('a press that says what it shows pays that alone, and is no try otherwise', async () => {
    const id = await made('shown-before')
    const { shown } = await run.gateway.checkouts.offer(id)
    assert.equal(shown, '92.00 EUR')
    const one = { nonce: nonce(), shown }
    const updated = atNext('before-T1', () =>
      run.gateway.checkouts.update(id, { amount: '93' } as never),
    )
    assert.deepEqual(await press(run.gateway, id, one), { state: 'changed' })
    await updated
    assert.deepEqual(await press(run.gateway, id, one), { state: 'changed' })
    assert.deepEqual(await paymentsOf(id), [])
    const [row] = await run.sql<{ refusals: number }>(
      'select refusals from tollgate.checkout where id = $1',
      [id],
    )
    assert.equal(row!.refusals, 0)
    // The same amount in another spelling, or another field, is what was shown.
    await run.gateway.checkouts.update(id, {
      amount: '93.00',
      merchantMemo: 'of the shop',
    } as never)
    const now = { shown: (await run.gateway.checkouts.offer(id)).shown }
    assert.deepEqual(now, { shown: '93.00 EUR' })
    assert.deepEqual(await press(run.gateway, id, now), paid(id))
    assert.equal(debits('shown-before'), 1)
  })

  test('a page that offers to save a card charges nothing', async () => {
    const { id } = await run.gateway.checkouts.create({
      entityId: run.channel,
      createRegistration: 'true',
      shopperResultUrl: shop,
      merchantTransactionId: 'save-alone',
      testMode: 'EXTERNAL',
    } as never)
    const { shown } = await run.gateway.checkouts.offer(id)
    await run.gateway.checkouts.update(id, basket as never)
    assert.deepEqual(await press(run.gateway, id, { shown }), { state: 'changed' })
    // A page that does not say what it shows sends to the address of such checkouts.
    const { status, body } = await run.gateway.call('checkouts.register', null, {
      path: { id },
      body: Buffer.from(JSON.stringify({ nonce: nonce(), card: cardFields() })),
      contentType: 'application/json',
      requestId: 'save-alone',
    })
    assert.deepEqual([status, body], [200, { state: 'changed' }])
    assert.deepEqual(run.acquirer.of('save-alone'), [])
    assert.deepEqual(await press(run.gateway, id), paid(id))
  })

  test('a removal between the read and the commit: nothing is sent', async () => {
    const id = await made('removed-between')
    const removed = atNext('before-T1', () => run.gateway.checkouts.remove(id))
    assert.deepEqual(await press(run.gateway, id), { state: 'closed', resultUrl: pageOf(id) })
    await removed
    assert.deepEqual(run.acquirer.of('removed-between'), [])
    assert.deepEqual(await paymentsOf(id), [])
  })

  test('neither an update nor a removal reaches a checkout whose shopper pays', async () => {
    const call = heldCall()
    const id = await made('paying-at-once', { debit: call.handler })
    const reply = press(run.gateway, id)
    const operation = await call.begun
    const late = { amount: '1.00' } as never
    await assert.rejects(run.gateway.checkouts.update(id, late), { code: '200.300.404' })
    await assert.rejects(run.gateway.checkouts.remove(id), { code: '200.300.404' })
    call.answer(approvedAs(operation))
    assert.deepEqual(await reply, paid(id))
    await assert.rejects(run.gateway.checkouts.update(id, late), { code: '200.300.404' })
  })

  test('the time of a checkout ends between the read and the commit: nothing is sent', async () => {
    const id = await made('expired-between')
    const expired = atNext('before-T1', () =>
      run.sql('update tollgate.checkout set expires_at = created_at where id = $1', [id]),
    )
    assert.equal((await press(run.gateway, id)).state, 'closed')
    await expired
    assert.deepEqual(run.acquirer.of('expired-between'), [])
    await assert.rejects(run.gateway.checkouts.payment(id), { code: '200.300.404', status: 400 })
  })

  test('the time of a checkout ends while a new press waits for the bank: nothing is sent', async () => {
    const id = await made('expired-at-bank', {
      debit: toBank!,
      enquire: () => pending(bankPage),
      reverseByKey: async () => {
        await run.sql(
          `update tollgate.checkout set expires_at = date_trunc('milliseconds', clock_timestamp()) where id = $1`,
          [id],
        )
        return { is: 'reversed', refs: {} }
      },
    })
    await press(run.gateway, id)
    assert.equal((await press(run.gateway, id)).state, 'closed')
    assert.equal(debits('expired-at-bank'), 1)
  })

  test('a payment that began in time ends after the time of its checkout', async () => {
    const call = heldCall()
    const id = await made('ends-later', { debit: call.handler })
    const reply = press(run.gateway, id)
    const operation = await call.begun
    await run.sql('update tollgate.checkout set expires_at = created_at where id = $1', [id])
    call.answer(approvedAs(operation))
    assert.deepEqual(await reply, paid(id))
    assert.equal(await codeOf(id), charged)
  })

  test('a new press after a redirect pays once the first try is proven to take nothing', async () => {
    const id = await made('gave-up-there', {
      debit: toBank,
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => ({ is: 'reversed', refs: {} }),
    })
    const one = { nonce: nonce() }
    assert.deepEqual(await press(run.gateway, id, one), { state: 'waiting', ...bankPage })
    assert.deepEqual(await run.gateway.checkouts.state(id, one), { state: 'busy', ...bankPage })
    run.acquirer.tell('gave-up-there', { reverseByKey: () => ({ is: 'reversed', refs: {} }) })
    assert.deepEqual(await press(run.gateway, id), paid(id))
    const [first] = await paymentsOf(id)
    assert.equal(await run.code(first!), '100.396.101')
  })

  for (const [what, more, script] of [
    ['does not answer', {}, { reverseByKey: () => ({ is: 'unknown', why: 'silence' }) }],
    ['refuses to', {}, { reverseByKey: () => ({ is: 'refused', why: 'too late' }) }],
    ['cannot reverse by key', 'stubborn', {}],
  ] as const) {
    test(`an acquirer that ${what}: the first press keeps its redirect, and another one waits`, async () => {
      const reference = what.replaceAll(' ', '-')
      const at = typeof more === 'string' ? run.at(more) : more
      const id = await made(reference, { debit: toBank, ...(script as Script) }, at)
      const away = { state: 'waiting', ...bankPage }
      const one = { nonce: nonce() }
      assert.deepEqual(await press(run.gateway, id, one), away)
      assert.deepEqual(await press(run.gateway, id), { state: 'busy' })
      assert.deepEqual(await press(run.gateway, id, one), away)
      assert.equal((await paymentsOf(id)).length, 1)
      assert.equal(debits(reference), 1)
    })
  }

  test('after the time of the checkout a new press leaves the shopper at the bank in peace', async () => {
    const id = await made('left-in-peace', { debit: toBank })
    await press(run.gateway, id)
    await run.sql('update tollgate.checkout set expires_at = created_at where id = $1', [id])
    assert.deepEqual(await press(run.gateway, id), { state: 'busy' })
    assert.deepEqual(run.acquirer.of('left-in-peace'), ['debit'])
  })

  test('a bank that was paid meanwhile: the new press learns that all is paid', async () => {
    const id = await made('paid-meanwhile', { debit: toBank, enquire: (one) => approvedAs(one) })
    await press(run.gateway, id)
    assert.deepEqual(await press(run.gateway, id), paid(id))
    assert.equal(debits('paid-meanwhile'), 1)
  })

  test('a shopper who returns twice, on two hosts, has paid once and goes on with the checkout', async () => {
    const other = await run.another({ role: 'api', publicUrl: 'https://pay.example' })
    let returnUrl = ''
    const id = await made(
      'back-twice',
      {
        debit: (operation, context) => {
          returnUrl = operation.returnUrl ?? ''
          return toBank!(operation, context)
        },
      },
      run.at('bank'),
    )
    await press(run.gateway, id, { challenge: 'frame' })
    const [payment = '', token = ''] = returnUrl.split('/').slice(-2)
    const brought = { method: 'GET', query: { paid: 'yes' }, form: {} } as const
    const back = [run.gateway, other].map((on) => on.shoppers.cameBack(payment, token, brought))
    const merchant = { to: 'merchant', location: pageOf(id) }
    assert.deepEqual(await Promise.all(back), [merchant, merchant])
    assert.equal(await codeOf(id), charged)
    assert.deepEqual(await run.gateway.checkouts.state(id), paid(id))
    await other.close()
  })

  test('the end of its time and a return at the same moment: one of them decides', async () => {
    let returnUrl = ''
    const id = await made(
      'expiry-and-return',
      {
        debit: (operation, context) => {
          returnUrl = operation.returnUrl ?? ''
          return toBank!(operation, context)
        },
        enquire: () => ({ is: 'pending', next: bankPage }),
        reverseByKey: () => ({ is: 'reversed', refs: {} }),
      },
      run.at('bank'),
    )
    await press(run.gateway, id)
    const [payment = '', token = ''] = returnUrl.split('/').slice(-2)
    await run.sql(
      `update tollgate.timer set due_at = now()
        where kind = 'expire' and ref = (select attempt_key from tollgate.payment where id = $1)`,
      [payment],
    )
    const brought = { method: 'GET', query: { paid: 'yes' }, form: {} } as const
    await run.gateway.shoppers.cameBack(payment, token, brought)
    await until(async () =>
      ['approved', 'expired'].includes(await run.stateOf(payment)) ? true : undefined,
    )
    const reversals = run.acquirer.of('expiry-and-return').filter((one) => one === 'reverseByKey')
    const isPaid = (await run.stateOf(payment)) === 'approved'
    assert.equal(reversals.length, isPaid ? 0 : 1)
    assert.equal((await run.gateway.checkouts.state(id)).state, isPaid ? 'paid' : 'free')
  })

  describe('rows that a failover lost', () => {
    const lostRows = async (reference: string) => {
      const call = heldCall()
      const id = await made(reference, { debit: call.handler })
      const reply = press(run.gateway, id)
      const operation = await call.begun
      await run.sql('delete from tollgate.attempt where payment_id = $1', [operation.paymentId])
      await run.sql('delete from tollgate.payment_request where id = $1', [operation.paymentId])
      await run.sql('delete from tollgate.instrument where id = $1', [operation.paymentId])
      await run.sql('delete from tollgate.payment where id = $1', [operation.paymentId])
      await run.sql(`update tollgate.checkout set payment_id = null, nonces = '{}' where id = $1`, [
        id,
      ])
      return { id, reply, operation, answer: call.answer, payment: operation.paymentId }
    }

    test('the payment comes back with its slot, and nobody pays again', async () => {
      const { id, reply, operation, answer, payment } = await lostRows('slot-back')
      answer(approvedAs(operation))
      assert.deepEqual(await reply, paid(id))
      assert.deepEqual(await paymentsOf(id), [payment])
      assert.deepEqual(await run.kinds(payment), ['recovered'])
      assert.deepEqual(await press(run.gateway, id), paid(id))
      assert.equal(debits('slot-back'), 1)
    })

    test('where another payment has the slot, the first one is listed and taken back', async () => {
      const { id, reply, operation, answer, payment } = await lostRows('slot-gone')
      run.acquirer.tell('slot-gone', { reverseByKey: () => ({ is: 'reversed', refs: {} }) })
      assert.deepEqual(await press(run.gateway, id), paid(id))
      answer(approvedAs(operation))
      assert.deepEqual(await reply, paid(id))
      await until(async () =>
        (await run.kinds(payment)).join() === 'recovered,(conflict)' ? true : undefined,
      )
      assert.equal(await run.code(payment), notCharged)
      const byKey = run.acquirer.calls.filter(
        ({ what, operation: { paymentId } }) => what === 'reverseByKey' && paymentId === payment,
      )
      assert.equal(byKey.length, 1)
      assert.equal(await codeOf(id), charged)
    })

    test('the first one is also taken back when its process dies at its second commit', async () => {
      const { id, reply, operation, answer, payment } = await lostRows('slot-gone-for-dead')
      run.acquirer.tell('slot-gone-for-dead', {
        reverseByKey: () => ({ is: 'reversed', refs: {} }),
      })
      assert.deepEqual(await press(run.gateway, id), paid(id))
      const dead = Promise.withResolvers<void>()
      let commits = 0
      onFaultPoint((point, ref) => {
        if (point !== 'after-T2' || ref !== payment) return
        commits += 1
        // The first one finds no row, and the rows are written again.
        return commits === 2 ? dead.promise : undefined
      })
      try {
        answer(approvedAs(operation))
        await until(async () =>
          (await run.kinds(payment)).join() === 'recovered,(conflict)' ? true : undefined,
        )
      } finally {
        onFaultPoint(undefined)
        dead.resolve()
      }
      assert.deepEqual(await reply, paid(id))
    })
  })
})
