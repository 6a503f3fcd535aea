/**
 * A scheduled charge with a late success: no other charge is made while its money is still there.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Reversed } from '@tollgate/plugin-kit'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { approval, type LateRun, startLate } from '../../rig/late-words.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

const by = { by: 'alice', reason: 'seen in their portal' }

describe('schedule charges with a late success', () => {
  let run: LateRun
  let tools: Scheduling
  before(async () => {
    run = await startLate({}, { shutdownGraceMs: 100 })
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  const payments = (id: string) =>
    run.sql<{ id: string; state: string }>(
      'select id, state from tollgate.payment where schedule_id = $1 order by id',
      [id],
    )
  const states = async (id: string) => (await payments(id)).map(({ state }) => state)
  const later = () => run.sql('update tollgate.timer set due_at = now() where clock_id is null')

  /** A schedule whose first two charges could not be sent. */
  async function notSentTwice(undo: { answer: Reversed }) {
    const reference = `charge-${newId()}`
    let sent = 0
    run.acquirer.tell(reference, {
      debit: (operation, context) => {
        sent += 1
        if (sent <= 2) return { is: 'notSent', why: 'no connection' }
        context.sending()
        return { is: 'approved', refs: { reference: operation.key } }
      },
      reverseByKey: () => undo.answer,
      enquire: () => ({ is: 'unknown', why: 'ask later' }),
    })
    const at = new Date(Math.ceil(Date.now() / 1000 + 0.5) * 1000)
    const [day, month, year] = [at.getUTCDate(), at.getUTCMonth() + 1, at.getUTCFullYear()]
    const time = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()}`
    const { id } = await tools.schedule(await tools.store({ testMode: 'EXTERNAL' }), {
      testMode: 'EXTERNAL',
      merchantTransactionId: reference,
      job: { expression: `${time} ${day} ${month} ? ${year}` },
    })
    const [first, second] = await until(async () => {
      const all = await payments(id)
      return all.length === 2 && all[1]!.state === 'declined' ? all : undefined
    })
    return { id, reference, first: first!.id, second: second!.id }
  }

  /** The same, with a late success of one of them. */
  async function chargedAfterAll(undo: { answer: Reversed }, which: 'first' | 'second' = 'second') {
    const charges = await notSentTwice(undo)
    const late = charges[which]
    await run.tell(late, { outcome: approval })
    return { id: charges.id, late, reference: charges.reference }
  }

  const looksAgain = (id: string) =>
    until(async () => {
      const [timer] = await run.sql(
        `select 1 from tollgate.timer where kind = 'execution' and due_at > now() + interval '1 minute'
           and ref in (select replace(id::text, '-', '') from tollgate.occurrence where schedule_id = $1)`,
        [id],
      )
      return timer
    })

  test('a late success is undone before the due time is charged again', async () => {
    const undo: { answer: Reversed } = { answer: { is: 'unknown', why: 'ask later' } }
    const { id, late } = await chargedAfterAll(undo)
    await later()
    await looksAgain(id)
    assert.deepEqual(await states(id), ['declined', 'declined'])
    undo.answer = { is: 'reversed' }
    await until(async () => {
      await later()
      return (await run.kinds(late)).every((kind) => kind === '(conflict)') ? true : undefined
    })
    await until(async () => {
      await later()
      return (await states(id)).at(-1) === 'approved' ? true : undefined
    })
    assert.deepEqual(await states(id), ['declined', 'declined', 'approved'])
  })

  test('a late success of an earlier charge is undone before the due time is charged again', async () => {
    const undo: { answer: Reversed } = { answer: { is: 'unknown', why: 'ask later' } }
    const { id, late } = await chargedAfterAll(undo, 'first')
    await later()
    await looksAgain(id)
    assert.deepEqual(await states(id), ['declined', 'declined'])
    undo.answer = { is: 'reversed' }
    await until(async () => {
      await later()
      return (await states(id)).at(-1) === 'approved' ? true : undefined
    })
    assert.deepEqual(await run.kinds(late), ['(conflict)'])
    assert.deepEqual(await states(id), ['declined', 'declined', 'approved'])
  })

  test('a late success of an earlier charge between the read and the commit of the next: nothing is sent', async () => {
    const { id, first } = await notSentTwice({ answer: { is: 'unknown', why: 'ask later' } })
    const heard = Promise.withResolvers<void>()
    onFaultPoint(async (point) => {
      if (point !== 'before-T1') return
      onFaultPoint(undefined)
      await run.tell(first, { outcome: approval })
      heard.resolve()
    })
    await later()
    await heard.promise
    await looksAgain(id)
    assert.deepEqual(await states(id), ['declined', 'declined'])
  })

  test('a late success kept by an operator is the charge, and no other follows', async () => {
    const { id, late } = await chargedAfterAll({ answer: { is: 'refused', why: 'too late' } })
    await until(async () =>
      (await run.audited(late)).includes('late-success-stands') ? true : undefined,
    )
    await later()
    await looksAgain(id)
    await run.operator.settle(late, 'approved', by)
    await later()
    await until(async () => {
      const left = await run.sql(
        `select 1 from tollgate.timer where kind = 'execution'
           and ref in (select replace(id::text, '-', '') from tollgate.occurrence where schedule_id = $1)`,
        [id],
      )
      return left.length === 0 ? true : undefined
    })
    assert.deepEqual(await states(id), ['declined', 'approved'])
  })
})
