/** Reversals by key of late successes: their amounts, their failures and the looks at them. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { approved, declined, pending } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/fault-point.ts'
import { approvedAs, enquire, type Script } from '../../rig/acquirer.ts'
import { balanceOf } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { accept, approval, charged, eur, failure, lose, refusedFor } from '../../rig/late-words.ts'
import { newCheckout, press } from '../checkout/rig.ts'
import {
  alice,
  bankPage,
  less,
  notReversed,
  type ReversalRun,
  reversed,
  startReversals,
  taken,
} from './reversal-run.ts'

describe('reversals of late successes', { concurrency: false }, () => {
  let run: ReversalRun
  before(async () => {
    run = await startReversals()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  test('a late success has the amount that the acquirer holds', async () => {
    for (const minor of ['4600', '9200']) {
      const reference = `holds-less-${minor}`
      const { id } = await run.debit(reference, {
        debit: lose,
        enquire: less,
        reverseByKey: () => taken,
      })
      await run.age(id)
      await enquire(run, id)
      assert.equal(await run.tell(id, { ...notReversed, minor }), 'settled')
      await run.operator.settle(id, 'approved', alice)
      assert.equal((await run.gateway.payments.get(id)).amount, '46.00')
      await assert.rejects(run.follow(id, 'RF', `${reference}-refund`, eur('92.00')), {
        code: '700.400.200',
      })
    }
  })

  test('a late success in another currency cannot be kept', async () => {
    const { id } = await run.debit('holds-dollars', {
      debit: lose,
      enquire: () => approved({ reference: 'usd' }, { amount: { minor: 9200n, currency: 'USD' } }),
      reverseByKey: () => taken,
    })
    await run.age(id)
    await enquire(run, id)
    await run.tell(id, { ...notReversed, currency: 'USD' })
    await assert.rejects(run.operator.settle(id, 'approved', alice), refusedFor(/another currency/))
  })

  test('a failure of a reversal that was told as done is a late success for operators', async () => {
    const reference = 'fails-after-all'
    const toBank: Script['debit'] = (_, context) => {
      context.sending()
      return pending(bankPage, { refs: { bank: 'b' } })
    }
    run.acquirer.tell(reference, {
      debit: toBank,
      enquire: () => pending(bankPage),
      reverseByKey: () => taken,
    })
    const checkout = await newCheckout(run, {
      merchantTransactionId: reference,
      testMode: 'EXTERNAL',
    })
    await press(run.gateway, checkout)
    await press(run.gateway, checkout)
    const [row] = await run.sql<{ id: string }>(
      'select payment_id as id from tollgate.checkout where id = $1',
      [checkout],
    )
    const { id } = row!
    await run.tell(id, reversed)
    assert.equal(await run.tell(id, notReversed), 'settled')
    assert.deepEqual(await run.kinds(id), ['(undecided)', 'conflict'])
    assert.ok(!(await run.timers(id)).includes('look'))
    run.acquirer.tell(reference, {})
    assert.deepEqual(await press(run.gateway, checkout), { state: 'busy' })
    assert.equal(run.calls(reference, 'debit'), 1)
    // A look that another party caused takes nothing back.
    const before = run.calls(reference, 'reverseByKey')
    await run.sql(
      `insert into tollgate.timer (id, due_at, kind, ref)
         select gen_random_uuid(), now(), 'look', attempt_key from tollgate.payment where id = $1`,
      [id],
    )
    await until(async () => ((await run.timers(id)).includes('look') ? undefined : true))
    assert.equal(run.calls(reference, 'reverseByKey'), before)
    await run.operator.settle(id, 'approved', alice)
    assert.equal(await run.code(id), charged)
    assert.equal((await press(run.gateway, checkout)).state, 'paid')
  })

  test('a refund whose reversal failed after all is counted again', async () => {
    const { id: sale } = await run.debit('refund-sale')
    const { id } = await run.follow(sale, 'RF', 'refund-stands', eur('60.00'), {
      refund: lose,
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => taken,
    })
    await run.age(id)
    await run.dueNow(id)
    await run.asked(id)
    await run.tell(id, { ...reversed, minor: '6000' })
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
    assert.equal(await run.tell(id, { ...notReversed, minor: '6000' }), 'settled')
    assert.equal((await balanceOf(run, sale)).refunding, 6000n)
    await assert.rejects(run.follow(sale, 'RF', 'refund-again', eur('60.00')))
    await run.operator.settle(id, 'declined', alice)
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
  })

  test('a request about the open payment stands in for no request about its late success', async () => {
    const id = await run.requested('old-request')
    run.acquirer.tell('old-request', { enquire: approvedAs, reverseByKey: () => taken })
    await run.tell(id, { outcome: failure })
    run.acquirer.tell('old-request', {
      enquire: approvedAs,
      reverseByKey: () => ({ is: 'reversed' }),
    })
    await run.tell(id, { outcome: approval })
    await until(async () =>
      (await run.kinds(id)).every((kind) => kind.startsWith('(')) ? true : undefined,
    )
    assert.equal(run.calls('old-request', 'reverseByKey'), 2)
  })

  test('money that was given back by hand and reversed as well is listed', async () => {
    const id = await run.late('given-back-twice')
    await until(() => run.operator.settle(id, 'declined', alice).catch(() => undefined))
    assert.equal(await run.tell(id, reversed), 'conflict')
    assert.deepEqual(await run.kinds(id), ['(conflict)', 'conflict'])
    const [entry] = (await run.listed(id)).filter(({ open }) => open)
    await run.gateway.operator.resolve(entry!.id, alice)
    assert.deepEqual(await run.kinds(id), ['(conflict)', '(conflict)'])
  })

  test('a failure that is repeated after a redrive does not end the looks at the new reversal', async () => {
    const id = await run.late('old-failure', {
      enquire: () => ({ is: 'notReversed', why: 'first time' }),
    })
    assert.equal(await run.tellFree(id, notReversed), 'settled')
    assert.deepEqual(await run.timers(id), [])
    await run.gateway.operator.redrive(id, alice)
    await until(async () => (run.calls('old-failure', 'reverseByKey') > 1 ? true : undefined))
    run.acquirer.tell('old-failure', { enquire: () => ({ is: 'requested' }) })
    await run.tellFree(id, { ...notReversed, eventId: 'old-failure-again' })
    assert.deepEqual(await run.timers(id), ['look'])
    run.acquirer.tell('old-failure', { enquire: () => ({ is: 'reversed' }) })
    // A look that meets a lease comes later, and the one that the redrive began can still hold it.
    await until(async () => {
      await run.dueNow(id)
      return (await run.kinds(id))[0] === '(conflict)' ? true : undefined
    })
    assert.equal(run.calls('old-failure', 'reverseByKey'), 2)
  })

  test('a failure by key does not end the looks at a reversal of the own', async () => {
    const id = await run.late('own-reversal', {
      enquire: approvedAs,
      reverse: accept,
      reverseByKey: () => ({ is: 'refused', why: 'only by an operation' }),
    })
    const own = await until(async () => {
      const [row] = await run.sql<{ id: string }>(
        "select id from tollgate.payment where referenced_id = $1 and state = 'approved'",
        [id],
      )
      return row?.id
    })
    assert.equal(await run.tellFree(id, notReversed), 'settled')
    assert.deepEqual(await run.timers(id), ['look'])
    await run.tell(own, { outcome: approval })
    await run.dueNow(id)
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
  })

  test('a late success that the acquirer calls declined ends its looks and stays listed', async () => {
    const id = await run.late('calls-declined', { enquire: () => declined('800.100.203') })
    await until(async () => ((await run.isLeased(id)) ? undefined : true))
    await run.dueNow(id)
    await until(async () => ((await run.timers(id)).length === 0 ? true : undefined))
    assert.deepEqual(await run.kinds(id), ['conflict'])
    assert.equal(run.calls('calls-declined', 'reverseByKey'), 1)
    await until(() => run.operator.settle(id, 'declined', alice).catch(() => undefined))
    assert.deepEqual(await run.kinds(id), ['(conflict)'])
  })
})
