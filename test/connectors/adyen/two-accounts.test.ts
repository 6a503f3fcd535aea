/** Two accounts of one merchant at one merchant account of Adyen, which sends every event to both. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { authorisationItem } from '../../../connectors/adyen/sandbox/messages.ts'
import { until } from '../../rig/gateway.ts'
import { type AdyenRun, abandoned, startAdyenRun } from './run.ts'

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

  for (const order of ['own first', 'other first'] as const) {
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
