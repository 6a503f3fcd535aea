/** Repeated questions, reports and refusals reverse money once. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import {
  accepted,
  type Context,
  notSent,
  type Operation,
  type Reversed,
  unknown,
} from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
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
  refuse,
  startLate,
  withoutAnyReversal,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const acceptance = { is: 'accepted', refs: { reference: 'by-event' }, finalBy: 'event' }

/** An acquirer that reverses a key once and refuses further reversals. */
function onlyOnce(first: Reversed) {
  let asked = 0
  return () => {
    asked += 1
    return asked === 1 ? first : ({ is: 'refused', why: 'it was reversed before' } as const)
  }
}

describe('late successes are undone once', () => {
  let run: LateRun
  before(async () => {
    run = await startLate({ 'by-reversal': withoutKeyReversal, 'by-nobody': withoutAnyReversal })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  const undos = (id: string) =>
    run.sql<{ id: string; state: string }>(
      "select id, state from tollgate.payment where referenced_id = $1 and effect = 'undo' order by id",
      [id],
    )
  const isOff = (id: string) =>
    until(async () =>
      (await run.kinds(id)).every((kind) => kind === '(conflict)') ? true : undefined,
    )
  const stands = (id: string) =>
    until(async () => ((await run.audited(id)).includes('late-success-stands') ? true : undefined))

  test('a repeated approval after the reversal by key changes nothing', async () => {
    const { id } = await run.debit('told-again', {
      debit: refuse,
      reverseByKey: onlyOnce({ is: 'reversed' }),
    })
    await run.tell(id, { outcome: approval })
    await isOff(id)
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    assert.deepEqual(run.acquirer.of('told-again'), ['debit', 'reverseByKey'])
  })

  test('"nothing to undo" ends no late success while the enquiry about it has no answer', async () => {
    let reversals = 0
    const { id } = await run.debit('nothing-asked', {
      debit: refuse,
      enquire: () => unknown('the line went dead'),
      reverseByKey: () => {
        reversals += 1
        return reversals === 1 ? { is: 'nothing' } : { is: 'reversed' }
      },
    })
    await run.tell(id, { outcome: approval })
    await until(async () => {
      const free = await run.sql(
        'select from tollgate.attempt where payment_id = $1 and lease_until is null',
        [id],
      )
      return free.length > 0 && run.acquirer.of('nothing-asked').includes('enquire')
        ? true
        : undefined
    })
    assert.deepEqual(await run.kinds(id), ['conflict'])
    await run.dueNow(id)
    await isOff(id)
    assert.equal(reversals, 2)
  })

  test('a refusal after the lost answer of a reversal is left to operators', async () => {
    const { id } = await run.debit('undo-lost', {
      debit: refuse,
      reverseByKey: onlyOnce({ is: 'unknown', why: 'the line went dead' }),
      enquire: approvedAs,
    })
    await run.tell(id, { outcome: approval })
    await run.dueNow(id)
    await stands(id)
    assert.deepEqual(await undos(id), [])
    assert.deepEqual(await run.kinds(id), ['conflict'])
    await run.operator.settle(id, 'declined', by)
  })

  test('a late success reversed before an interruption is not reversed again by its delayed approval', async () => {
    const { id } = await run.debit('undone-before', {
      debit: lose,
      enquire: (operation: Operation) => ({
        ...approvedAs(operation),
        amount: { minor: 5000n, currency: 'EUR' },
      }),
      reverseByKey: onlyOnce({ is: 'reversed' }),
    })
    await run.age(id)
    await run.dueNow(id)
    await until(async () => ((await run.stateOf(id)) === 'declined' ? true : undefined))
    await run.tell(id, { outcome: approval, minor: '5000' })
    await stands(id)
    assert.deepEqual(await undos(id), [])
    await run.operator.settle(id, 'declined', by)
  })

  test('a failure reported while the reversal is open is left to operators, and the reversal decides', async () => {
    const { id } = await run.debit(
      'open-undo',
      { debit: refuse, reverse: lose },
      run.at('by-reversal'),
    )
    await run.tell(id, { outcome: acceptance })
    const undo = await until(async () => (await undos(id))[0])
    await run.tell(id, { outcome: failure })
    assert.deepEqual(await run.kinds(id), ['conflict', 'conflict'])
    await run.tell(undo.id, { outcome: approval })
    await run.dueNow(id)
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
    assert.equal((await undos(id)).length, 1)
  })

  test('another report during the reversal leaves the lease on it in place', async () => {
    const call = heldCall<Reversed>()
    const unanswered: Reversed = { is: 'unknown', why: 'ask later' }
    const { id } = await run.debit('meanwhile', { debit: refuse, reverseByKey: () => unanswered })
    await run.tell(id, { outcome: acceptance })
    run.acquirer.tell('meanwhile', { reverseByKey: call.handler })
    await run.dueNow(id)
    await call.begun
    await run.bring(id, { outcome: approval, minor: '5000' })
    await until(async () => ((await run.kinds(id)).length === 2 ? true : undefined))
    await assert.rejects(run.gateway.operator.settle(id, 'declined', by), { code: '700.400.570' })
    call.answer({ is: 'reversed' })
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
    assert.deepEqual(await run.audited(id), ['reverse-by-key', 'late-success-reversed'])
  })

  test('two approved reversals of one capture free its amount of the authorisation once', async () => {
    const { id } = await run.debit('reversed-twice', {}, { paymentType: 'PA' })
    const capture = await run.follow(id, 'CP', 'reversed-twice-cp', eur('92.00'))
    const [first, second] = [
      await run.follow(capture.id, 'RV', 'reversed-twice-1', {}, { reverse: refuse }),
      await run.follow(capture.id, 'RV', 'reversed-twice-2', {}, { reverse: lose }),
    ]
    for (const one of [first, second]) {
      assert.equal(await run.tell(one.id, { outcome: approval }), 'settled')
    }
    const { captured, captures } = await balanceOf(run, id)
    assert.deepEqual([captured, captures], [0n, 0])
  })

  test('a late success kept after its reversal was declined takes no refund once that reversal succeeds', async () => {
    const script = { debit: refuse, reverse: refuse }
    const { id } = await run.debit('kept-undone', script, run.at('by-reversal'))
    await run.tell(id, { outcome: approval })
    await stands(id)
    await run.operator.settle(id, 'approved', by)
    const [undo] = await undos(id)
    assert.equal(await run.tell(undo!.id, { outcome: approval }), 'conflict')
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.300.600' })
  })

  test("a reversal that was never sent is sent by another operation on an operator's request", async () => {
    let tries = 0
    const { id } = await run.debit(
      'undo-not-sent',
      {
        debit: refuse,
        reverse: (operation: Operation, context: Context) => {
          tries += 1
          if (tries === 1) return notSent('connection refused')
          context.sending()
          return approvedAs(operation)
        },
      },
      run.at('by-reversal'),
    )
    await run.tell(id, { outcome: approval })
    await stands(id)
    assert.equal(tries, 1)
    await run.gateway.operator.redrive(id, by)
    await isOff(id)
    assert.deepEqual(
      (await undos(id)).map(({ state }) => state),
      ['declined', 'approved'],
    )
  })

  test('an authorisation that was incremented meanwhile is not undone by a partial reversal', async () => {
    const fields = { paymentType: 'PA', ...run.at('by-reversal') }
    const { id } = await run.debit('increased', { authorize: accept }, fields)
    await run.follow(id, 'PA', 'increased-more', {
      ...eur('60.00'),
      standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
    })
    await run.tell(id, { outcome: failure })
    await run.tell(id, { outcome: approval })
    await stands(id)
    assert.deepEqual(await undos(id), [])
    await run.operator.settle(id, 'approved', by)
    assert.equal((await balanceOf(run, id)).authorised, 15_200n)
  })

  test('a confirmation of another amount that is listed causes no further enquiry', async () => {
    const { id, result } = await run.debit('polled-other', {
      debit: (operation: Operation, context: Context) => {
        context.sending()
        return accepted({ reference: `at-${operation.key}` }, { poll: 1000 })
      },
      enquire: (operation: Operation) => ({
        ...approvedAs(operation),
        amount: { minor: 5000n, currency: 'EUR' },
      }),
    })
    assert.equal(result.code, charged)
    await run.dueNow(id)
    const entry = await until(async () => (await run.listed(id))[0])
    await until(async () => ((await run.timers(id)).length === 0 ? true : undefined))
    await run.gateway.operator.resolve(entry.id, by)
    assert.deepEqual(await run.kinds(id), ['(conflict)'])
  })

  test('an approval for zero moves nothing', async () => {
    const { id } = await run.debit('for-nothing', { debit: refuse }, run.at('by-reversal'))
    assert.equal(await run.tell(id, { outcome: approval, minor: '0' }), 'known')
    assert.deepEqual([await run.kinds(id), await undos(id)], [[], []])
  })
})
