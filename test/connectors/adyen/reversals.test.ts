/** Reversals by key behind a real engine: what merchants and operators see in the end, whatever Adyen tells first. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newReference, type Payment } from '../../../connectors/adyen/sandbox/ledger.ts'
import {
  authorisationItem,
  type Item,
  undoItem,
} from '../../../connectors/adyen/sandbox/messages.ts'
import { onFaultPoint } from '../../../core/index.ts'
import type { Fault } from '../../../plugins/kit/testing/fault.ts'
import { card, until } from '../../rig/gateway.ts'
import { type AdyenRun, cards, newPayment, startAdyenRun } from './run.ts'

const type = 'application/json'
const lost: Fault = {
  reaches: true,
  damage: { do: 'replace', status: 500, type, body: '{"error":"internal"}' },
}
const error = { status: 401, errorCode: '000', errorType: 'security', message: 'No' }
const login: Fault = {
  reaches: false,
  damage: { do: 'replace', status: 401, type, body: JSON.stringify(error) },
}
const by = { by: 'alice', reason: 'the Customer Area shows it' }

describe('reversals of payments at Adyen', () => {
  let run: AdyenRun
  let other: string
  before(async () => {
    run = await startAdyenRun()
    other = await run.addAccount()
  })
  after(() => run.close())

  const payment = async (id: string) => run.adyen.ledger.byReference(await run.keyOf(id))!
  const triesOf = (key: string) => run.adyen.ledger.undos.filter(({ of }) => of === key)
  const tellItems = async (...items: Item[]) => {
    for (const one of items) await run.tell(run.adyen.message(one))
  }
  const item = async (id: string, more: Partial<Item>): Promise<Item> => {
    const { pspReference, reference, amount } = await payment(id)
    const names = { originalReference: pspReference, merchantReference: reference, amount }
    const event = { eventCode: 'CANCEL_OR_REFUND', success: true, pspReference: newReference() }
    return { ...event, ...names, ...more }
  }

  const dueNow = (key: string) =>
    run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])

  /** Makes the engine ask for a reversal, and waits until Adyen took so many, and the engine knows. */
  async function asked(id: string, key: string, tries: number): Promise<void> {
    await until(async () => {
      if (triesOf(key).length === tries) return true
      await dueNow(key)
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

  /** Messages that waited for other work are processed, and the list of operators is this one. */
  const isListed = (id: string, ...kinds: string[]) =>
    until(async () => {
      await run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
      return (await run.listed(id)).join() === kinds.join() ? true : undefined
    })

  /** A payment without an answer that the engine takes back. */
  async function withoutAnswer(paymentType: 'PA' | 'DB') {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay({ paymentType })
    const key = await run.keyOf(id)
    await asked(id, key, 1)
    return { id, key, there: await payment(id) }
  }

  /** A sale that is told, and whose second try names it by Adyen's reference. */
  async function saleAskedTwice() {
    const sale = await withoutAnswer('DB')
    const { id, key, there } = sale
    await tellItems(authorisationItem(there))
    run.adyen.ledger.endUndo(key, 'failed')
    await tellItems(undoItem(run.adyen.ledger.undoOf(key)!, there))
    await asked(id, key, 2)
    return { ...sale, success: undoItem({ ...triesOf(key)[1]!, state: 'done' }, there) }
  }

  const second = (there: Payment) =>
    run.adyen.ledger.add({ ...there, pspReference: newReference(), isUndone: false })
  /** Other payments have work, too, so the request may not be the last one. */
  const isAskedFor = ({ pspReference }: Payment) =>
    run.adyen.exchanges.some(({ path }) => path.includes(`/${pspReference}/reversals`))
  const returned = (success: Item): Item => ({ ...success, eventCode: 'REFUND_FAILED' })

  test('a nameless end that is told twice leaves the second payment of its name to the next try', async () => {
    const { id, key, there } = await withoutAnswer('PA')
    await tellItems(authorisationItem(there), authorisationItem(second(there)))
    there.isUndone = true
    const end = undoItem({ ...triesOf(key)[0]!, state: 'done' }, there)
    for (const _ of ['first', 'again']) await tellItems({ ...end, originalReference: '' })
    assert.ok((await run.code(id)).startsWith('000'), 'one of two stands')
    await asked(id, key, 2)
  })

  test('the money of an earlier try that came back is listed, although its success is told last', async () => {
    const { id, key, there } = await withoutAnswer('DB')
    await tellItems(authorisationItem(there))
    const fault = run.front.meet(lost, 'any')
    run.adyen.ledger.endUndo(key, 'failed')
    await tellItems(undoItem(run.adyen.ledger.undoOf(key)!, there))
    await asked(id, key, 2)
    await fault.over
    run.front.meet(login, 'any')
    await asked(id, key, 3)
    const [, first, last] = triesOf(key)
    const success = undoItem({ ...first!, state: 'done' }, there)
    await tellItems(undoItem({ ...last!, state: 'failed' }, there), returned(success), success)
    await isListed(id, 'conflict')
  })

  test('the money of a try that came back is listed, although its success has the name of the payment', async () => {
    const { id, key, success } = await saleAskedTwice()
    await tellItems(returned(success), { ...success, merchantReference: key })
    await isListed(id, 'conflict')
  })

  test('a nameless payment whose money came back is asked for again by a redrive', async () => {
    const { id, key, there } = await withoutAnswer('PA')
    const end = undoItem({ ...triesOf(key)[0]!, state: 'done' }, there)
    const nameless = { ...end, originalReference: '' }
    await tellItems(nameless, { ...returned(nameless), merchantReference: `undo1.${key}` })
    await isListed(id, 'conflict')
    await run.gateway.operator.redrive(id, by)
    await asked(id, key, 2)
  })

  test('a payment stays back when the other account hears late that the money of an earlier try came back', async () => {
    const { id, key, success } = await saleAskedTwice()
    await tellItems(success, returned(success))
    await isListed(id, 'conflict')
    await run.gateway.operator.redrive(id, by)
    await asked(id, key, 3)
    run.adyen.ledger.endUndo(key, 'done')
    await run.tell(run.adyen.messageAbout(key))
    await isListed(id)
    await run.tellTo(other, run.adyen.message(returned(success)))
    assert.deepEqual(await run.listed(id), [], 'it was taken back since')
    assert.ok(!(await run.code(id)).startsWith('000'))
  })

  test('a payment that is told after its cancellation by hand is back, and nobody asks for it', async () => {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    const there = await payment(id)
    there.isUndone = true
    await tellItems(await item(id, {}))
    assert.ok(!(await run.code(id)).startsWith('000'))
    await tellItems(authorisationItem(there))
    await until(async () => {
      await dueNow(key)
      const [row] = await run.sql<{ state: string }>(
        'select state from tollgate.attempt where payment_id = $1',
        [id],
      )
      return row?.state === 'late' ? undefined : true
    })
    await isListed(id)
    assert.deepEqual(triesOf(key), [])
  })

  test('a payment that a try took back stays back, whatever is told late of a cancellation by hand', async () => {
    const { id, key, there } = await withoutAnswer('PA')
    await tellItems(authorisationItem(there))
    run.adyen.ledger.endUndo(key, 'done')
    await run.tell(run.adyen.messageAbout(key))
    await isListed(id)
    const hand = await item(id, {})
    await tellItems(hand, returned(hand))
    assert.deepEqual(await run.listed(id), [])
    assert.ok(!(await run.code(id)).startsWith('000'))
  })

  test('a declined payment that was authorised twice after all is taken back twice', async () => {
    const { id } = await run.pay(card(cards.approved, { holder: 'REFUSED 5' }))
    const key = await run.keyOf(id)
    const there = await payment(id)
    run.adyen.ledger.authorise(there)
    const twice = [there, second(there)].map(authorisationItem)
    await run.tell(run.adyen.message(...twice))
    await asked(id, key, 1)
    await tellItems(undoItem({ ...triesOf(key)[0]!, state: 'done' }, there))
    await asked(id, key, 2)
  })

  test('a reversal whose refund failed later is asked for again by a redrive', async () => {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    const { ledger } = run.adyen
    const asked = async () => {
      await until(async () => {
        if (ledger.undoOf(key)?.state === 'asked') return true
        await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
        return undefined
      })
    }
    for (const as of ['by itself', 'done'] as const) {
      await asked()
      ledger.endUndo(key, as)
      await run.tell(run.adyen.messageAbout(key))
    }
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    const { pspReference, reference: merchantReference } = ledger.undoOf(key)!
    await tellItems(await item(id, { eventCode: 'REFUND_FAILED', pspReference, merchantReference }))
    assert.deepEqual(await run.listed(id), ['conflict'])
    ;(await payment(id)).isUndone = false
    await run.gateway.operator.redrive(id, by)
    await asked()
    assert.deepEqual(await run.listed(id), ['conflict'], 'until Adyen tells the end')
    ledger.endUndo(key, 'done')
    await run.tell(run.adyen.messageAbout(key))
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    assert.equal((await payment(id)).isUndone, true)
  })

  test('the failure of a later try to take a payment back leaves the success of an earlier one alone', async () => {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    const { ledger } = run.adyen
    const tries = () => ledger.undos.filter(({ of }) => of === key)
    const dueUntil = (is: () => boolean) =>
      until(async () => {
        if (is()) return true
        await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
        return undefined
      })
    await dueUntil(() => tries().length === 1)
    const there = await payment(id)
    await run.tell(run.adyen.message(authorisationItem(there)))
    ledger.endUndo(key, 'by itself')
    // The answer to the next try is lost, and its repeat meets a wrong login.
    run.front.meet(lost, 'any')
    run.front.meet(login, 'any')
    await run.tell(run.adyen.messageAbout(key))
    await dueUntil(() => tries().length === 3)
    const [, works, fails] = tries()
    await run.tell(run.adyen.message(undoItem({ ...works!, state: 'done' }, there)))
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    await run.tell(run.adyen.message(undoItem({ ...fails!, state: 'failed' }, there)))
    assert.deepEqual(await run.listed(id), [], 'the money is back')
  })

  test('a second payment that is authorised under the name of one that was taken back is taken back, too', async () => {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay()
    const key = await run.keyOf(id)
    const { ledger } = run.adyen
    const asked = () =>
      until(async () => {
        if (ledger.undoOf(key)?.state === 'asked') return true
        await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
        return undefined
      })
    for (const as of ['by itself', 'done'] as const) {
      await asked()
      ledger.endUndo(key, as)
      await run.tell(run.adyen.messageAbout(key))
    }
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    const first = await payment(id)
    const second = ledger.add({ ...first, pspReference: newReference(), isUndone: false })
    await run.tell(run.adyen.message(authorisationItem(second)))
    await asked()
    assert.deepEqual(await run.listed(id), ['conflict'], 'until Adyen tells the end')
    ledger.endUndo(key, 'by itself')
    await run.tell(run.adyen.messageAbout(key))
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    assert.ok(isAskedFor(second))
    assert.equal(second.isUndone, true)
  })

  test('a second payment is taken back where the first one was told before the engine knew and a nameless end came', async () => {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay({ paymentType: 'PA' })
    const key = await run.keyOf(id)
    const { ledger } = run.adyen
    const first = await payment(id)
    const go = Promise.withResolvers<void>()
    const there = Promise.withResolvers<void>()
    // The connector has read the webhook, and the engine has not stored its claim.
    onFaultPoint((point, name) => {
      if (point !== 'before-event' || !name.startsWith('AUTHORISATION.')) return
      onFaultPoint(undefined)
      there.resolve()
      return go.promise
    })
    const authorised = run.adyen.message(authorisationItem(first))
    const told = run.gateway.inbound('adyen', run.account, authorised)
    await there.promise
    const asked = () =>
      until(async () => {
        if (ledger.undoOf(key)?.state === 'asked') return true
        await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
        return undefined
      })
    await asked()
    const end = undoItem(ledger.endUndo(key, 'done'), first)
    await run.tell(run.adyen.message({ ...end, originalReference: '' }))
    await run.untilCode(id, '900.100.400')
    const second = ledger.add({ ...first, pspReference: newReference(), isUndone: false })
    await run.tell(run.adyen.message(authorisationItem(second)))
    await asked()
    assert.ok(isAskedFor(second))
    ledger.endUndo(key, 'by itself')
    await run.tell(run.adyen.messageAbout(key))
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    assert.equal(second.isUndone, true)
    go.resolve()
    await told
  })
})
