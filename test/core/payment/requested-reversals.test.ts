/** Reversals by key that the acquirer only takes: their end comes later, by an event or an enquiry. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import {
  approved,
  type Context,
  type Operation,
  pending,
  type Reversed,
} from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/fault-point.ts'
import { approvedAs, enquire, message, type Script, sentAgain } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  eur,
  failure,
  heldCall,
  type LateRun,
  lose,
  notCharged,
  refuse,
  startLate,
  undecided,
} from '../../rig/late-words.ts'
import { newCheckout, press } from '../checkout/rig.ts'

const ranOut = '100.396.103'
const taken: Reversed = { is: 'requested', refs: { reversal: 'r-1' } }
const reversed = { outcome: { is: 'reversed', refs: { reversal: 'r-1' } } }
const notReversed = { outcome: { is: 'notReversed', why: 'the line to the scheme is down' } }
const alice = { by: 'alice', reason: 'the tool of the acquirer shows it' }

const wait = (_: Operation, context: Context) => {
  context.sending()
  return pending('event', { refs: { reference: 'open' } })
}

describe('reversals by key that are only requested', { concurrency: false }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate({}, { publicUrl: 'https://pay.example' })
  })
  after(() => closeChecked(run))
  afterEach(() => onFaultPoint(undefined))

  const expiring: Script = {
    debit: wait,
    enquire: () => pending('event'),
    reverseByKey: () => taken,
  }
  /** A payment past its time, whose reversal the acquirer took. */
  const requested = async (reference: string, script: Script = {}) => {
    const { id } = await run.debit(reference, { ...expiring, ...script })
    await run.dueNow(id)
    await until(async () =>
      (await run.audited(id)).includes('reverse-by-key') && (await run.stateOf(id)) === 'unknown'
        ? true
        : undefined,
    )
    return id
  }
  const requests = (reference: string) =>
    run.acquirer.of(reference).filter((what) => what === 'reverseByKey').length
  /** A refund that was declined, and that the acquirer carried out after all. */
  const late = async (reference: string, script: Script = {}) => {
    const { id: sale } = await run.debit(`sale-${reference}`)
    const refund = { refund: refuse, enquire: () => ({ is: 'requested' }) as const, ...script }
    const { id } = await run.follow(sale, 'RF', reference, eur('60.00'), {
      ...refund,
      reverseByKey: () => taken,
    })
    await run.tell(id, { outcome: approval, minor: '6000' })
    await until(async () => ((await run.audited(id)).includes('reverse-by-key') ? true : undefined))
    return { sale, id }
  }

  test('an expired payment stays open and listed until the reversal is told, then it is expired', async () => {
    const id = await requested('expires-open')
    assert.equal(await run.code(id), undecided)
    assert.deepEqual(await run.kinds(id), ['undecided'])
    assert.deepEqual(await run.timers(id), ['look'])
    assert.equal(await run.tell(id, { ...reversed, eventId: 'expires-once' }), 'settled')
    assert.equal(await run.code(id), ranOut)
    assert.equal(await run.stateOf(id), 'expired')
    assert.deepEqual(await run.kinds(id), ['(undecided)'])
    assert.deepEqual(await run.timers(id), [])
    assert.equal(await run.tell(id, { ...reversed, eventId: 'expires-again' }), 'known')
    assert.equal(await run.stateOf(id), 'expired')
  })

  test('an approval does not count while the reversal is under way', async () => {
    const id = await requested('approved-meanwhile')
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    run.acquirer.tell('approved-meanwhile', { ...expiring, enquire: approvedAs })
    await enquire(run, id)
    assert.equal(await run.code(id), undecided)
    await run.tell(id, reversed)
    assert.equal(await run.code(id), ranOut)
  })

  test('a reversal that failed leaves a late success for an operator, and nothing more is sent', async () => {
    const id = await requested('stands-for-good')
    assert.equal(await run.tell(id, { ...notReversed, eventId: 'stands-once' }), 'settled')
    assert.equal(await run.stateOf(id), 'expired')
    assert.deepEqual(await run.kinds(id), ['(undecided)', 'conflict'])
    assert.ok((await run.audited(id)).includes('late-success-stands'))
    assert.deepEqual(await run.timers(id), [])
    const asked = run.acquirer.of('stands-for-good').length
    await run.tell(id, { ...notReversed, eventId: 'stands-again' })
    await run.dueNow(id)
    assert.equal(run.acquirer.of('stands-for-good').length, asked)
    await run.operator.settle(id, 'approved', alice)
    assert.equal(await run.code(id), charged)
    assert.deepEqual(await run.kinds(id), ['(undecided)', '(conflict)'])
  })

  test('a reversal that failed and is done after all ends the late success', async () => {
    const id = await requested('done-after-all')
    await run.tell(id, notReversed)
    assert.equal(await run.tell(id, reversed), 'settled')
    assert.deepEqual(await run.kinds(id), ['(undecided)', '(conflict)'])
    assert.ok((await run.audited(id)).includes('late-success-reversed'))
  })

  test('an enquiry ends the reversal where no event comes, and asks for it no second time', async () => {
    for (const [reference, found, kinds] of [
      ['found-reversed', { is: 'reversed' }, ['(undecided)']],
      ['found-standing', { is: 'notReversed', why: 'too late' }, ['(undecided)', 'conflict']],
    ] as const) {
      let isEnded = false
      const id = await requested(reference, {
        enquire: () => (isEnded ? found : pending('event')),
      })
      await enquire(run, id)
      assert.equal(await run.code(id), undecided)
      assert.deepEqual(await run.kinds(id), ['undecided'])
      isEnded = true
      await enquire(run, id)
      assert.equal(await run.stateOf(id), 'expired')
      assert.deepEqual(await run.kinds(id), kinds)
      assert.equal(requests(reference), 1)
    }
  })

  test('without any word it is enquired on the ladder, stays listed, and an operator can decide', async () => {
    const id = await requested('no-word-ever')
    assert.equal(requests('no-word-ever'), 1)
    for (let look = 0; look < 3; look += 1) {
      await run.dueNow(id)
      await enquire(run, id)
      assert.deepEqual(await run.timers(id), ['look'])
      assert.deepEqual(await run.kinds(id), ['undecided'])
    }
    assert.equal(requests('no-word-ever'), 1)
    await until(() => run.operator.settle(id, 'declined', alice).catch(() => undefined))
    assert.equal(await run.stateOf(id), 'declined')
    assert.equal(await run.tell(id, reversed), 'known')
    assert.deepEqual(await run.kinds(id), ['(undecided)'])
  })

  test('an acquirer that knows nothing of the request is asked for it again', async () => {
    const id = await requested('forgotten')
    run.acquirer.tell('forgotten', {
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => ({ is: 'nothing' }),
    })
    await enquire(run, id)
    assert.equal(await run.code(id), ranOut)
  })

  test('a forged word only leads to an enquiry', async () => {
    const id = await requested('forged-word')
    for (const [no, word] of [reversed, notReversed].entries()) {
      const before = run.acquirer.of('forged-word').length
      const about = { eventId: `forged-${no}`, key: await run.keyOf(id), ...word }
      await sentAgain(run.gateway.inbound('scripted', run.account, message(about, {})))
      await until(async () => (run.acquirer.of('forged-word').length > before ? true : undefined))
      // A second enquiry waits for the end of the first.
      await until(async () => {
        const [row] = await run.sql(
          'select from tollgate.attempt where payment_id = $1 and lease_until is null',
          [id],
        )
        return row !== undefined || undefined
      })
    }
    assert.equal(await run.code(id), undecided)
    assert.deepEqual(await run.kinds(id), ['undecided'])
  })

  test('the event before the answer of the request waits for the answer', async () => {
    const call = heldCall<Reversed>()
    const { id } = await run.debit('event-first', {
      ...expiring,
      reverseByKey: call.handler as never,
    })
    await run.dueNow(id)
    await call.begun
    const eventId = await run.bring(id, reversed)
    call.answer(taken)
    await until(async () => {
      await run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [
        eventId,
      ])
      return (await run.stateOf(id)) === 'expired' ? true : undefined
    })
    assert.equal(await run.code(id), ranOut)
  })

  test('a process that dies between the request and its record: the event ends the payment', async () => {
    const { id } = await run.debit('dies-between', {
      debit: wait,
      enquire: () => pending('event'),
      reverseByKey: () => taken,
    })
    const died = new Promise<void>((gone) => {
      onFaultPoint((point, ref) => {
        if (point !== 'before-T2' || ref !== id) return
        gone()
        return new Promise<void>(() => {})
      })
    })
    await run.dueNow(id)
    await died
    onFaultPoint(undefined)
    assert.equal(await run.stateOf(id), 'pending')
    const eventId = await run.bring(id, reversed)
    await run.age(id)
    await until(async () => {
      await run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [
        eventId,
      ])
      return (await run.stateOf(id)) === 'declined' ? true : undefined
    })
    assert.equal(await run.code(id), notCharged)
  })

  test('the same death without an event: an enquiry tells of the request', async () => {
    const { id } = await run.debit('dies-silently', { debit: lose, reverseByKey: () => taken })
    await run.age(id)
    run.acquirer.tell('dies-silently', { enquire: () => ({ is: 'requested' }) })
    await enquire(run, id)
    await run.tell(id, { outcome: approval })
    assert.equal(await run.code(id), undecided)
    assert.equal(await run.tell(id, reversed), 'settled')
    assert.equal(await run.code(id), notCharged)
  })

  test('two processes look and hear at once: the payment ends once', async () => {
    const other = await run.another({ plugins: [run.acquirer.plugin] })
    const open = await requested('two-hosts')
    run.acquirer.tell('two-hosts', { enquire: () => ({ is: 'reversed' }) })
    await Promise.all([
      run.bring(open, { ...reversed, eventId: 'two-1' }, other),
      run.bring(open, { ...reversed, eventId: 'two-2' }),
      run.dueNow(open),
    ])
    await until(async () => {
      await run.sql(`update tollgate.inbound_event set next_at = now() where processed_at is null`)
      return ['expired', 'declined'].includes(await run.stateOf(open)) ? true : undefined
    })
    const ends = await run.sql(
      `select type from tollgate.event where resource = $1 and type in ('payment.expired', 'payment.declined')`,
      [open],
    )
    assert.equal(ends.length, 1)
    assert.ok(!(await run.kinds(open)).includes('conflict'))
  })

  test('money that goes out of an approved payment without a request is listed, and refunds wait', async () => {
    const { id } = await run.debit('nobody-asked')
    assert.equal(await run.tell(id, reversed), 'conflict')
    assert.equal(await run.code(id), charged)
    assert.deepEqual(await run.kinds(id), ['return'])
    await assert.rejects(run.follow(id, 'RF', 'nobody-asked-refund', eur('1.00')), {
      code: '700.300.600',
    })
  })

  test('that money may come back, also after an operator closed the entry', async () => {
    const { id } = await run.debit('came-back')
    assert.equal(await run.tell(id, notReversed), 'known')
    await run.tell(id, reversed)
    const [returned] = await run.listed(id)
    await run.gateway.operator.resolve(returned!.id, { by: 'alice', reason: 'booked' })
    assert.deepEqual(await run.kinds(id), ['(return)'])
    const again = { ...notReversed, eventId: 'came-back-2' }
    assert.equal(await run.tell(id, again), 'conflict')
    assert.deepEqual(await run.kinds(id), ['(return)', 'conflict'])
  })

  test('a late success stays counted until its reversal is told', async () => {
    const { sale, id } = await late('late-reversed')
    assert.deepEqual(await run.kinds(id), ['conflict'])
    assert.equal((await balanceOf(run, sale)).refunding, 6000n)
    assert.equal(await run.tell(id, { ...reversed, minor: '6000' }), 'settled')
    assert.deepEqual(await run.kinds(id), ['(conflict)'])
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
    assert.equal(requests('late-reversed'), 1)
  })

  test('a late success whose reversal failed waits for an operator, who may request it again', async () => {
    const { sale, id } = await late('late-stands')
    await until(async () => {
      const word = { ...notReversed, minor: '6000' }
      return (await run.tell(id, word)) === 'settled' ? true : undefined
    })
    assert.deepEqual(await run.timers(id), [])
    assert.deepEqual(await run.kinds(id), ['conflict'])
    assert.equal((await balanceOf(run, sale)).refunding, 6000n)
    run.acquirer.tell('late-stands', {
      enquire: () => ({ is: 'notReversed', why: 'too late' }),
      reverseByKey: () => ({ is: 'reversed' }),
    })
    await run.gateway.operator.redrive(id, alice)
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
  })

  test('an enquiry ends the reversal of a late success', async () => {
    const { sale, id } = await late('late-found', { enquire: () => ({ is: 'reversed' }) })
    await run.dueNow(id)
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
    assert.equal(requests('late-found'), 1)
  })

  test('an operator who decided meanwhile is told of the contradiction', async () => {
    const id = await requested('kept-meanwhile')
    await enquire(run, id)
    await run.operator.settle(id, 'approved', alice)
    assert.equal(await run.code(id), charged)
    assert.equal(await run.tell(id, reversed), 'conflict')
    assert.deepEqual(await run.kinds(id), ['(undecided)', 'return'])
  })

  test('a decline is proof that nothing moved', async () => {
    const id = await requested('declined-meanwhile')
    assert.equal(await run.tell(id, { outcome: failure }), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
  })

  test('another amount that is taken back frees the money that it held', async () => {
    const { id } = await run.debit('other-amount', {
      debit: lose,
      enquire: () => approved({ reference: 'less' }, { amount: { minor: 4600n, currency: 'EUR' } }),
      reverseByKey: () => taken,
    })
    await run.age(id)
    await enquire(run, id)
    assert.equal(await run.code(id), undecided)
    assert.equal(await run.tell(id, { ...reversed, minor: '4600' }), 'settled')
    assert.equal(await run.code(id), notCharged)
    assert.ok((await run.kinds(id)).every((kind) => kind === '(undecided)'))
  })

  test('a shopper who tries again waits until the reversal of the first try is told', async () => {
    const bankPage = { redirect: { url: 'https://bank.example/confirm' } }
    const toBank: Script['debit'] = (_, context) => {
      context.sending()
      return pending(bankPage, { refs: { bank: 'b' } })
    }
    const made = async (reference: string) => {
      run.acquirer.tell(reference, { ...expiring, debit: toBank })
      const checkout = await newCheckout(run, {
        merchantTransactionId: reference,
        testMode: 'EXTERNAL',
      })
      assert.equal((await press(run.gateway, checkout)).state, 'waiting')
      const [row] = await run.sql<{ id: string }>(
        'select payment_id as id from tollgate.checkout where id = $1',
        [checkout],
      )
      for (let no = 1; no <= 2; no += 1) {
        assert.deepEqual(await press(run.gateway, checkout), { state: 'busy' })
      }
      assert.equal(await run.code(row!.id), undecided)
      assert.deepEqual(run.acquirer.of(reference), ['debit', 'enquire', 'reverseByKey'])
      return { checkout, first: row!.id }
    }
    const back = await made('tries-again')
    await run.tell(back.first, reversed)
    assert.equal(await run.code(back.first), '100.396.101')
    run.acquirer.tell('tries-again', {})
    assert.equal((await press(run.gateway, back.checkout)).state, 'paid')
    const kept = await made('tries-in-vain')
    await run.tell(kept.first, notReversed)
    assert.deepEqual(await press(run.gateway, kept.checkout), { state: 'busy' })
    assert.deepEqual(await run.kinds(kept.first), ['(undecided)', 'conflict'])
    await run.operator.settle(kept.first, 'approved', alice)
    assert.equal((await press(run.gateway, kept.checkout)).state, 'paid')
  })
})
