/** A failover loses a first payment under way, and its repeat under the same key writes its payment first. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { declined } from '@tollgate/plugin-kit'
import { approvedAs } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { heldCall, type LateRun, noMoney, startLate } from '../../rig/late-words.ts'

/** Tables of a first payment, and their columns with its id. */
const rows = {
  attempt: 'payment_id',
  payment_request: 'id',
  instrument: 'id',
  payment_balance: 'payment_id',
  idempotency: 'payment_id',
  payment: 'id',
}

describe('payments whose repeat came first after a failover', () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  test('the approval of a lost payment is a late word about its repeat', async () => {
    const reference = 'repeated-first'
    const call = heldCall()
    run.acquirer.tell(reference, { debit: call.handler })
    const fields = { testMode: 'EXTERNAL', merchantTransactionId: reference }
    const pay = () => run.pay(fields, { key: 'client-key-of-the-repeat' })
    const first = pay()
    const operation = await call.begun
    for (const [table, column] of Object.entries(rows)) {
      await run.sql(`delete from tollgate.${table} where ${column} = $1`, [operation.paymentId])
    }
    run.acquirer.tell(reference, {
      debit: (_, context) => {
        context.sending()
        return declined(noMoney)
      },
      enquire: approvedAs,
      reverseByKey: () => ({ is: 'reversed' }),
    })
    const repeat = await pay()
    assert.equal(await run.keyOf(repeat.id), operation.key)
    call.answer(approvedAs(operation))
    assert.equal((await first).id, repeat.id)
    await until(async () => {
      await run.dueNow(repeat.id)
      return (await run.kinds(repeat.id))[0] === '(conflict)' ? true : undefined
    })
    assert.ok(run.acquirer.of(reference).includes('reverseByKey'))
  })
})
