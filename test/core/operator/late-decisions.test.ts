/** Decisions about late successes. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Reversed, unknown } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/index.ts'
import { approvedAs, processed } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  heldCall,
  type LateRun,
  lose,
  noMoney,
  refuse,
  refusedFor,
  startLateThroughLine,
  withoutKeyReversal,
} from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'

const alice = { by: 'Alice', reason: 'seen in the acquirer’s back office' }
const silent = () => unknown('the acquirer is down')
const tooLate = (): Reversed => ({ is: 'refused', why: 'too late' })
const notReversed = { debit: refuse, reverseByKey: tooLate, reverse: refuse }

describe("operators' decisions about late successes", () => {
  let run: LateRun
  let line: Line
  before(async () => {
    ;({ run, line } = await startLateThroughLine({ unkeyed: withoutKeyReversal }))
  })
  afterEach(() => onFaultPoint(undefined))
  after(async () => {
    await closeChecked(run)
    await line.close()
  })

  const attemptOf = async (id: string) => {
    const [row] = await run.sql<{ key: string; state: string; is_free: boolean }>(
      'select key, state, lease_until is null as is_free from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!
  }
  const undoOf = async (id: string) => {
    const [row] = await run.sql<{ id: string; state: string }>(
      `select id, state from tollgate.payment where referenced_id = $1 and effect = 'undo'`,
      [id],
    )
    return row
  }
  const stands = (id: string) =>
    until(async () => ((await run.audited(id)).includes('late-success-stands') ? true : undefined))

  test("no decision is possible while the engine's own reversal is open", async () => {
    const script = { debit: refuse, reverse: lose, enquire: silent }
    const { id } = await run.debit('decide-undo-open', script, run.at('unkeyed'))
    await run.tell(id, { outcome: approval })
    const undo = await until(async () => {
      const found = await undoOf(id)
      return found?.state === 'unknown' && (await attemptOf(id)).is_free ? found : undefined
    })
    for (const as of ['approved', 'declined'] as const) {
      await assert.rejects(
        run.gateway.operator.settle(id, as, alice),
        refusedFor(new RegExp(`already reverses this payment \\(reversal ${undo.id}, unknown\\)`)),
      )
    }
    assert.equal((await attemptOf(id)).state, 'late')
    run.acquirer.tell('decide-undo-open', { enquire: approvedAs })
    await until(async () => {
      await run.age(undo.id)
      await run.dueNow(undo.id)
      await run.dueNow(id)
      return (await attemptOf(id)).state === 'declined' ? true : undefined
    })
    assert.equal(await run.code(id), noMoney)
  })

  test("an operator who saw the engine's own reversal done need not wait for the engine to see its end", async () => {
    const { id } = await run.debit('decide-undo-done', { debit: refuse }, run.at('unkeyed'))
    // The process that takes the money back dies once its reversal is approved.
    onFaultPoint(async (point, about) => {
      if (point !== 'after-T2' || about === id) return
      onFaultPoint(undefined)
      throw new Error('killed')
    })
    await run.tell(id, { outcome: approval })
    const undo = await until(async () => {
      const found = await undoOf(id)
      return found?.state === 'approved' && (await attemptOf(id)).state === 'late'
        ? found
        : undefined
    })
    await run.sql('update tollgate.attempt set lease_until = null where payment_id = $1', [id])
    await assert.rejects(
      run.gateway.operator.settle(id, 'approved', alice),
      refusedFor(new RegExp(`already reverses this payment \\(reversal ${undo.id}, approved\\)`)),
    )
    await run.gateway.operator.settle(id, 'declined', alice)
    assert.equal((await attemptOf(id)).state, 'declined')
    assert.deepEqual(await run.kinds(id), ['(conflict)'])
    assert.equal(await run.code(id), noMoney)
  })

  test('no decision is possible while a reversal is under way', async () => {
    const call = heldCall<Reversed>()
    const { id } = await run.debit('decide-under-way', {
      debit: refuse,
      reverseByKey: call.handler,
    })
    await run.bring(id, { outcome: approval })
    await call.begun
    for (const as of ['approved', 'declined'] as const) {
      await assert.rejects(
        run.gateway.operator.settle(id, as, alice),
        refusedFor(/works on this payment now/),
      )
    }
    call.answer({ is: 'reversed' })
    await until(async () => ((await attemptOf(id)).state === 'declined' ? true : undefined))
    assert.equal(await run.code(id), noMoney)
  })

  test('a process that paused during a decision begins no reversal of kept money', async () => {
    const { id } = await run.debit('decide-stale', { debit: refuse }, run.at('unkeyed'))
    const { key } = await attemptOf(id)
    const [begins, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    onFaultPoint((point) => {
      if (point !== 'before-T1') return undefined
      begins.resolve()
      return goOn.promise
    })
    const event = await run.bring(id, { outcome: approval })
    await begins.promise
    await run.dueLater(id)
    await run.sql(
      `update tollgate.attempt set lease_until = now() - interval '1 second' where key = $1`,
      [key],
    )
    const [decides, decide] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    onFaultPoint((point, ref) => {
      if (point !== 'before-late' || ref !== id) return undefined
      decides.resolve()
      return decide.promise
    })
    const kept = run.operator.settle(id, 'approved', alice)
    await decides.promise
    goOn.resolve()
    // The event may meet the decision, and then waits for its end.
    await until(async () => {
      const [row] = await run.sql<{ is_over: boolean }>(
        'select processed_at is not null or waits > 0 as is_over from tollgate.inbound_event where event_id = $1',
        [event],
      )
      return row!.is_over || undefined
    })
    decide.resolve()
    await kept
    await processed(run, event)
    assert.deepEqual(run.acquirer.of('decide-stale'), ['debit'])
    assert.equal(await undoOf(id), undefined)
    assert.equal(await run.code(id), charged)
  })

  test('money that was charged back cannot be kept', async () => {
    const { id } = await run.debit('decide-charged-back', notReversed)
    await run.tell(id, { outcome: approval })
    await stands(id)
    await run.tell(id, {
      outcome: { is: 'chargeback', reason: '800.100.203', refs: {} },
      reference: 'case-1',
    })
    await assert.rejects(
      run.gateway.operator.settle(id, 'approved', alice),
      refusedFor(/charged back/),
    )
    assert.equal(await run.code(id), noMoney)
    await run.gateway.operator.settle(id, 'declined', alice)
    assert.equal((await attemptOf(id)).state, 'declined')
  })

  test('an amount with a third decimal cannot be kept', async () => {
    const kwd = { amount: '9.25', currency: 'KWD' }
    const { id } = await run.debit('decide-third-decimal', notReversed, kwd)
    await run.tell(id, { outcome: approval, minor: '9255', currency: 'KWD' })
    await stands(id)
    await assert.rejects(
      run.gateway.operator.settle(id, 'approved', alice),
      refusedFor(/two decimals/),
    )
    await run.gateway.operator.settle(id, 'declined', alice)
    assert.equal((await attemptOf(id)).state, 'declined')
  })

  for (const [as, action, state] of [
    ['approved', 'payment.kept', 'approved'],
    ['declined', 'payment.given-back', 'declined'],
  ] as const) {
    test(`a decision whose answer was lost is reported as made: ${action}`, async () => {
      const reference = `decide-lost-${as}`
      const { id } = await run.debit(reference, notReversed)
      await run.tell(id, { outcome: approval })
      await stands(id)
      await until(async () => ((await attemptOf(id)).is_free ? true : undefined))
      const cut = line.cut(action, 'after')
      await run.gateway.operator.settle(id, as, alice)
      await cut
      assert.equal(await run.stateOf(id), state)
      const made = (await run.audited(id)).filter((one) => one === action)
      assert.deepEqual(made, [action], 'one decision')
      if (as === 'approved') assert.equal((await balanceOf(run, id)).captured, 9200n)
    })
  }

  test('an entry that was closed while the answer was lost is reported as closed', async () => {
    const { id } = await run.debit('decide-lost-entry')
    await run.tell(id, { outcome: { is: 'declined', reason: '800.100.203', refs: {} } })
    const [entry] = await run.listed(id)
    assert.equal(entry?.kind, 'return')
    const cut = line.cut('attention.resolved', 'after')
    const { text } = await run.gateway.operator.resolve(entry!.id, alice)
    await cut
    assert.match(text, /return of payment .* is off the list/)
    assert.deepEqual(await run.kinds(id), ['(return)'])
  })
})
