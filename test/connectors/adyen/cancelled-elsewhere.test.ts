/** Money of reversals that came back to the merchant is on the list, before a real engine. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newReference } from '../../../connectors/adyen/sandbox/ledger.ts'
import { authorisationItem, type Item } from '../../../connectors/adyen/sandbox/messages.ts'
import { until } from '../../rig/gateway.ts'
import { type AdyenRun, newPayment, startAdyenRun } from './run.ts'

const lost = {
  reaches: true,
  damage: { do: 'replace', status: 500, type: 'application/json', body: '{"error":"internal"}' },
} as const
const by = { by: 'alice', reason: 'the Customer Area shows it' }

describe('reversals at Adyen whose money comes back', () => {
  let run: AdyenRun
  before(async () => {
    run = await startAdyenRun()
  })
  after(() => run.close())

  const triesOf = (key: string) => run.adyen.ledger.undos.filter(({ of }) => of === key)

  /** Makes the engine ask for a reversal, and waits until Adyen took so many, and the engine knows. */
  async function asked(id: string, key: string, tries: number): Promise<void> {
    await until(async () => {
      if (triesOf(key).length === tries) return true
      await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
      return undefined
    })
    await until(async () => {
      const [row] = await run.sql<{ lease_until: Date | null }>(
        'select lease_until from tollgate.attempt where payment_id = $1',
        [id],
      )
      return row?.lease_until === null ? true : undefined
    })
  }

  /** A payment without an answer that the engine takes back, and what the Customer Area did to it. */
  async function cancelled(failing: Partial<Item> = {}) {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    await asked(id, key, 1)
    const { pspReference: originalReference, amount } = run.adyen.ledger.byReference(key)!
    const item = {
      success: true,
      pspReference: newReference(),
      originalReference,
      merchantReference: key,
      amount,
    }
    const success = run.adyen.message({ ...item, eventCode: 'CANCEL_OR_REFUND' })
    const failure = run.adyen.message({ ...item, eventCode: 'REFUND_FAILED', ...failing })
    return { id, key, success, failure }
  }

  test('a cancellation whose refund fails later is listed, and a redrive asks Adyen again', async () => {
    const { id, key, success, failure } = await cancelled()
    await run.tell(success)
    assert.ok(!(await run.code(id)).startsWith('000'), 'it went back')
    assert.deepEqual(await run.listed(id), [])
    for (const messages of [[failure], [failure, success]]) {
      await run.tell(...messages)
      assert.deepEqual(await run.listed(id), ['conflict'], 'once')
    }
    await run.gateway.operator.redrive(id, by)
    await asked(id, key, 2)
    assert.deepEqual(await run.listed(id), ['conflict'], 'until Adyen tells the end')
    run.adyen.ledger.endUndo(key, 'done')
    await run.tell(run.adyen.messageAbout(key))
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    await run.tell(failure, success)
    assert.deepEqual(await run.listed(id), [], 'repeats')
  })

  test('the failure of a reversal of Tollgate is listed, also without our name', async () => {
    for (const isPayment of [true, false]) {
      run.front.meet(lost, newPayment)
      const { id } = await run.pay()
      const key = await run.keyOf(id)
      await asked(id, key, 1)
      const payment = run.adyen.ledger.byReference(key)!
      await run.tell(run.adyen.message(authorisationItem(payment)))
      run.adyen.ledger.endUndo(key, 'failed')
      await run.tell(run.adyen.messageAbout(key))
      await asked(id, key, 2)
      run.adyen.ledger.endUndo(key, 'done')
      const success = run.adyen.messageAbout(key)
      await run.tell(success)
      assert.deepEqual(await run.listed(id), [], 'it went back')
      const { pspReference } = triesOf(key).at(-1)!
      const { pspReference: originalReference, amount } = payment
      const failed = { eventCode: 'REFUND_FAILED', success: true, amount }
      const merchantReference = isPayment ? key : 'order 7'
      const failure = run.adyen.message({
        ...failed,
        ...{ pspReference, originalReference, merchantReference },
      })
      for (const message of [failure, success, failure]) {
        await run.tell(message)
        assert.deepEqual(await run.listed(id), ['conflict'], merchantReference)
      }
    }
  })

  test('a failure that comes before its cancellation is listed with it, and once', async () => {
    for (const failing of [{}, { merchantReference: 'order 7' }, { merchantReference: '' }]) {
      const { id, success, failure } = await cancelled(failing)
      await run.tell(failure)
      assert.ok((await run.code(id)).startsWith('000'), 'nothing was told yet')
      for (const message of [success, failure, success]) {
        await run.tell(message)
        assert.deepEqual(await run.listed(id), ['conflict'], failing.merchantReference)
      }
    }
  })
})
