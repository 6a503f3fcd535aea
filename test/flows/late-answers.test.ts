import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type Context,
  declined,
  type Operation,
  type Outcome,
  type Reversed,
} from '@tollgate/plugin-kit'
import type { Gateway } from '../../core/index.ts'
import {
  type AcquirerRun,
  approvedAs,
  enquire,
  type Script,
  startWithAcquirer,
} from '../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../rig/books.ts'
import { card, until } from '../rig/gateway.ts'

const undecided = '000.200.001'
const charged = '000.100.112'
const notCharged = '900.100.400'

/** A call that answers on the test's command. */
function held() {
  const told = Promise.withResolvers<Outcome>()
  const begun = Promise.withResolvers<Operation>()
  return {
    /** The operation, once the acquirer has it. */
    begun: begun.promise,
    answer: (outcome: Outcome) => told.resolve(outcome),
    script: {
      debit: (operation: Operation, context: Context) => {
        context.sending()
        begun.resolve(operation)
        return told.promise
      },
    } satisfies Script,
  }
}

describe('late answers', () => {
  let run: AcquirerRun
  let other: Gateway
  before(async () => {
    run = await startWithAcquirer({ connectorTimeoutMs: 5_000 })
    other = await run.another({ plugins: [run.acquirer.plugin] })
  })
  after(() => closeChecked(run))

  const code = async (id: string) => (await run.gateway.payments.get(id)).result.code
  const attention = async (id: string) => {
    const rows = await run.sql<{ kind: string; open: boolean }>(
      'select kind, resolved_at is null as open from tollgate.attention where payment_id = $1',
      [id],
    )
    return rows
  }
  const audited = async (id: string) =>
    (
      await run.sql<{ action: string }>('select action from tollgate.audit where resource = $1', [
        id,
      ])
    ).map((row) => row.action)
  const looks = async (id: string) =>
    (
      await run.sql(
        `select from tollgate.timer
         join tollgate.payment on payment.attempt_key = timer.ref
         where timer.kind = 'look' and payment.id = $1`,
        [id],
      )
    ).length
  /** Waits until the lease is free. */
  const isLeft = async (id: string) =>
    (
      await run.sql('select from tollgate.attempt where payment_id = $1 and lease_until is null', [
        id,
      ])
    ).length > 0
  /** Expires the sender's lease, as if its process had paused, and lets another process enquire. */
  const overtake = async (id: string) => {
    const asked = async () => {
      const [row] = await run.sql<{ count: number; is_free: boolean }>(
        `select enquiries + questions as count, coalesce(lease_until <= now(), true) as is_free
           from tollgate.attempt where payment_id = $1`,
        [id],
      )
      return row!
    }
    const before = await asked()
    await run.sql(
      `update tollgate.attempt set lease_until = now() - interval '1 second', sent_at = now() - interval '1 hour'
        where payment_id = $1`,
      [id],
    )
    await enquire({ ...run, gateway: other }, id)
    // A look that met the enquiry asks in its place.
    await until(async () => {
      const { count, is_free } = await asked()
      return (is_free && count > before.count) || undefined
    })
    return run.gateway.payments.get(id)
  }

  test('a late approval does not overwrite a payment declined under another lease', async () => {
    const call = held()
    const answered = run.debit('overtaken', {
      ...call.script,
      reverseByKey: () => ({ is: 'nothing' }),
    })
    const { paymentId } = await call.begun
    assert.equal((await overtake(paymentId)).result.code, notCharged)
    call.answer(approvedAs(await call.begun))
    assert.equal(
      (await answered).result.code,
      notCharged,
      'the row decides the answer, not the local outcome',
    )
    assert.equal(await code(paymentId), notCharged)
    assert.deepEqual(
      await run.sql('select 1 from tollgate.payment_balance where payment_id = $1', [paymentId]),
      [],
    )
  })

  test('money that moved on a declined payment is recorded and returned by an audited reversal', async () => {
    const call = held()
    const answered = run.debit('taken-back', call.script)
    const { paymentId } = await call.begun
    await overtake(paymentId)
    run.acquirer.tell('taken-back', { ...call.script, enquire: () => declined('800.100.155') })
    call.answer(approvedAs(await call.begun))
    await answered
    await until(async () =>
      (await attention(paymentId)).some(({ open }) => !open) ? true : undefined,
    )
    assert.deepEqual(await attention(paymentId), [{ kind: 'conflict', open: false }])
    assert.deepEqual(await audited(paymentId), ['reverse-by-key', 'late-success-reversed'])
    assert.deepEqual(run.acquirer.of('taken-back'), [
      'debit',
      'enquire',
      'reverseByKey',
      'reverseByKey',
      'enquire',
    ])
  })

  test('a failed reversal leaves the contradiction to operators', async () => {
    const call = held()
    const answered = run.debit('not-taken-back', {
      ...call.script,
      reverseByKey: () =>
        run.acquirer.of('not-taken-back').length < 4
          ? { is: 'nothing' }
          : { is: 'refused', why: 'too late' },
      reverse: () => declined('800.100.155'),
    })
    const { paymentId } = await call.begun
    await overtake(paymentId)
    call.answer(approvedAs(await call.begun))
    await answered
    await until(async () =>
      (await audited(paymentId)).includes('late-success-stands') ? true : undefined,
    )
    assert.deepEqual(await attention(paymentId), [{ kind: 'conflict', open: true }])
    // A refused reversal is not requested again on the ladder.
    await until(async () => ((await looks(paymentId)) === 0 ? true : undefined))
  })

  test('an operator can keep a late success: approved, with its sums, audited', async () => {
    const call = held()
    const script = { ...call.script, reverseByKey: () => reversals() }
    let reversals = (): Reversed => ({ is: 'nothing' })
    const answered = run.debit('kept-late', script)
    const { paymentId } = await call.begun
    await overtake(paymentId)
    reversals = () => ({ is: 'refused', why: 'too late' })
    run.acquirer.tell('kept-late', { ...script, reverse: () => declined('800.100.155') })
    call.answer(approvedAs(await call.begun))
    await answered
    await until(async () =>
      (await audited(paymentId)).includes('late-success-stands') ? true : undefined,
    )
    await until(async () => ((await isLeft(paymentId)) ? true : undefined))
    const by = { by: 'alice', reason: 'the goods are on their way' }
    await run.operator.settle(paymentId, 'approved', by)
    assert.equal(await code(paymentId), charged)
    assert.equal((await balanceOf(run, paymentId)).captured, 9200n)
    assert.ok((await audited(paymentId)).includes('payment.kept'))
    assert.deepEqual(await attention(paymentId), [{ kind: 'conflict', open: false }])
    const refund = await run.gateway.payments.refund(paymentId, {
      amount: '92.00',
      currency: 'EUR',
    })
    assert.equal(refund.result.code, charged)
  })

  test('a late answer that agrees with the other process is no contradiction and causes no event', async () => {
    const call = held()
    const answered = run.debit('same-word', { ...call.script, enquire: approvedAs })
    const { paymentId } = await call.begun
    assert.equal((await overtake(paymentId)).result.code, charged)
    call.answer(approvedAs(await call.begun))
    assert.equal((await answered).result.code, charged)
    assert.deepEqual(await attention(paymentId), [])
    const rows = await run.sql(`select type from tollgate.event where resource = $1`, [paymentId])
    assert.deepEqual(rows, [{ type: 'payment.approved' }])
  })

  test('a late answer moves nothing while another process holds the lease: the holder settles', async () => {
    const call = held()
    const asked = Promise.withResolvers<void>()
    const tell = Promise.withResolvers<void>()
    const answered = run.debit('lease-held', {
      ...call.script,
      enquire: async (operation) => {
        asked.resolve()
        await tell.promise
        return approvedAs(operation)
      },
    })
    const { paymentId } = await call.begun
    const overtaken = overtake(paymentId)
    await asked.promise
    call.answer(declined('800.100.152'))
    assert.equal((await answered).result.code, undecided)
    tell.resolve()
    assert.equal((await overtaken).result.code, charged)
    const listed = await until(async () => {
      const rows = await attention(paymentId)
      return rows.length > 0 ? rows : undefined
    })
    assert.deepEqual(listed, [{ kind: 'return', open: true }], 'the answer is not lost')
    const rows = await run.sql('select settled_by from tollgate.attempt where payment_id = $1', [
      paymentId,
    ])
    assert.deepEqual(rows, [{ settled_by: 'enquiry' }])
    const events = await run.sql('select type from tollgate.event where resource = $1', [paymentId])
    assert.deepEqual(events, [{ type: 'payment.approved' }])
  })

  test('a late decline of an approved payment is a return for operators', async () => {
    const call = held()
    const answered = run.debit('late-decline', { ...call.script, enquire: approvedAs })
    const { paymentId } = await call.begun
    await overtake(paymentId)
    call.answer(declined('800.100.152'))
    assert.equal((await answered).result.code, charged)
    await until(async () => ((await attention(paymentId)).length > 0 ? true : undefined))
    assert.deepEqual(await attention(paymentId), [{ kind: 'return', open: true }])
    assert.equal((await balanceOf(run, paymentId)).captured, 9200n)
  })
})

describe('answers after the deadline', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer({ connectorTimeoutMs: 1000 })
    // The first call compiles statements, which can use up a deadline on a busy machine.
    await run.debit('before-deadlines')
  })
  after(() => closeChecked(run))

  test('the client is told "open" at the deadline, and the later answer settles the payment', async () => {
    const call = held()
    const answer = await run.debit('after-deadline', call.script)
    assert.equal(answer.result.code, undecided)
    call.answer(approvedAs(await call.begun))
    await run.event(answer.id, 'payment.approved')
    const rows = await run.sql(
      'select settled_by, lease from tollgate.attempt where payment_id = $1',
      [answer.id],
    )
    assert.deepEqual(rows, [{ settled_by: 'late-answer', lease: 2 }])
  })

  test('an approval for another amount after the deadline is not an approval', async () => {
    const call = held()
    const answer = await run.debit('wrong-and-late', {
      ...call.script,
      enquire: () => declined('800.100.155'),
    })
    call.answer({ ...approvedAs(await call.begun), amount: { minor: 1n, currency: 'EUR' } })
    await run.event(answer.id, 'payment.declined')
    assert.equal((await run.gateway.payments.get(answer.id)).result.code, '800.100.155')
  })

  test('an approval that arrives after the decline is never dropped', async () => {
    const call = held()
    const { id } = await run.debit('much-too-late', call.script)
    await run.sql(
      `update tollgate.attempt set sent_at = now() - interval '1 hour' where payment_id = $1`,
      [id],
    )
    assert.equal((await enquire(run, id)).result.code, notCharged)
    call.answer(approvedAs(await call.begun))
    const audit = await until(async () => {
      const rows = await run.sql<{ action: string }>(
        `select action from tollgate.audit where resource = $1 and action = 'late-success-reversed'`,
        [id],
      )
      return rows[0]
    })
    assert.equal(audit.action, 'late-success-reversed')
  })

  test('sending() refuses past the deadline: nothing moves, and the payment is "not sent"', async () => {
    const wake = Promise.withResolvers<void>()
    const refusal = Promise.withResolvers<unknown>()
    const { id, result } = await run.debit('overslept', {
      debit: async (operation, context) => {
        await wake.promise
        try {
          context.sending()
        } catch (error) {
          refusal.resolve(error)
          throw error
        }
        return approvedAs(operation)
      },
    })
    assert.equal(result.code, undecided)
    wake.resolve()
    assert.equal(((await refusal.promise) as Error).name, 'TooLateToSend')
    await run.event(id, 'payment.declined')
    const read = await run.gateway.payments.get(id)
    assert.equal(read.result.code, '900.100.600')
    assert.equal(read.retrySafe, true)
  })

  test('a capture with a late answer keeps its reservation until then', async () => {
    const { id } = await run.debit('late-authorisation', {}, { paymentType: 'PA' })
    const call = held()
    run.acquirer.tell('late-capture', { capture: call.script.debit })
    const capture = await run.gateway.payments.capture(id, {
      amount: card('').amount,
      currency: 'EUR',
      merchantTransactionId: 'late-capture',
    })
    assert.equal(capture.result.code, undecided)
    assert.equal((await balanceOf(run, id)).capturing, 9200n)
    call.answer(approvedAs(await call.begun))
    await run.event(capture.id, 'payment.approved')
    const { capturing, captured } = await balanceOf(run, id)
    assert.deepEqual({ capturing, captured }, { capturing: 0n, captured: 9200n })
  })
})
