/** Everything else that is told, asked or decided while a reversal by key is under way. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import {
  accepted,
  approved,
  type Connector,
  type Context,
  declined,
  type Operation,
  type Outcome,
  pending,
  type Reversed,
} from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/fault-point.ts'
import { approvedAs, enquire, processed, type Script } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  accept,
  approval,
  charged,
  eur,
  failure,
  heldCall,
  type LateRun,
  lose,
  notCharged,
  refuse,
  refusedFor,
  startLate,
  undecided,
} from '../../rig/late-words.ts'
import { newCheckout, press } from '../checkout/rig.ts'

const ranOut = '100.396.103'
const taken: Reversed = { is: 'requested', refs: { reversal: 'r-1' } }
const reversed = { outcome: { is: 'reversed', refs: { reversal: 'r-1' } } }
const notReversed = { outcome: { is: 'notReversed', why: 'the scheme refused' } }
const alice = { by: 'alice', reason: 'seen in the tool of the acquirer' }
const bankPage = { redirect: { url: 'https://bank.example/confirm' } }
const merchantPage = 'https://shop.example/thanks?order=7'
const less = () => approved({ reference: 'less' }, { amount: { minor: 4600n, currency: 'EUR' } })

const wait = (_: Operation, context: Context) => {
  context.sending()
  return pending('event', { refs: { reference: 'open' } })
}

describe('words while a reversal by key is under way', { concurrency: false }, () => {
  let run: LateRun
  /** How a shopper's return is answered, by the merchant's reference. */
  const completes = new Map<string, Outcome>()
  const completed: string[] = []
  before(async () => {
    const bank = (connector: Connector): Connector => ({
      ...connector,
      complete: async (operation, _, context) => {
        context.sending()
        completed.push(operation.merchantTransactionId!)
        return completes.get(operation.merchantTransactionId!)!
      },
    })
    const options = { publicUrl: 'https://pay.example', connectorTimeoutMs: 2_000 }
    run = await startLate({ bank, parts: (connector) => connector }, options)
    const { entityId } = run.at('parts')
    await run.gateway.entities.configure(entityId, { partialApproval: true }, { by: 'alice' })
  })
  after(() => closeChecked(run))
  afterEach(() => onFaultPoint(undefined))

  const asked = (id: string) =>
    until(async () => {
      const isAsked = (await run.audited(id)).includes('reverse-by-key')
      return isAsked && (await run.stateOf(id)) === 'unknown' && !(await isLeased(id))
        ? true
        : undefined
    })
  const isLeased = async (id: string) =>
    (
      await run.sql(
        'select 1 from tollgate.attempt where payment_id = $1 and lease_until is not null',
        [id],
      )
    ).length > 0
  /** An open payment whose reversal the acquirer took, and then tells nothing of. */
  const requested = async (reference: string, script: Script = {}, at = {}) => {
    const expiring = { debit: wait, enquire: () => pending('event'), reverseByKey: () => taken }
    const { id } = await run.debit(reference, { ...expiring, ...script }, at)
    await run.dueNow(id)
    await asked(id)
    return id
  }
  /** A payment whose shopper is on a page of the bank. */
  const away = async (reference: string, script: Script = {}) => {
    let page = ''
    const { id } = await run.debit(
      reference,
      {
        debit: (operation, context) => {
          context.sending()
          page = operation.returnUrl!
          return pending(bankPage, { refs: { bank: 'b' } })
        },
        enquire: () => pending(bankPage),
        reverseByKey: () => taken,
        ...script,
      },
      { shopperResultUrl: merchantPage, ...run.at('bank') },
    )
    return { id, token: page.split('/').at(-1)! }
  }
  const timeIsUp = (id: string) =>
    run.sql(
      `update tollgate.timer set due_at = now() where kind = 'expire'
         and ref = (select attempt_key from tollgate.payment where id = $1)`,
      [id],
    )
  const comeBack = (id: string, token: string) =>
    run.gateway.shoppers.cameBack(id, token, { method: 'GET', query: {}, form: {} })
  /** A declined payment that the acquirer carried out, and whose reversal it took. */
  const late = async (reference: string, script: Script = {}) => {
    const refused = { debit: refuse, enquire: () => ({ is: 'requested' }) as const }
    const { id } = await run.debit(reference, { ...refused, reverseByKey: () => taken, ...script })
    await run.tell(id, { outcome: approval })
    await until(async () => (calls(reference, 'reverseByKey') > 0 ? true : undefined))
    await until(async () => ((await isLeased(id)) ? undefined : true))
    return id
  }
  /** Tells a word until no other process holds the payment. */
  const tellFree = async (id: string, word: Parameters<LateRun['tell']>[1]) => {
    await until(async () => ((await isLeased(id)) ? undefined : true))
    return run.tell(id, word)
  }
  const calls = (reference: string, what: string) =>
    run.acquirer.of(reference).filter((call) => call === what).length
  const details = async (id: string) => (await run.listed(id)).map(({ detail }) => detail)
  const messageOf = async (eventId: string) => {
    const [row] = await run.sql<{ outcome: string | null }>(
      'select outcome from tollgate.inbound_event where event_id = $1',
      [eventId],
    )
    return row!.outcome
  }
  const hurry = async () => {
    await run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
  }

  test('a shopper who returns goes on to the merchant, and the bank is not asked to complete', async () => {
    for (const [reference, said] of [
      ['returns-approved', approved({ captured: 'yes' })],
      ['returns-pending', pending(bankPage)],
    ] as const) {
      completes.set(reference, said)
      const { id, token } = await away(reference)
      await timeIsUp(id)
      await asked(id)
      const onward = await comeBack(id, token)
      assert.equal(onward?.to, 'merchant')
      assert.ok(!completed.includes(reference))
      assert.equal(await run.code(id), undecided)
      assert.equal(await run.tell(id, reversed), 'settled')
      assert.equal(await run.code(id), ranOut)
    }
  })

  test('a return that waited for the reversal is not completed', async () => {
    const call = heldCall<Reversed>()
    completes.set('returns-waiting', approved({ captured: 'yes' }))
    const { id, token } = await away('returns-waiting', { reverseByKey: call.handler as never })
    await timeIsUp(id)
    await call.begun
    const back = comeBack(id, token)
    call.answer(taken)
    assert.equal((await back)?.to, 'merchant')
    assert.ok(!completed.includes('returns-waiting'))
    await asked(id)
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
    await asked(id)
    call.answer(approved({ reference: 'slow' }))
    await until(async () => ((await run.kinds(id)).length > 1 ? true : undefined))
    assert.equal(await run.code(id), undecided)
    assert.match(String((await details(id)).at(-1)!.why), /approved while its reversal/)
    await until(async () => ((await isLeased(id)) ? undefined : true))
    assert.equal(await run.tell(id, { ...reversed, minor: '6000' }), 'settled')
    assert.equal(await run.code(id), notCharged)
    assert.equal((await balanceOf(run, sale)).refunded, 0n)
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
  })

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
      await run.gateway.operator.settle(id, 'approved', alice)
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
    await assert.rejects(
      run.gateway.operator.settle(id, 'approved', alice),
      refusedFor(/another currency/),
    )
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
    assert.equal(calls(reference, 'debit'), 1)
    // A look that another party caused takes nothing back.
    const before = calls(reference, 'reverseByKey')
    await run.sql(
      `insert into tollgate.timer (id, due_at, kind, ref)
         select gen_random_uuid(), now(), 'look', attempt_key from tollgate.payment where id = $1`,
      [id],
    )
    await until(async () => ((await run.timers(id)).includes('look') ? undefined : true))
    assert.equal(calls(reference, 'reverseByKey'), before)
    await run.gateway.operator.settle(id, 'approved', alice)
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
    await asked(id)
    await run.tell(id, { ...reversed, minor: '6000' })
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
    assert.equal(await run.tell(id, { ...notReversed, minor: '6000' }), 'settled')
    assert.equal((await balanceOf(run, sale)).refunding, 6000n)
    await assert.rejects(run.follow(sale, 'RF', 'refund-again', eur('60.00')))
    await run.gateway.operator.settle(id, 'declined', alice)
    assert.equal((await balanceOf(run, sale)).refunding, 0n)
  })

  test('a request about the open payment stands in for no request about its late success', async () => {
    const id = await requested('old-request')
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
    assert.equal(calls('old-request', 'reverseByKey'), 2)
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
      assert.equal(await messageOf(eventId), null)
      run.acquirer.tell(reference, { enquire: () => ({ is: 'requested' }) })
      call.answer(taken)
      await until(async () => {
        await hurry()
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
    const id = await requested('told-approved')
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    assert.match(String((await details(id)).at(-1)!.why), /approved while its reversal/)
    run.acquirer.tell('told-approved', {
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => ({ is: 'nothing' }),
    })
    await enquire(run, id)
    assert.equal(await run.code(id), undecided)
    await until(() => run.gateway.operator.settle(id, 'approved', alice).catch(() => undefined))
    assert.equal(await run.code(id), charged)
  })

  test('money that was given back by hand and reversed as well is listed', async () => {
    const id = await late('given-back-twice')
    await until(() => run.gateway.operator.settle(id, 'declined', alice).catch(() => undefined))
    assert.equal(await run.tell(id, reversed), 'conflict')
    assert.deepEqual(await run.kinds(id), ['(conflict)', 'conflict'])
    const [entry] = (await run.listed(id)).filter(({ open }) => open)
    await run.gateway.operator.resolve(entry!.id, alice)
    assert.deepEqual(await run.kinds(id), ['(conflict)', '(conflict)'])
  })

  test('a reversal of an amount that nobody knew is listed, and an enquiry lets it end', async () => {
    const id = await requested('other-reversed')
    assert.equal(await run.tell(id, { ...reversed, minor: '4600' }), 'enquired')
    assert.deepEqual(await run.kinds(id), ['undecided', 'undecided'])
    run.acquirer.tell('other-reversed', { enquire: less, reverseByKey: () => taken })
    const eventId = await run.bring(id, { ...reversed, minor: '4600' })
    await until(async () => {
      await hurry()
      return (await run.code(id)) === undecided ? undefined : true
    })
    assert.equal(await processed(run, eventId), 'settled')
    assert.ok((await run.kinds(id)).every((kind) => kind === '(undecided)'))
  })

  test('a part of the amount is not kept as the whole, also where parts may be approved', async () => {
    const id = await requested('part-held', {}, run.at('parts'))
    run.acquirer.tell('part-held', { enquire: less, reverseByKey: () => taken })
    await until(async () => {
      await enquire(run, id)
      return (await run.kinds(id)).length > 1 ? true : undefined
    })
    await assert.rejects(
      run.gateway.operator.settle(id, 'approved', alice),
      refusedFor(/another amount/),
    )
    await run.gateway.operator.settle(id, 'declined', alice)
  })

  test('a part that a message approves is not kept as the whole, also where parts may be approved', async () => {
    const id = await requested('part-told', {}, run.at('parts'))
    await tellFree(id, { outcome: approval, minor: '4600' })
    run.acquirer.tell('part-told', { enquire: () => ({ is: 'notReversed', why: 'too late' }) })
    await enquire(run, id)
    await until(async () => ((await run.kinds(id)).includes('conflict') ? true : undefined))
    await until(() => run.gateway.operator.settle(id, 'approved', alice).catch(() => undefined))
    assert.equal((await balanceOf(run, id)).captured, 4600n)
  })

  test('a failure that is repeated after a redrive does not end the looks at the new reversal', async () => {
    const id = await late('old-failure', {
      enquire: () => ({ is: 'notReversed', why: 'first time' }),
    })
    assert.equal(await tellFree(id, notReversed), 'settled')
    assert.deepEqual(await run.timers(id), [])
    await run.gateway.operator.redrive(id, alice)
    await until(async () => (calls('old-failure', 'reverseByKey') > 1 ? true : undefined))
    run.acquirer.tell('old-failure', { enquire: () => ({ is: 'requested' }) })
    await tellFree(id, { ...notReversed, eventId: 'old-failure-again' })
    assert.deepEqual(await run.timers(id), ['look'])
    run.acquirer.tell('old-failure', { enquire: () => ({ is: 'reversed' }) })
    await run.dueNow(id)
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
    assert.equal(calls('old-failure', 'reverseByKey'), 2)
  })

  test('a failure by key does not end the looks at a reversal of the own', async () => {
    const id = await late('own-reversal', {
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
    assert.equal(await tellFree(id, notReversed), 'settled')
    assert.deepEqual(await run.timers(id), ['look'])
    await run.tell(own, { outcome: approval })
    await run.dueNow(id)
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
  })

  test('an expired payment is not pending again after a return', async () => {
    completes.set('expired-returns', pending(bankPage))
    const { id, token } = await away('expired-returns', {
      reverseByKey: () => ({ is: 'refused', why: 'no' }),
    })
    await timeIsUp(id)
    await until(async () => ((await run.stateOf(id)) === 'unknown' ? true : undefined))
    await until(async () => ((await isLeased(id)) ? undefined : true))
    await comeBack(id, token)
    assert.ok(completed.includes('expired-returns'))
    assert.equal(await run.stateOf(id), 'unknown')
    assert.ok(!(await isLeased(id)))
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
    await timeIsUp(id)
    await until(async () => ((await run.timers(id)).join() === 'look' ? true : undefined))
    await tellFree(id, reversed)
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

  test('a late success that the acquirer calls declined ends its looks and stays listed', async () => {
    const id = await late('calls-declined', { enquire: () => declined('800.100.203') })
    await until(async () => ((await isLeased(id)) ? undefined : true))
    await run.dueNow(id)
    await until(async () => ((await run.timers(id)).length === 0 ? true : undefined))
    assert.deepEqual(await run.kinds(id), ['conflict'])
    assert.equal(calls('calls-declined', 'reverseByKey'), 1)
    await until(() => run.gateway.operator.settle(id, 'declined', alice).catch(() => undefined))
    assert.deepEqual(await run.kinds(id), ['(conflict)'])
  })
})
