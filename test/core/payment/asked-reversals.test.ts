/** A reversal by key that was asked for, and whose end nobody knows: no second reversal, and no kept money. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Reversed } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/index.ts'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  failure,
  type LateRun,
  lose,
  refuse,
  refusedFor,
  startLate,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const mayBeBack = refusedFor(/no answer says how that ended/)
const unanswered: Reversed = { is: 'unknown', why: 'the line went dead' }
const refusal: Reversed = { is: 'refused', why: 'already reversed' }

/** Reverses a key once, still shows the approval, and takes every reversal that is an operation. */
function forgetful(first: Reversed = { is: 'reversed' }): Script & { readonly back: string[] } {
  const back: string[] = []
  return {
    back,
    debit: refuse,
    enquire: approvedAs,
    reverseByKey: () => {
      if (back.length > 0) return refusal
      back.push('by key')
      return first
    },
    reverse: (operation, context) => {
      context.sending()
      back.push('by operation')
      return approvedAs(operation)
    },
  }
}

describe('reversals by key whose end nobody knows', () => {
  let run: LateRun
  before(async () => {
    run = await startLate({}, { role: 'api', shutdownGraceMs: 100 })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  /** The process stops for good after the acquirer's answer and before its record. */
  async function dies(id: string): Promise<void> {
    const dead = Promise.withResolvers<void>()
    let visits = 0
    onFaultPoint((at, payment) => {
      if (at !== 'before-late' || payment !== id) return
      visits += 1
      if (visits < 2) return
      onFaultPoint(undefined)
      dead.resolve()
      return new Promise<void>(() => {})
    })
    await run.bring(id, { outcome: approval })
    await dead.promise
    await run.age(id)
  }
  const worker = () => run.another({ role: 'worker', plugins: [run.acquirer.plugin] })
  const stands = (id: string) =>
    until(async () => {
      await run.dueNow(id)
      await run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
      return (await run.audited(id)).includes('late-success-stands') ? true : undefined
    })
  const isFree = (id: string) =>
    until(async () => {
      const rows = await run.sql(
        'select from tollgate.attempt where payment_id = $1 and lease_until is null',
        [id],
      )
      return rows.length > 0 ? true : undefined
    })

  test('after a death before the record of the reversal nothing is reversed a second time', async () => {
    const script = forgetful()
    const { id } = await run.debit('dead-then-refused', script)
    await dies(id)
    await using _ = await worker()
    await stands(id)
    assert.deepEqual(script.back, ['by key'])
    assert.deepEqual(await run.kinds(id), ['conflict'])
    await isFree(id)
    await assert.rejects(run.operator.settle(id, 'approved', by), mayBeBack)
    await run.operator.settle(id, 'declined', by)
  })

  test('after such a death the money is not kept', async () => {
    const { id } = await run.debit('dead-then-kept', forgetful())
    await dies(id)
    await assert.rejects(run.operator.settle(id, 'approved', by), mayBeBack)
    await run.operator.settle(id, 'declined', by)
  })

  test('a reversal without an answer leaves nothing to keep, until the acquirer says that it failed', async () => {
    const { id } = await run.debit('asked-in-vain', forgetful(unanswered))
    await run.tell(id, { outcome: approval })
    await until(async () => ((await run.audited(id)).includes('reverse-by-key') ? true : undefined))
    await isFree(id)
    await assert.rejects(run.operator.settle(id, 'approved', by), mayBeBack)
    await run.tell(id, { outcome: { is: 'notReversed', why: 'the scheme refused' } })
    await run.operator.settle(id, 'approved', by)
    assert.equal(await run.code(id), charged)
  })

  test('a first refusal leaves the money to be kept', async () => {
    const script = { debit: refuse, reverseByKey: () => refusal }
    const { id } = await run.debit('refused-at-once', script)
    await run.tell(id, { outcome: approval })
    await stands(id)
    await isFree(id)
    await run.operator.settle(id, 'approved', by)
    assert.equal(await run.code(id), charged)
  })

  test('a reversal that was asked for before a decline is remembered at its late success', async () => {
    const script = { ...forgetful(), debit: lose, enquire: () => ({ is: 'notFound' }) as const }
    const { id } = await run.debit('asked-while-open', script)
    // A process asked for the reversal while the payment was open, and died.
    await run.sql(
      `update tollgate.payment set answer = coalesce(answer, '{}') || '{"asked": true}' where id = $1`,
      [id],
    )
    script.back.push('by key')
    await run.tell(id, { outcome: failure })
    run.acquirer.tell('asked-while-open', { ...script, enquire: approvedAs })
    await run.tell(id, { outcome: approval })
    await stands(id)
    assert.deepEqual(script.back, ['by key'])
    await isFree(id)
    await run.operator.settle(id, 'declined', by)
  })
})
