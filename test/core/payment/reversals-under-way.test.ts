/** Everything else that is told, asked or decided while a reversal by key is under way. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { accepted, approved, pending, type Reversed } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/fault-point.ts'
import { enquire, processed } from '../../rig/acquirer.ts'
import { balanceOf } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  eur,
  heldCall,
  lose,
  notCharged,
  refusedFor,
  undecided,
} from '../../rig/late-words.ts'
import {
  alice,
  bankPage,
  less,
  notReversed,
  type ReversalRun,
  reversed,
  startReversals,
  taken,
  wait,
} from './reversal-run.ts'

const ranOut = '100.396.103'

describe('words while a reversal by key is under way', { concurrency: false }, () => {
  let run: ReversalRun
  before(async () => {
    run = await startReversals()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  test('a shopper who returns goes on to the merchant, and the bank is not asked to complete', async () => {
    for (const [reference, said] of [
      ['returns-approved', approved({ captured: 'yes' })],
      ['returns-pending', pending(bankPage)],
    ] as const) {
      run.completes.set(reference, said)
      const { id, token } = await run.away(reference)
      await run.timeIsUp(id)
      await run.asked(id)
      const onward = await run.comeBack(id, token)
      assert.equal(onward?.to, 'merchant')
      assert.ok(!run.completed.includes(reference))
      assert.equal(await run.code(id), undecided)
      assert.equal(await run.tell(id, reversed), 'settled')
      assert.equal(await run.code(id), ranOut)
    }
  })

  test('a return that waited for the reversal is not completed', async () => {
    const call = heldCall<Reversed>()
    run.completes.set('returns-waiting', approved({ captured: 'yes' }))
    const { id, token } = await run.away('returns-waiting', { reverseByKey: call.handler as never })
    await run.timeIsUp(id)
    await call.begun
    const back = run.comeBack(id, token)
    call.answer(taken)
    assert.equal((await back)?.to, 'merchant')
    assert.ok(!run.completed.includes('returns-waiting'))
    await run.asked(id)
    await run.tell(id, reversed)
    assert.equal(await run.code(id), ranOut)
  })

  test('an answer after the deadline does not count, and is shown to operators', async () => {
    const call = heldCall()
    const { id: sale } = await run.debit('slow-sale')
    const { id } = await run.follow(sale, 'RF', 'slow-refund', eur('60.00'), {
      refund: call.handler,
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => taken,
    })
    await run.age(id)
    await run.dueNow(id)
    await run.asked(id)
    call.answer(approved({ reference: 'slow' }))
    await until(async () => ((await run.kinds(id)).length > 1 ? true : undefined))
    assert.equal(await run.code(id), undecided)
    assert.match(String((await run.details(id)).at(-1)!.why), /approved while its reversal/)
    await until(async () => ((await run.isLeased(id)) ? undefined : true))
    assert.equal(await run.tell(id, { ...reversed, minor: '6000' }), 'settled')
    assert.equal(await run.code(id), notCharged)
    assert.equal((await balanceOf(run, sale)).refunded, 0n)
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
  })

  test('the failure that is told before the answer of the request waits for the answer', async () => {
    for (const [reference, debit] of [
      ['fails-first-pending', wait],
      ['fails-first-unknown', lose],
    ] as const) {
      const call = heldCall<Reversed>()
      const { id } = await run.debit(reference, {
        debit,
        enquire: () => (debit === wait ? pending('event') : { is: 'notFound' }),
        reverseByKey: call.handler as never,
      })
      if (debit === lose) await run.age(id)
      await run.dueNow(id)
      await call.begun
      const eventId = await run.bring(id, notReversed)
      await until(async () => {
        const [row] = await run.sql(
          'select 1 from tollgate.inbound_event where event_id = $1 and waits > 0',
          [eventId],
        )
        return row === undefined ? undefined : true
      })
      assert.equal(await run.messageOf(eventId), null)
      run.acquirer.tell(reference, { enquire: () => ({ is: 'requested' }) })
      call.answer(taken)
      await until(async () => {
        await run.hurry()
        return (await run.kinds(id)).includes('conflict') ? true : undefined
      })
      assert.equal(await processed(run, eventId), 'settled')
    }
  })

  test('an approval after a death between the request and its record leads to an enquiry', async () => {
    const id = await (async () => {
      const script = { enquire: () => pending('event'), reverseByKey: () => taken }
      const view = await run.debit('dies-asking', { debit: wait, ...script })
      const died = new Promise<void>((gone) => {
        onFaultPoint((point, ref) => {
          if (point !== 'before-T2' || ref !== view.id) return
          gone()
          return new Promise<void>(() => {})
        })
      })
      await run.dueNow(view.id)
      await died
      onFaultPoint(undefined)
      return view.id
    })()
    run.acquirer.tell('dies-asking', { enquire: () => ({ is: 'requested' }) })
    await run.age(id)
    assert.equal(await run.tell(id, { outcome: approval }), 'enquired')
    assert.equal(await run.code(id), undecided)
    await until(async () => {
      await run.tell(id, reversed)
      return (await run.code(id)) === undecided ? undefined : true
    })
    assert.equal(await run.code(id), notCharged)
  })

  test('an approval during a reversal is shown, and "nothing there" is no proof any more', async () => {
    const id = await run.requested('told-approved')
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    assert.match(String((await run.details(id)).at(-1)!.why), /approved while its reversal/)
    run.acquirer.tell('told-approved', {
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => ({ is: 'nothing' }),
    })
    await enquire(run, id)
    assert.equal(await run.code(id), undecided)
    await until(() => run.operator.settle(id, 'approved', alice).catch(() => undefined))
    assert.equal(await run.code(id), charged)
  })

  test('a reversal of an amount that nobody knew is listed, and an enquiry lets it end', async () => {
    const id = await run.requested('other-reversed')
    assert.equal(await run.tell(id, { ...reversed, minor: '4600' }), 'enquired')
    assert.deepEqual(await run.kinds(id), ['undecided', 'undecided'])
    run.acquirer.tell('other-reversed', { enquire: less, reverseByKey: () => taken })
    const eventId = await run.bring(id, { ...reversed, minor: '4600' })
    await until(async () => {
      await run.hurry()
      return (await run.code(id)) === undecided ? undefined : true
    })
    // The message ends it, unless it meets the engine's own question, whose answer then does.
    assert.ok(['settled', 'known'].includes(await processed(run, eventId)))
    assert.ok((await run.kinds(id)).every((kind) => kind === '(undecided)'))
  })

  test('a part of the amount is not kept as the whole, also where parts may be approved', async () => {
    const id = await run.requested('part-held', {}, run.at('parts'))
    run.acquirer.tell('part-held', { enquire: less, reverseByKey: () => taken })
    await until(async () => {
      await enquire(run, id)
      return (await run.kinds(id)).length > 1 ? true : undefined
    })
    await assert.rejects(run.operator.settle(id, 'approved', alice), refusedFor(/another amount/))
    await run.operator.settle(id, 'declined', alice)
  })

  test('a part that a message approves is not kept as the whole, also where parts may be approved', async () => {
    const id = await run.requested('part-told', {}, run.at('parts'))
    await run.tellFree(id, { outcome: approval, minor: '4600' })
    run.acquirer.tell('part-told', { enquire: () => ({ is: 'notReversed', why: 'too late' }) })
    await enquire(run, id)
    await until(async () => ((await run.kinds(id)).includes('conflict') ? true : undefined))
    await until(() => run.operator.settle(id, 'approved', alice).catch(() => undefined))
    assert.equal((await balanceOf(run, id)).captured, 4600n)
  })

  test('an expired payment is not pending again after a return', async () => {
    run.completes.set('expired-returns', pending(bankPage))
    const { id, token } = await run.away('expired-returns', {
      reverseByKey: () => ({ is: 'refused', why: 'no' }),
    })
    await run.timeIsUp(id)
    await until(async () => ((await run.stateOf(id)) === 'unknown' ? true : undefined))
    await until(async () => ((await run.isLeased(id)) ? undefined : true))
    await run.comeBack(id, token)
    assert.ok(run.completed.includes('expired-returns'))
    assert.equal(await run.stateOf(id), 'unknown')
    assert.ok(!(await run.isLeased(id)))
    assert.deepEqual(await run.timers(id), ['look'])
  })

  test('the time of a try that was given up ends once', async () => {
    const { id } = await run.debit('ends-once', {
      debit: wait,
      enquire: () => ({ is: 'requested' }),
      reverseByKey: () => taken,
    })
    await enquire(run, id)
    assert.deepEqual(await run.timers(id), ['expire', 'look'])
    await run.timeIsUp(id)
    await until(async () => ((await run.timers(id)).join() === 'look' ? true : undefined))
    await run.tellFree(id, reversed)
    assert.equal(await run.stateOf(id), 'declined')
  })

  test('a reversal that every poll repeats is listed once', async () => {
    const { id } = await run.debit('polled-reversed', {
      debit: (_, context) => {
        context.sending()
        return accepted({ reference: 'x' }, { poll: 60_000 })
      },
      enquire: () => ({ is: 'reversed' }),
    })
    await run.dueNow(id)
    await until(async () => ((await run.kinds(id)).includes('return') ? true : undefined))
    await until(async () => ((await run.timers(id)).length === 0 ? true : undefined))
    assert.deepEqual(await run.kinds(id), ['return'])
  })
})
