/** Two accounts of one merchant at one merchant account of Adyen, which sends every event to both. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newReference, type Payment } from '../../../connectors/adyen/sandbox/ledger.ts'
import { authorisationItem, type Item } from '../../../connectors/adyen/sandbox/messages.ts'
import { until } from '../../rig/gateway.ts'
import { type AdyenRun, abandoned, newPayment, startAdyenRun } from './run.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const done = '000.100.112'

describe('two accounts at one merchant account of Adyen', () => {
  let run: AdyenRun
  let other: string
  before(async () => {
    run = await startAdyenRun()
    other = await run.addAccount()
  })
  after(() => run.close())

  test('a shopper who pays after all is taken back, whichever account hears of it first', async () => {
    const { id, there } = await abandoned(run)
    run.adyen.ledger.authorise(there)
    const authorised = run.adyen.message(authorisationItem(there))
    await run.tellTo(other, authorised)
    await run.tell(authorised)
    const key = await run.keyOf(id)
    await until(async () => {
      if (run.adyen.ledger.undoOf(key)?.state === 'asked') return true
      await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
      return undefined
    })
    assert.deepEqual(await run.listed(id), ['conflict'], 'until Adyen tells the end')
    run.adyen.ledger.endUndo(key, 'by itself')
    const end = run.adyen.messageAbout(key)
    await run.tellTo(other, end)
    await run.tell(end)
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    assert.equal(there.isUndone, true)
  })

  /** Messages that waited for other work are processed now. */
  const waitingComeAgain = () =>
    run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')

  /** A payment without an answer that the engine takes back. */
  async function withoutAnswer() {
    const body = '{"error":"internal"}'
    const damage = { do: 'replace', status: 500, type: 'application/json', body } as const
    run.front.meet({ reaches: true, damage }, newPayment)
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    await until(async () => {
      const [row] = await run.sql<{ lease_until: Date | null }>(
        'select lease_until from tollgate.attempt where payment_id = $1',
        [id],
      )
      if (run.adyen.ledger.undoOf(key) !== undefined && row?.lease_until === null) return true
      await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
      return undefined
    })
    return { id, key, payment: run.adyen.ledger.byReference(key)! }
  }

  test('a reversal whose money came back stays listed, although the other account hears of both before', async () => {
    const { id, key, payment } = await withoutAnswer()
    for (const account of [run.account, other])
      await run.tellTo(account, run.adyen.message(authorisationItem(payment)))
    run.adyen.ledger.endUndo(key, 'done')
    const success = run.adyen.messageAbout(key)
    const { pspReference, reference } = run.adyen.ledger.undos.find(({ of }) => of === key)!
    const failure = byHand(payment, {
      eventCode: 'REFUND_FAILED',
      pspReference,
      merchantReference: reference,
    })
    for (const message of [success, failure]) await run.tellTo(other, message)
    for (const message of [success, failure]) await run.tell(message)
    assert.ok(!(await run.code(id)).startsWith('000'))
    assert.deepEqual(await run.listed(id), ['conflict'])
    for (const message of [success, failure]) await run.tellTo(other, message)
    assert.deepEqual(await run.listed(id), ['conflict'])
  })

  for (const name of ['the try', 'the payment', 'nothing'] as const) {
    test(`a reversal whose money came back stays listed, although the failure is told first, under the name of ${name}`, async () => {
      const { id, key, payment } = await withoutAnswer()
      await run.tell(run.adyen.message(authorisationItem(payment)))
      run.adyen.ledger.endUndo(key, 'done')
      const success = run.adyen.messageAbout(key)
      const { pspReference, reference } = run.adyen.ledger.undos.find(({ of }) => of === key)!
      const names = { 'the try': reference, 'the payment': payment.reference, nothing: '' }
      const eventCode = 'REFUND_FAILED'
      await run.tell(byHand(payment, { eventCode, pspReference, merchantReference: names[name] }))
      await run.tell(success)
      assert.ok(!(await run.code(id)).startsWith('000'))
      // A message waits while the engine works on the payment.
      await until(async () => {
        await waitingComeAgain()
        return (await run.listed(id)).length > 0 || undefined
      })
      assert.deepEqual(await run.listed(id), ['conflict'])
    })
  }

  test('the success of a reversal whose money came back ends nothing, told while the next one is under way', async () => {
    const { id, key, payment } = await withoutAnswer()
    const { ledger } = run.adyen
    await run.tell(run.adyen.message(authorisationItem(payment)))
    ledger.endUndo(key, 'done')
    const success = run.adyen.messageAbout(key)
    const { pspReference } = ledger.undoOf(key)!
    await run.tell(
      byHand(payment, { eventCode: 'REFUND_FAILED', pspReference, merchantReference: '' }),
    )
    payment.isUndone = false
    const isListed = async () => (await run.listed(id)).join() === 'conflict' || undefined
    await until(isListed)
    const tries = () => ledger.undos.filter(({ of }) => of === key).length
    await run.gateway.operator.redrive(id, { by: 'alice', reason: 'the money came back' })
    await until(async () => tries() === 2 || undefined)
    await run.tell(success)
    await waitingComeAgain()
    await until(isListed)
    ledger.endUndo(key, 'done')
    await run.tell(run.adyen.messageAbout(key))
    await until(async () => (await run.listed(id)).length === 0 || undefined)
    assert.equal(payment.isUndone, true)
  })

  /** What the Customer Area did to a payment. */
  const byHand = (payment: Payment, more: Partial<Item> = {}) =>
    run.adyen.message({
      eventCode: 'CANCEL_OR_REFUND',
      success: true,
      pspReference: newReference(),
      originalReference: payment.pspReference,
      merchantReference: payment.reference,
      amount: payment.amount,
      ...more,
    })

  for (const order of ['own first', 'other first'] as const) {
    test(`a cancellation by hand of one of two payments of a name leaves the reversal of the other one under way, ${order}`, async () => {
      const { id, key, payment } = await withoutAnswer()
      const second = run.adyen.ledger.add({ ...payment, pspReference: newReference() })
      for (const one of [payment, second])
        for (const account of [run.account, other])
          await run.tellTo(account, run.adyen.message(authorisationItem(one)))
      const success = byHand(payment)
      const accounts = order === 'own first' ? [run.account, other] : [other, run.account]
      for (const account of accounts) await run.tellTo(account, success)
      assert.ok((await run.code(id)).startsWith('000'), 'the second one stands')
      await until(async () => {
        const { undos } = run.adyen.ledger
        if (undos.filter(({ of }) => of === key).length === 2) return true
        await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
        return undefined
      })
      run.adyen.ledger.endUndo(key, 'done')
      await run.tell(run.adyen.messageAbout(key))
      // The message waits while the engine stores that it asked.
      await until(async () => {
        await waitingComeAgain()
        return (await run.code(id)).startsWith('000') ? undefined : true
      })
      assert.equal(second.isUndone, true, 'both are back')
    })
  }

  test('a payment stays back when the other account hears late that an earlier cancellation by hand failed', async () => {
    const { id, key, payment } = await withoutAnswer()
    const pspReference = newReference()
    const success = byHand(payment, { pspReference })
    const failure = byHand(payment, { pspReference, eventCode: 'REFUND_FAILED' })
    await run.tell(success)
    await run.tell(failure)
    assert.deepEqual(await run.listed(id), ['conflict'])
    await run.gateway.operator.redrive(id, { by: 'alice', reason: 'it stands' })
    await until(async () => {
      if (run.adyen.ledger.undos.filter(({ of }) => of === key).length === 2) return true
      await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
      return undefined
    })
    run.adyen.ledger.endUndo(key, 'done')
    await run.tell(run.adyen.messageAbout(key))
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    for (const message of [success, failure]) await run.tellTo(other, message)
    assert.deepEqual(await run.listed(id), [])
    assert.ok(!(await run.code(id)).startsWith('000'), 'it stays back')
  })

  for (const order of ['own first', 'other first'] as const) {
    test(`a cancellation by hand whose money came back stays listed, in whatever order each account hears of it, ${order}`, async () => {
      const { id, payment } = await withoutAnswer()
      const pspReference = newReference()
      const success = byHand(payment, { pspReference })
      const failure = byHand(payment, { pspReference, eventCode: 'REFUND_FAILED' })
      const [first, second] = order === 'own first' ? [run.account, other] : [other, run.account]
      for (const message of [failure, success]) await run.tellTo(first, message)
      // Only the account that made the payment tells that it stands.
      assert.equal((await run.listed(id)).includes('conflict'), order === 'own first')
      for (const message of [success, failure]) await run.tellTo(second, message)
      for (const account of [first, second]) await run.tellTo(account, success, failure)
      assert.deepEqual(await run.listed(id), ['conflict'], 'once')
    })

    test(`an increase has its own amount, ${order}`, async () => {
      const { id } = await run.pay({ paymentType: 'PA' })
      const increase = await run.gateway.payments.followUp(id, {
        paymentType: 'PA',
        ...eur('8.00'),
        standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
      } as never)
      const message = run.adyen.messageAbout(await run.referenceOf(increase.id))
      const accounts = [run.account, other]
      if (order === 'other first') accounts.reverse()
      for (const account of accounts) await run.tellTo(account, message)
      assert.equal(await run.code(increase.id), done)
      assert.deepEqual(await run.listed(increase.id), [])
      const capture = await run.gateway.payments.capture(id, eur('100.00'))
      assert.equal(capture.result.code, done)
    })

    /** Reverses a preauthorization, and tells both accounts its end. */
    const cancelled = async (success: boolean, value: number) => {
      const { id } = await run.pay({ paymentType: 'PA' })
      const release = await run.gateway.payments.followUp(id, { paymentType: 'RV' } as never)
      const reference = await run.referenceOf(release.id)
      const { payment, pspReference } = run.adyen.ledger.modifications.find(
        (one) => one.reference === reference,
      )!
      const message = run.adyen.message({
        eventCode: 'CANCELLATION',
        success,
        pspReference,
        originalReference: payment.pspReference,
        merchantReference: reference,
        amount: { value, currency: 'EUR' },
      })
      const accounts = [run.account, other]
      if (order === 'other first') accounts.reverse()
      for (const account of accounts) await run.tellTo(account, message)
      return { authorised: id, release: release.id }
    }

    test(`a cancellation has the amount of its authorisation, ${order}`, async () => {
      const { release } = await cancelled(true, 0)
      assert.equal(await run.code(release), done)
      assert.deepEqual(await run.listed(release), [])
    })

    test(`a cancellation that fails is told for its authorisation, ${order}, whatever amount Adyen names`, async () => {
      for (const value of [0, 9200, 10_000]) {
        const { authorised, release } = await cancelled(false, value)
        assert.equal(await run.code(release), '700.300.700', String(value))
        assert.deepEqual(await run.listed(release), [], String(value))
        const capture = await run.gateway.payments.capture(authorised, eur('92.00'))
        assert.equal(capture.result.code, done, 'its authorisation is free again')
      }
    })
  }
})
