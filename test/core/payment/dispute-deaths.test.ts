/**
 * A chargeback, or its reversal, in a process that dies: recorded exactly once when the event is
 * retried.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type FaultPoint, onFaultPoint } from '../../../core/index.ts'
import { processed } from '../../rig/acquirer.ts'
import { checkBooks } from '../../rig/books.ts'
import { charged, eur, type LateRun, startLate, type Word } from '../../rig/late-words.ts'

const points = ['before-fact', 'after-fact'] as const
const chargeback: Word = {
  outcome: { is: 'chargeback', reason: '000.100.220', refs: {} },
  minor: '3000',
}
const reversal: Word = {
  outcome: { is: 'chargebackReversal', reason: '000.100.220', refs: {} },
  minor: '3000',
}

/** Runs work up to a fault point, where its process stops for good. */
function dieAt(point: FaultPoint, work: () => Promise<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const begun = work()
    begun.catch(reject)
    onFaultPoint((at) => {
      if (at !== point) return
      onFaultPoint(undefined)
      begun.then(resolve, reject)
      return new Promise<void>(() => {})
    })
  })
}

describe('chargebacks interrupted at a fault point', { concurrency: true }, () => {
  let run: LateRun
  const dead = new Map<string, { id: string; event: string; reversed: string; back: string }>()

  before(async () => {
    run = await startLate({}, { role: 'api', shutdownGraceMs: 100 })
    for (const point of points) {
      const { id } = await run.debit(`charged-${point}`)
      const event = await dieAt(point, () =>
        run.bring(id, { ...chargeback, reference: `charged-${point}` }),
      )
      const { id: reversed } = await run.debit(`reversed-${point}`)
      const reference = `reversed-${point}`
      await run.tell(reversed, { ...chargeback, reference })
      const back = await dieAt(point, () => run.bring(reversed, { ...reversal, reference }))
      dead.set(point, { id, event, reversed, back })
    }
    await run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
    await run.another({ role: 'worker', plugins: [run.acquirer.plugin] })
  })
  after(async () => {
    try {
      await checkBooks(run)
    } finally {
      onFaultPoint(undefined)
      await run.close()
    }
  })

  const records = (id: string, type: string) =>
    run.sql<{ id: string; state: string; events: bigint }>(
      `select id, state, (select count(*) from tollgate.event where resource = payment.id) as events
         from tollgate.payment where payment_type = $2 and referenced_id in (
           select id from tollgate.payment where id = $1 or referenced_id = $1)`,
      [id, type],
    )
  const isOnce = (rows: readonly { state: string; events: bigint }[]) =>
    assert.deepEqual(
      rows.map(({ state, events }) => [state, events]),
      [['approved', 1n]],
    )

  for (const point of points) {
    const outcome = point === 'before-fact' ? 'recorded' : 'known'

    test(`a chargeback interrupted at ${point} is recorded once, never as declined`, async () => {
      const { id, event } = dead.get(point)!
      assert.equal(await processed(run, event), outcome)
      isOnce(await records(id, 'CB'))
      await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.300.600' })
    })

    test(`a reversal interrupted at ${point} is recorded once, and refunds are possible again`, async () => {
      const { reversed, back } = dead.get(point)!
      assert.equal(await processed(run, back), outcome)
      isOnce(await records(reversed, 'CB'))
      isOnce(await records(reversed, 'CR'))
      assert.equal((await run.gateway.payments.refund(reversed, eur('92.00'))).result.code, charged)
    })
  }
})
