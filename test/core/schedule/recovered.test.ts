/** A failover loses a scheduled charge together with the firing of its due time. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { declined, type Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { newId } from '../../../core/index.ts'
import { type AcquirerRun, approvedAs, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { charged, heldCall, noMoney } from '../../rig/late-words.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

const soon = () => new Date(Math.ceil(Date.now() / 1000 + 1) * 1000)
const daily = (at: Date) =>
  `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()} * * ? *`

describe('scheduled charges whose rows were lost in a failover', { concurrency: true }, () => {
  let run: AcquirerRun
  let tools: Scheduling
  before(async () => {
    run = await startWithAcquirer()
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  /** A charge at the acquirer, whose rows the promoted server has not: the due time has not fired there. */
  async function lost(isFired: boolean) {
    const reference = `lost-${newId()}`
    const call = heldCall()
    run.acquirer.tell(reference, { debit: call.handler })
    const at = { testMode: 'EXTERNAL', entityId: run.channel }
    const registrationId = await tools.store(at)
    const due = soon()
    const { id } = await tools.schedule(registrationId, {
      ...{ ...at, merchantTransactionId: reference },
      job: { expression: daily(due) },
    })
    const { paymentId } = await call.begun
    await run.sql('delete from tollgate.attempt where payment_id = $1', [paymentId])
    for (const table of ['instrument', 'payment_request', 'payment']) {
      await run.sql(`delete from tollgate.${table} where id = $1`, [paymentId])
    }
    if (isFired) {
      await run.sql('update tollgate.occurrence set payment_id = null where schedule_id = $1', [id])
    } else {
      await run.sql('delete from tollgate.occurrence where schedule_id = $1', [id])
    }
    return { id, reference, due, call, paymentId }
  }
  const kinds = async (id: string) => {
    const rows = await run.sql<{ kind: string }>(
      'select kind from tollgate.attention where payment_id = $1',
      [id],
    )
    return rows.map(({ kind }) => kind)
  }
  const executionsOf = (id: string) =>
    run.sql<{ at: Date; payment_id: string | null }>(
      'select at, payment_id from tollgate.occurrence where schedule_id = $1',
      [id],
    )

  for (const [isFired, what] of [
    [false, 'its due time comes back with it'],
    [true, 'it takes its due time'],
  ] as const) {
    for (const [code, answerOf] of [
      [charged, approvedAs],
      [noMoney, () => declined(noMoney)],
    ] as const) {
      test(`${code}: the charge is written again and flagged, and ${what}`, async () => {
        const { id, reference, due, call, paymentId } = await lost(isFired)
        call.answer(answerOf(await call.begun) as Outcome)
        await until(async () => ((await kinds(paymentId)).length > 0 ? true : undefined))
        const { result } = await until(async () => {
          const payment = await run.gateway.payments.get(paymentId).catch(() => undefined)
          return payment?.result.code === code ? payment : undefined
        })
        assert.equal(result.code, code)
        assert.deepEqual(await kinds(paymentId), ['recovered'])
        assert.deepEqual(await executionsOf(id), [{ at: due, payment_id: paymentId }])
        // The new leader fires the due time, too.
        await run.sql('update tollgate.schedule set next_at = $2 where id = $1', [id, due])
        await until(async () => {
          const [row] = await run.sql<{ next_at: Date }>(
            'select next_at from tollgate.schedule where id = $1',
            [id],
          )
          return row!.next_at > due ? true : undefined
        })
        assert.deepEqual(await executionsOf(id), [{ at: due, payment_id: paymentId }])
        assert.deepEqual(run.acquirer.of(reference), ['debit'])
      })
    }
  }
})

test('due times fire once processes had time to restore what they remember', async () => {
  const run = await startWithAcquirer()
  const tools = scheduling(run)
  try {
    const [leader] = await run.sql<{ since: Date }>(
      `insert into tollgate.server_timeline (timeline, system)
      select coalesce(max(timeline), 0) + 1, max(system) from tollgate.server_timeline
      returning since`,
    )
    const at = { testMode: 'EXTERNAL', entityId: run.channel }
    const { id } = await tools.schedule(await tools.store(at), {
      ...{ ...at, merchantTransactionId: `waits-${newId()}` },
      job: { expression: daily(soon()) },
    })
    const { created_at: createdAt } = await until(async () => {
      const [payment] = await run.sql<{ created_at: Date }>(
        'select created_at from tollgate.payment where schedule_id = $1',
        [id],
      )
      return payment
    })
    assert.ok(createdAt.getTime() - leader!.since.getTime() >= limits.restorationMs)
  } finally {
    await closeChecked(run)
  }
})
