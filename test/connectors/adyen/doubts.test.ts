/** Words of Adyen in a doubtful order, refused repeats and late failures: nothing moves twice, nothing gets lost. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newReference } from '../../../connectors/adyen/sandbox/ledger.ts'
import { disputeItem, type Item, webhook } from '../../../connectors/adyen/sandbox/messages.ts'
import { newAccount } from '../../../connectors/adyen/sandbox/sandbox.ts'
import { onFaultPoint } from '../../../core/index.ts'
import type { Fault } from '../../../plugins/kit/testing/fault.ts'
import { sentAgain } from '../../rig/acquirer.ts'
import { balanceOf } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type AdyenRun, abandoned, newPayment, startAdyenRun } from './run.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const done = '000.100.112'
const open = '000.200.001'
const failed = '900.100.202'
const body = { type: 'application/json', body: '{"error":"internal"}' }
const lost: Fault = { reaches: true, damage: { do: 'replace', status: 500, ...body } }
const refusal = {
  type: body.type,
  body: JSON.stringify({ status: 401, errorCode: '000', errorType: 'security', message: 'No' }),
}
const refusal422 = {
  type: body.type,
  body: JSON.stringify({
    status: 422,
    errorCode: '103',
    errorType: 'validation',
    message: 'CVC is not the right length',
  }),
}
const by = { by: 'alice', reason: 'the Customer Area shows it' }

describe('doubts about operations at Adyen', () => {
  let run: AdyenRun
  before(async () => {
    run = await startAdyenRun()
  })
  after(() => run.close())

  const follow = async (id: string, paymentType: 'CP' | 'RF' | 'RV', amount?: string) =>
    (
      await run.gateway.payments.followUp(id, {
        paymentType,
        ...(amount === undefined ? {} : eur(amount)),
      } as never)
    ).id
  const authorise = async () => (await run.pay({ paymentType: 'PA' })).id
  const modification = async (id: string) => {
    const reference = await run.referenceOf(id)
    return run.adyen.ledger.modifications.find((one) => one.reference === reference)!
  }
  const payment = async (id: string) => run.adyen.ledger.byReference(await run.keyOf(id))!
  const about = async (id: string) => run.adyen.messageAbout(await run.referenceOf(id))
  const item = async (id: string, more: Partial<Item>) =>
    run.adyen.message({
      eventCode: 'CAPTURE_FAILED',
      success: true,
      pspReference: newReference(),
      originalReference: (await payment(id)).pspReference,
      merchantReference: await run.keyOf(id),
      amount: { value: 9200, currency: 'EUR' },
      ...more,
    })
  const counted = async (id: string) => {
    const { captured, capturing } = await balanceOf(run, id)
    return captured + capturing
  }

  /** The engine sends the operation again, and Adyen refuses the login before it looks at the key. */
  async function repeatRefused(id: string): Promise<void> {
    const repeat = run.front.meet(
      { reaches: false, damage: { do: 'replace', status: 401, ...refusal } },
      'any',
    )
    const key = await run.keyOf(id)
    // Once, and while nothing is under way: a second time would bring a second repeat, which nothing refuses.
    await until(async () => {
      const [row] = await run.sql(
        `update tollgate.timer set due_at = now() where ref = $1
           and exists (select from tollgate.attempt where payment_id = $2 and lease_until is null) returning ref`,
        [key, id],
      )
      return row
    })
    await until(async () => repeat.wasMet || undefined)
    await repeat.over
    await until(async () => {
      const [row] = await run.sql<{ lease_until: Date | null }>(
        'select lease_until from tollgate.attempt where payment_id = $1',
        [id],
      )
      return row?.lease_until === null ? true : undefined
    })
  }

  for (const [type, amount] of [
    ['RF', '40.00'],
    ['CP', '40.00'],
    ['RV', undefined],
  ] as const) {
    test(`a ${type} whose repeat meets a refused login stays open until Adyen tells`, async () => {
      const on = type === 'RF' ? (await run.pay()).id : await authorise()
      run.front.meet(lost, 'any')
      const id = await follow(on, type, amount)
      assert.equal(await run.code(id), open)
      await repeatRefused(id)
      assert.equal(await run.code(id), open, 'the first request may have been carried out')
      await run.tellAbout(id)
      assert.equal(await run.code(id), done)
    })
  }

  test('a sale whose capture fails is listed, and its refunds wait', async () => {
    for (const [eventCode, success] of [
      ['CAPTURE_FAILED', true],
      ['CAPTURE', false],
    ] as const) {
      const { id } = await run.pay()
      await run.tell(await item(id, { eventCode, success }))
      assert.deepEqual(await run.listed(id), ['return'], eventCode)
      await assert.rejects(follow(id, 'RF', '92.00'))
    }
    const authorised = await authorise()
    await run.tell(await item(authorised, {}))
    assert.deepEqual(await run.listed(authorised), [], 'a capture by hand is none of ours')
  })

  test('a capture that Adyen makes again is counted, also if its answer was lost', async () => {
    const authorised = await authorise()
    run.front.meet(lost, 'any')
    const id = await follow(authorised, 'CP', '40.00')
    await run.tellAbout(id)
    const one = await modification(id)
    run.adyen.ledger.fail(one)
    await run.tellAbout(id)
    assert.equal(await run.code(id), failed)
    run.adyen.ledger.recapture(one)
    await run.tellAbout(id)
    assert.equal(await counted(authorised), 4000n)
    assert.deepEqual(await run.listed(id), ['conflict'])
    await run.operator.settle(id, 'approved', by)
  })

  test('a repeat of a failure ends no capture that was made again, and a new failure is listed', async () => {
    const authorised = await authorise()
    const id = await follow(authorised, 'CP', '40.00')
    await run.tellAbout(id)
    const one = await modification(id)
    run.adyen.ledger.fail(one)
    const failure = await about(id)
    await run.tell(failure)
    run.adyen.ledger.recapture(one)
    await run.tellAbout(id)
    await run.tell(failure)
    assert.equal(await counted(authorised), 4000n, 'a repeat')
    assert.deepEqual(await run.listed(id), ['conflict'])
    run.adyen.ledger.fail(one)
    await run.tell(await about(id), await about(id))
    assert.equal(await counted(authorised), 4000n, 'operators decide')
    const [entry] = await run.sql<{ count: bigint }>(
      "select count(*) as count from tollgate.attention where kind = 'event' and resolved_at is null and detail ->> 'why' like '%something else'",
    )
    assert.equal(entry?.count, 1n, 'listed once')
    run.adyen.ledger.recapture(one)
    await run.tellAbout(id)
    await run.operator.settle(id, 'approved', by)
    assert.equal(await counted(authorised), 4000n)
  })

  test('a failure that comes after the second success, or with it, leaves the capture counted and listed', async () => {
    for (const order of ['late', 'at once', 'the other way round'] as const) {
      const authorised = await authorise()
      const id = await follow(authorised, 'CP', '40.00')
      await run.tellAbout(id)
      const one = await modification(id)
      run.adyen.ledger.fail(one)
      const failure = await about(id)
      run.adyen.ledger.recapture(one)
      const again = await about(id)
      if (order === 'late') await run.tell(again, failure, failure)
      else
        await Promise.all(
          (order === 'at once' ? [failure, again] : [again, failure]).map((message) =>
            run.tell(message),
          ),
        )
      assert.equal(await counted(authorised), 4000n, order)
      assert.deepEqual(await run.listed(id), ['conflict'], order)
      await run.operator.settle(id, 'approved', by)
    }
  })

  for (const type of ['CP', 'RF'] as const) {
    test(`a ${type} that failed stays failed when the webhook of its success comes once more, or late`, async () => {
      for (const order of ['once more', 'late'] as const) {
        const on = type === 'CP' ? await authorise() : (await run.pay()).id
        const id = await follow(on, type, '92.00')
        const success = await about(id)
        const go = Promise.withResolvers<void>()
        const there = Promise.withResolvers<void>()
        if (order === 'late') {
          onFaultPoint((point, name) => {
            if (point !== 'before-event' || !/^(CAPTURE|REFUND)\./.test(name)) return
            onFaultPoint(undefined)
            there.resolve()
            return go.promise
          })
        }
        const first = run.gateway.inbound('adyen', run.account, success)
        await (order === 'late' ? there.promise : first)
        run.adyen.ledger.fail(await modification(id))
        await run.tell(await about(id))
        assert.equal(await run.code(id), failed, order)
        go.resolve()
        await first
        await run.tell(success, success)
        assert.equal(await run.code(id), failed, order)
        assert.deepEqual(await run.listed(id), [], order)
        const next = await follow(on, type, '92.00')
        assert.equal(await run.code(next), done, 'its amount is free again')
      }
    })
  }

  for (const [type, on, later] of [
    ['CP', 'PA', 'CAPTURE_FAILED'],
    ['RF', 'DB', 'REFUND_FAILED'],
    ['RF', 'DB', 'REFUNDED_REVERSED'],
    ['RV', 'DB', 'REFUND_FAILED'],
    ['RV', 'PA', 'CANCELLATION'],
  ] as const) {
    test(`a ${type} of a ${on} fails by a ${later} whose original is the reference of the ${type} itself`, async () => {
      for (const named of [true, false]) {
        // Of a cancellation, Adyen tells one end only, under the name that it got.
        const isCancellation = later === 'CANCELLATION'
        if (isCancellation && !named) continue
        const original = (await run.pay({ paymentType: on })).id
        const amount = type === 'RV' ? undefined : '92.00'
        const id = await follow(original, type, amount)
        assert.equal(await run.code(id), done)
        const { pspReference, reference } = await modification(id)
        const failure = {
          eventCode: later,
          success: !isCancellation,
          originalReference: pspReference,
          merchantReference: named ? reference : 'order 7',
        }
        await run.tell(await item(original, failure))
        assert.ok(/^[789]00\./.test(await run.code(id)), `${await run.code(id)}: it failed`)
        assert.deepEqual(await run.listed(id), [])
        const next = await follow(original, type, amount)
        assert.equal(await run.code(next), done, 'its amount is free again')
      }
    })
  }

  test('a line of a payment that was not made here is none of a payment with its number', async () => {
    const merchantTransactionId = 'order-1001'
    run.front.meet(
      { reaches: false, damage: { do: 'replace', status: 422, ...refusal422 } },
      newPayment,
    )
    const { id } = await run.pay({ merchantTransactionId })
    const before = await run.code(id)
    assert.ok(!before.startsWith('000'), before)
    const names = {
      'Psp Reference': newReference(),
      'Merchant Reference': merchantTransactionId,
      'Modification Reference': newReference(),
    }
    const file = await run.importReport([
      { type: 'Settled', names },
      { type: 'Chargeback', names: { ...names, 'Modification Reference': newReference() } },
    ])
    assert.equal(await run.code(id), before)
    assert.deepEqual(await run.listed(id), [])
    const records = await run.sql(
      'select match_status, effect from tollgate.settlement_record where file_id = $1',
      [file],
    )
    const foreign = { match_status: 'NOT_MATCHED', effect: 'none' }
    assert.deepEqual(records, [foreign, foreign])
    await assert.rejects(run.gateway.operator.redrive(id, by))
  })

  test('a refused refund of the Customer Area does not fail the capture that it names', async () => {
    const authorised = await authorise()
    const id = await follow(authorised, 'CP', '60.00')
    await run.tellAbout(id)
    const { pspReference } = await modification(id)
    const amount = { value: 6000, currency: 'EUR' }
    const refund = { eventCode: 'REFUND', success: false, merchantReference: 'by hand 7', amount }
    await run.tell(await item(authorised, { ...refund, originalReference: pspReference }))
    const merchantReference = await run.referenceOf(id)
    const named = { eventCode: 'REFUND_FAILED', merchantReference, amount }
    await run.tell(await item(authorised, named))
    assert.equal(await run.code(id), done)
    assert.equal(await counted(authorised), 6000n)
  })

  test('a chargeback that names the payment by Adyen’s reference alone is recorded', async () => {
    const authorised = await authorise()
    const id = await follow(authorised, 'CP', '92.00')
    await run.tellAbout(id)
    await run.tellAbout(authorised)
    for (const [value, merchantReference] of [
      [3000, await run.referenceOf(id)],
      [2000, 'order 7'],
    ] as const) {
      const dispute = { eventCode: 'CHARGEBACK', amount: { value, currency: 'EUR' } }
      await run.tell(await item(authorised, { ...dispute, merchantReference }))
    }
    const facts = await run.sql<{ minor: bigint }>(
      'select minor from tollgate.chargeback where payment_id = any($1::uuid[]) order by minor',
      [[authorised, id]],
    )
    assert.deepEqual(
      facts.map(({ minor }) => BigInt(minor)),
      [2000n, 3000n],
    )
  })

  test('a chargeback of the second payment of one name that names Adyen’s reference alone is recorded', async () => {
    const { id } = await run.pay()
    await run.tellAbout(id)
    const pspReference = newReference()
    const second = { eventCode: 'AUTHORISATION', pspReference }
    await run.tell(await item(id, { ...second, originalReference: '' }))
    const dispute = { eventCode: 'CHARGEBACK', originalReference: pspReference }
    await run.tell(await item(id, { ...dispute, merchantReference: 'order 7' }))
    const facts = await run.sql('select kind from tollgate.chargeback where payment_id = $1', [id])
    assert.equal(facts.length, 1)
  })

  test('a chargeback of an amount that the currency does not have is listed', async () => {
    const { id } = await run.pay({ amount: '5000.00', currency: 'ISK' })
    const key = await run.keyOf(id)
    await run.tell(run.adyen.dispute(key, { value: 12_345, currency: 'ISK' }))
    const [entry] = await run.sql<{ count: bigint }>(
      "select count(*) as count from tollgate.attention where kind = 'event' and detail::text like $1 and detail ->> 'why' like 'malformed%'",
      [`%${key}%`],
    )
    assert.equal(entry?.count, 1n)
  })

  test('a message under an unknown key claims nothing, and Adyen sends it again', async () => {
    run.front.meet(lost, newPayment)
    const { id } = await run.pay()
    const there = await payment(id)
    const sent = run.adyen.exchanges.length
    const { pspReference, reference: merchantReference, amount } = there
    const success = {
      eventCode: 'AUTHORISATION',
      success: true,
      pspReference,
      merchantReference,
      amount,
    }
    const message = webhook([success], { ...newAccount(), hmacKey: 'ab'.repeat(32) })
    await sentAgain(run.gateway.inbound('adyen', run.account, message))
    const [stored] = await run.sql<{ count: bigint }>(
      "select count(*) as count from tollgate.inbound_event where claim ->> 'key' = $1",
      [merchantReference],
    )
    assert.equal(stored?.count, 0n)
    assert.equal(run.adyen.exchanges.length, sent, 'and nothing is cancelled')
    await run.tellAbout(id)
    assert.equal(await run.code(id), done)
  })

  test('a second authorisation under one reference is listed, and a refused try beside it is not', async () => {
    const { id } = await run.pay()
    await run.tellAbout(id)
    const other = { eventCode: 'AUTHORISATION', pspReference: newReference() }
    await run.tell(await item(id, { ...other, success: false }))
    assert.deepEqual(await run.listed(id), [])
    await run.tell(await item(id, { ...other, pspReference: newReference() }))
    const key = await run.keyOf(id)
    const [entry] = await run.sql<{ count: bigint }>(
      "select count(*) as count from tollgate.attention where kind = 'event' and detail::text like $1",
      [`%${key}%`],
    )
    assert.equal(entry?.count, 1n)
  })

  test('a capture that an operator approved without any reference can be refunded', async () => {
    const authorised = await authorise()
    run.front.meet(lost, 'any')
    const id = await follow(authorised, 'CP', '60.00')
    await repeatRefused(id)
    await run.operator.enquire(id, by)
    await run.operator.settle(id, 'approved', by)
    const refund = await follow(id, 'RF', '60.00')
    await run.tellAbout(refund)
    assert.equal(await run.code(refund), done)
    assert.equal((await payment(authorised)).refunded, 6000)
  })

  test('a payment whose shopper does not come back ends, with two reversals at most', async () => {
    const { id, key } = await abandoned(run)
    assert.deepEqual(
      run.adyen.ledger.undos.filter(({ of }) => of === key).map(({ by: how }) => how),
      ['reference', 'payment'],
    )
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
  })

  test('such a payment that only a report tells of is given back by a redrive', async () => {
    const { id, key, there } = await abandoned(run)
    run.adyen.ledger.authorise(there)
    const names = { 'Psp Reference': there.pspReference, 'Merchant Reference': key }
    await run.importReport([
      { type: 'Settled', names: { ...names, 'Modification Reference': newReference() } },
    ])
    assert.deepEqual(await run.listed(id), ['conflict'])
    await run.gateway.operator.redrive(id, by)
    await until(async () => {
      if (run.adyen.ledger.undoOf(key)?.state === 'asked') return true
      await run.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
      return undefined
    })
    assert.deepEqual(await run.listed(id), ['conflict'], 'until Adyen tells the end')
    run.adyen.ledger.endUndo(key, 'by itself')
    await run.tell(run.adyen.messageAbout(key))
    await until(async () => ((await run.listed(id)).length === 0 ? true : undefined))
    assert.equal(there.isUndone, true)
  })

  test('a webhook with a dispute about a payment without its own reference names it by Adyen’s', async () => {
    const { id } = await run.pay()
    await run.tellAbout(id)
    const there = await payment(id)
    const dispute = disputeItem(
      there,
      newReference(),
      { value: 9200, currency: 'EUR' },
      'CHARGEBACK',
    )
    const message = run.adyen.message({ ...dispute, merchantReference: '' })
    const json = JSON.parse(message.body.toString())
    delete json.notificationItems[0].NotificationRequestItem.merchantReference
    await run.tell({ ...message, body: Buffer.from(JSON.stringify(json)) })
    const facts = await run.sql('select kind from tollgate.chargeback where payment_id = $1', [id])
    assert.equal(facts.length, 1)
  })
})
