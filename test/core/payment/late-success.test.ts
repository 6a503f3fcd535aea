/** Follow-ups with a late success: they count until they are undone. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Outcome, Reversed } from '@tollgate/plugin-kit'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import { type BalanceRow, balanceOf, closeChecked } from '../../rig/books.ts'
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
  noMoney,
  refuse,
  startLate,
  withoutAnyReversal,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const again = (industryPractice: string) => ({ standingInstruction: { industryPractice } })

/** Follow-ups whose late success reserves again, each with another one that it blocks. */
const effects: Readonly<
  Record<
    string,
    {
      readonly on: 'DB' | 'PA'
      readonly type: string
      readonly fields: Readonly<Record<string, unknown>>
      /** The column that counts the follow-up while open and when done. */
      readonly open?: keyof BalanceRow
      readonly done?: keyof BalanceRow
      readonly other: {
        readonly type: string
        readonly fields: Readonly<Record<string, unknown>>
        readonly code: string
      }
    }
  >
> = {
  refund: {
    on: 'DB',
    type: 'RF',
    fields: eur('60.00'),
    open: 'refunding',
    done: 'refunded',
    other: { type: 'RF', fields: eur('32.01'), code: '700.400.200' },
  },
  capture: {
    on: 'PA',
    type: 'CP',
    fields: eur('60.00'),
    open: 'capturing',
    done: 'captured',
    other: { type: 'CP', fields: eur('32.01'), code: '700.400.100' },
  },
  increase: {
    on: 'PA',
    type: 'PA',
    fields: { ...eur('60.00'), ...again('INCREMENTAL_AUTH') },
    open: 'increasing',
    other: {
      type: 'PA',
      fields: { ...eur('92.00'), ...again('REAUTHORIZATION') },
      code: '700.300.300',
    },
  },
  reauthorisation: {
    on: 'PA',
    type: 'PA',
    fields: { ...eur('60.00'), ...again('REAUTHORIZATION') },
    other: { type: 'CP', fields: eur('1.00'), code: '700.400.100' },
  },
}

describe('late successes of follow-ups', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate({
      'by-reversal': withoutKeyReversal,
      'by-nobody': withoutAnyReversal,
    })
  })
  after(() => closeChecked(run))

  const events = (id: string) => run.sql('select 1 from tollgate.event where resource = $1', [id])

  for (const [name, { on, type, fields, open, done, other }] of Object.entries(effects)) {
    const word = { outcome: approval, minor: '6000' }
    const refused = { authorize: refuse, increment: refuse, capture: refuse, refund: refuse }
    /** A declined follow-up at an acquirer, on its own payment. */
    const declined = async (at: string, script: Script = {}) => {
      const account = at === 'by-key' ? {} : run.at(at)
      const { id } = await run.debit(`${name}-${at}`, {}, { paymentType: on, ...account })
      const reference = `${name}-${at}-late`
      const late = await run.follow(id, type, reference, fields, { ...refused, ...script })
      assert.equal(late.result.code, noMoney)
      return { id, late: late.id, reference }
    }
    const counts = async (id: string, minor: bigint) => {
      if (open !== undefined) assert.equal((await balanceOf(run, id))[open], minor)
    }
    const another = (id: string) =>
      run.gateway.payments.followUp(id, { paymentType: other.type, ...other.fields } as never)
    const isTakenBack = (late: string) =>
      until(async () => ((await run.kinds(late))[0] === '(conflict)' ? true : undefined))
    /** The follow-up counts for nothing, and the blocked one is possible. */
    const isOver = async (id: string, late: string) => {
      await counts(id, 0n)
      assert.equal(await run.code(late), noMoney)
      assert.equal((await another(id)).result.code, charged)
      assert.equal((await events(late)).length, 1, 'the payment keeps its answer')
      assert.deepEqual(await run.timers(late), [])
    }

    test(`${name}: counts until its reversal by key, then for nothing`, async () => {
      const call = heldCall<Reversed>()
      const { id, late } = await declined('by-key', { reverseByKey: call.handler })
      const told = run.tell(late, word)
      await call.begun
      await counts(id, 6000n)
      await assert.rejects(another(id), { code: other.code })
      assert.deepEqual(await run.kinds(late), ['conflict'])
      call.answer({ is: 'reversed' })
      assert.equal(await told, 'settled')
      await isTakenBack(late)
      await isOver(id, late)
    })

    test(`${name}: without reversals by key, counts until a reversal of the engine's own`, async () => {
      const call = heldCall<Outcome>()
      const { id, late, reference } = await declined('by-reversal', { reverse: call.handler })
      const told = run.tell(late, word)
      const operation = await call.begun
      // An increment is a part of its authorisation, so a partial reversal undoes it.
      const isAdded = name === 'increase'
      assert.equal(
        operation.original?.paymentId,
        isAdded ? id : late,
        'the acquirer learns the operation to undo',
      )
      if (!isAdded) assert.equal(operation.original?.refs.reference, 'by-event')
      assert.deepEqual(operation.amount, { minor: 6000n, currency: 'EUR' })
      await counts(id, 6000n)
      await assert.rejects(another(id), { code: other.code })
      call.answer(approvedAs(operation))
      await told
      await isTakenBack(late)
      const [undo] = await run.sql(
        `select payment_type, effect, state, amount_minor from tollgate.payment
          where referenced_id = $1`,
        [late],
      )
      assert.deepEqual(undo, {
        payment_type: 'RV',
        effect: 'undo',
        state: 'approved',
        amount_minor: 6000n,
      })
      await isOver(id, late)
      assert.equal(run.acquirer.of(reference).filter((what) => what === 'reverse').length, 1)
    })

    test(`${name}: without any reversal, counts and is listed until an operator keeps it`, async () => {
      const { id, late } = await declined('by-nobody')
      await run.tell(late, word)
      await until(async () =>
        (await run.audited(late)).includes('late-success-stands') ? true : undefined,
      )
      await counts(id, 6000n)
      await assert.rejects(another(id), { code: other.code })
      assert.deepEqual(await run.kinds(late), ['conflict'])
      const [entry] = await run.listed(late)
      await assert.rejects(run.gateway.operator.resolve(entry!.id, by), { code: '700.400.570' })
      await run.operator.settle(late, 'approved', by)
      assert.equal(await run.code(late), charged)
      assert.deepEqual(await run.kinds(late), ['(conflict)'])
      await counts(id, 0n)
      if (done !== undefined) assert.equal((await balanceOf(run, id))[done], 6000n)
      if (name === 'increase') assert.equal((await balanceOf(run, id)).authorised, 15_200n)
    })

    test(`${name}: returned by hand, counts for nothing`, async () => {
      const { id, late } = await declined('by-nobody')
      await run.tell(late, word)
      await until(async () =>
        (await run.audited(late)).includes('late-success-stands') ? true : undefined,
      )
      await run.operator.settle(late, 'declined', by)
      await isOver(id, late)
    })
  }

  test('a release that succeeds late counts as done at once, and an operator keeps it', async () => {
    const { id } = await run.debit('late-release', {}, { paymentType: 'PA' })
    const { id: late } = await run.follow(id, 'RV', 'late-release-rv', {}, { reverse: refuse })
    assert.equal(await run.tell(late, { outcome: approval }), 'settled')
    assert.equal((await balanceOf(run, id)).reversed, 9200n)
    assert.deepEqual(run.acquirer.of('late-release-rv'), ['reverse'], 'a release cannot be undone')
    await assert.rejects(run.gateway.payments.capture(id, eur('1.00')), { code: '700.400.100' })
    assert.deepEqual(await run.kinds(late), ['conflict'])
    await run.operator.settle(late, 'approved', by)
    assert.equal(await run.code(late), charged)
    assert.equal((await balanceOf(run, id)).reversed, 9200n)
  })

  test('a release that an operator settles as not done counts for nothing', async () => {
    const { id } = await run.debit('no-release', {}, { paymentType: 'PA' })
    const { id: late } = await run.follow(id, 'RV', 'no-release-rv', {}, { reverse: refuse })
    await run.tell(late, { outcome: approval })
    await run.operator.settle(late, 'declined', by)
    assert.equal((await balanceOf(run, id)).reversed, 0n)
    assert.equal((await run.gateway.payments.capture(id, eur('92.00'))).result.code, charged)
  })

  test("the late success of a capture's reversal returns the amount to the authorisation at once", async () => {
    const { id } = await run.debit('late-void', {}, { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('60.00'))
    const { id: late } = await run.follow(capture.id, 'RV', 'late-void-rv', {}, { reverse: refuse })
    await run.tell(late, { outcome: approval, minor: '6000' })
    assert.equal((await balanceOf(run, id)).captured, 0n)
    await assert.rejects(run.gateway.payments.refund(capture.id, eur('1.00')), {
      code: '700.400.200',
    })
    // The acquirer contradicts itself: more may be captured than was authorised.
    await assert.rejects(run.gateway.payments.capture(id, eur('92.00')), { code: '700.300.600' })
    await run.operator.settle(late, 'approved', by)
    assert.equal((await balanceOf(run, id)).captured, 0n)
    assert.equal((await run.gateway.payments.capture(id, eur('92.00'))).result.code, charged)
  })

  test("an amount is captured no second time after its capture's reversal was itself reversed by key", async () => {
    const { id } = await run.debit('void-undone', {}, { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('92.00'))
    const { id: late } = await run.follow(
      capture.id,
      'RV',
      'void-undone-rv',
      {},
      {
        reverse: lose,
        enquire: () => ({ is: 'notFound' }),
        reverseByKey: () => ({ is: 'reversed' }),
      },
    )
    await run.age(late)
    await run.dueNow(late)
    await until(async () => (await run.stateOf(late)) === 'declined' || undefined)
    await run.tell(late, { outcome: approval })
    await assert.rejects(run.gateway.payments.capture(id, eur('15.00')), { code: '700.300.600' })
    await run.operator.settle(late, 'declined', by)
    assert.equal((await balanceOf(run, id)).captured, 9200n)
    await assert.rejects(run.gateway.payments.capture(id, eur('15.00')), { code: '700.400.100' })
  })

  test('nor does it after a declined reversal of a capture stands at the acquirer', async () => {
    const { id } = await run.debit('void-stands', {}, { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('92.00'))
    const refused = { reverse: refuse }
    const { id: late } = await run.follow(capture.id, 'RV', 'void-stands-rv', {}, refused)
    await run.tell(late, { outcome: { is: 'notReversed', why: 'settled already' } })
    assert.equal((await balanceOf(run, id)).captured, 0n)
    await assert.rejects(run.gateway.payments.capture(id, eur('15.00')), { code: '700.300.600' })
    await run.operator.settle(late, 'declined', by)
    await assert.rejects(run.gateway.payments.capture(id, eur('15.00')), { code: '700.400.100' })
  })

  test('nor does it after an open reversal of a capture could not be reversed itself', async () => {
    const { id } = await run.debit('void-kept', {}, { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('92.00'))
    let isAsked = false
    const { id: late } = await run.follow(
      capture.id,
      'RV',
      'void-kept-rv',
      {},
      {
        reverse: lose,
        enquire: () => (isAsked ? { is: 'notReversed', why: 'no' } : { is: 'notFound' }),
        reverseByKey: () => {
          isAsked = true
          return { is: 'unknown', why: 'down' }
        },
      },
    )
    await run.age(late)
    await until(async () => {
      await run.dueNow(late)
      return (await run.stateOf(late)) === 'declined' || undefined
    })
    assert.equal((await balanceOf(run, id)).captured, 0n)
    await assert.rejects(run.gateway.payments.capture(id, eur('15.00')), { code: '700.300.600' })
    await run.operator.settle(late, 'approved', by)
    assert.equal((await run.gateway.payments.capture(id, eur('92.00'))).result.code, charged)
  })

  test('a reversal by key that finds nothing decides nothing while the acquirer reports a success', async () => {
    const { id } = await run.debit('contradicted')
    const late = await run.follow(id, 'RF', 'contradicted-late', eur('60.00'), {
      refund: refuse,
      reverseByKey: () => ({ is: 'nothing' }),
      enquire: approvedAs,
    })
    await run.tell(late.id, { outcome: approval, minor: '6000' })
    await until(async () =>
      (await run.audited(late.id)).includes('late-success-stands') ? true : undefined,
    )
    assert.equal((await balanceOf(run, id)).refunding, 6000n)
    assert.deepEqual(await run.kinds(late.id), ['conflict'])
    await run.operator.settle(late.id, 'declined', by)
    assert.equal((await balanceOf(run, id)).refunding, 0n)
  })

  describe("an engine's own reversal that the acquirer only accepted", () => {
    /** A refund with a late success, and the reversal of it. */
    const begun = async (reference: string) => {
      const { id } = await run.debit(reference, {}, run.at('by-reversal'))
      const script = { refund: refuse, reverse: accept }
      const late = await run.follow(id, 'RF', `${reference}-late`, eur('60.00'), script)
      await run.tell(late.id, { outcome: approval, minor: '6000' })
      const [undo] = await run.sql<{ id: string }>(
        "select id from tollgate.payment where referenced_id = $1 and effect = 'undo'",
        [late.id],
      )
      assert.deepEqual(await run.kinds(late.id), ['conflict'])
      assert.equal((await balanceOf(run, id)).refunding, 6000n, 'it may still fail')
      return { id, late: late.id, undo: undo!.id }
    }

    test('the confirmation of the reversal ends the late success', async () => {
      const { id, late, undo } = await begun('accepted-undo')
      assert.equal(await run.tell(undo, { outcome: approval, minor: '6000' }), 'settled')
      await run.dueNow(late)
      await until(async () => ((await run.kinds(late))[0] === '(conflict)' ? true : undefined))
      assert.equal((await balanceOf(run, id)).refunding, 0n)
    })

    test('the failure of the reversal leaves the late success to operators, who can keep the refund', async () => {
      const { id, late, undo } = await begun('failed-undo')
      await assert.rejects(run.operator.settle(late, 'approved', by), {
        code: '700.400.570',
      })
      assert.equal(await run.tell(undo, { outcome: failure, minor: '6000' }), 'settled')
      await until(async () => {
        // The timer of its look can be written after the word about the reversal.
        await run.dueNow(late)
        return (await run.audited(late)).includes('late-success-stands') || undefined
      })
      assert.equal((await balanceOf(run, id)).refunding, 6000n)
      assert.deepEqual(await run.kinds(late), ['conflict'])
      await run.operator.settle(late, 'approved', by)
      assert.equal((await balanceOf(run, id)).refunded, 6000n)
    })

    test('the reversal counts as done once an operator settles it so', async () => {
      const { id, late } = await begun('seen-undo')
      await run.operator.settle(late, 'declined', by)
      assert.equal((await balanceOf(run, id)).refunding, 0n)
      assert.deepEqual(await run.kinds(late), ['(conflict)'])
    })
  })
})
