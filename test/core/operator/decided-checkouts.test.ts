/** Decisions about open payments of checkouts that another payment has paid. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { unknown } from '@tollgate/plugin-kit'
import { until } from '../../rig/gateway.ts'
import { type LateRun, lose, startLate } from '../../rig/late-words.ts'
import { newCheckout, press } from '../checkout/rig.ts'

const by = { by: 'alice', reason: 'seen in their portal' }

describe('decisions about tries of a checkout', () => {
  let run: LateRun
  before(async () => {
    run = await startLate({}, { publicUrl: 'https://pay.example' })
  })
  after(() => run.close())

  test('an approval of a try that lost its slot is told and recorded as a late success', async () => {
    const reference = 'slot-of-another'
    run.acquirer.tell(reference, { debit: lose, enquire: () => unknown('ask later') })
    const checkout = await newCheckout(run, {
      merchantTransactionId: reference,
      testMode: 'EXTERNAL',
    })
    await press(run.gateway, checkout)
    const [row] = await run.sql<{ id: string }>(
      'select payment_id as id from tollgate.checkout where id = $1',
      [checkout],
    )
    const { id } = row!
    // A failover lost the slot, and the shopper paid again.
    const other = await run.debit('slot-has-this', {})
    await run.sql('update tollgate.checkout set payment_id = $2 where id = $1', [
      checkout,
      other.id,
    ])
    await run.operator.enquire(id, by)
    const { state, text } = await until(() =>
      run.operator.settle(id, 'approved', by).catch(() => undefined),
    )
    assert.equal(state, 'declined')
    assert.match(text, /paid the checkout with another payment/)
    assert.ok(!text.includes('settled as approved'))
    const [audit] = await run.sql<{ after: { state: string } }>(
      "select after from tollgate.audit where resource = $1 and action = 'payment.settled'",
      [id],
    )
    assert.equal(audit!.after.state, 'declined')
  })
})
