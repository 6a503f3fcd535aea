/** No money goes back while a line with its chargeback has not taken effect. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Operation, type Reversed, unknown } from '@tollgate/plugin-kit'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { balanceOf } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { eur, refuse, withoutKeyReversal } from '../../rig/late-words.ts'
import { programBeside } from '../../rig/program.ts'
import { chargeback, type EffectRun, startEffects } from './effect-run.ts'

const success = (id: string) => ({ outcome: { is: 'approved', refs: { reference: `at-${id}` } } })

/** A line with a chargeback of the payment, whose effect meets a defect so many times. */
async function brokenChargeback(run: EffectRun, id: string, tries: number): Promise<void> {
  const settlementId = newId()
  onFaultPoint((point) => {
    if (point === 'before-settlement-effect') throw new Error('a defect')
  })
  await run.file(chargeback(id, { id: settlementId }))
  await until(async () => {
    const [row] = await run.sql<{ effect: string; effect_tries: number }>(
      'select effect, effect_tries from tollgate.settlement_record where settlement_id = $1',
      [settlementId],
    )
    if (row!.effect_tries >= tries) return true
    await run.makeDue()
    return undefined
  })
}

describe('a late success that is reversed by its key', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  test('is left to operators once the effect of the line has failed for good', async () => {
    const undone: string[] = []
    let isUp = false
    const id = await run.pay({
      debit: refuse,
      reverse: refuse,
      reverseByKey: ({ key }): Reversed => {
        if (!isUp) return { is: 'unknown', why: 'down' }
        undone.push(key)
        return { is: 'reversed' }
      },
    })
    await run.tell(id, success(id))
    await run.dueLater(id)
    await brokenChargeback(run, id, 3)
    isUp = true
    await until(async () => {
      await run.dueNow(id)
      const isLeft = (await run.audited(id)).includes('late-success-stands')
      return isLeft || undone.length > 0 || undefined
    })
    assert.deepEqual(undone, [])
  })
})

describe('an approved payment', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  test('is refunded neither before nor after a line with its chargeback has taken effect', async () => {
    const id = await run.pay()
    await brokenChargeback(run, id, 1)
    const refused = { code: '700.300.600' }
    await assert.rejects(run.gateway.payments.refund(id, eur('92.00')), refused)
    onFaultPoint(undefined)
    await until(async () => {
      await run.makeDue()
      return (await run.booksOf(id)).disputes.length === 1 || undefined
    })
    await assert.rejects(run.gateway.payments.refund(id, eur('92.00')), refused)
  })

  test('is not refunded by a refund that was accepted in a transaction before the line', async () => {
    const program = programBeside(run)
    const id = await run.pay()
    const reference = `queued-${newId()}`
    const refund = await program.transaction('commit', async (client) => {
      const fields = { paymentType: 'RF', ...eur('92.00'), merchantTransactionId: reference }
      const queued = await run.gateway.payments.acceptFollowUp(id, fields as never, { client })
      await brokenChargeback(run, id, 1)
      return queued
    })
    assert.equal(await program.decided(refund), '900.100.600', 'as after a recorded chargeback')
    await program.close()
    assert.deepEqual(run.acquirer.of(reference), [])
    const { refunding, refunded } = await balanceOf(run, id)
    assert.deepEqual([refunding, refunded], [0n, 0n])
    onFaultPoint(undefined)
    await until(async () => {
      await run.makeDue()
      return (await run.booksOf(id)).disputes.length === 1 || undefined
    })
  })
})

describe('operations that an acquirer can repeat', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects(withoutKeyReversal, {
      connectorTimeoutMs: 500,
      supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } },
    })
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  for (const tries of [1, 3]) {
    test(`do not reverse a late success again after ${tries} failed tries of the line`, async () => {
      const sent: string[] = []
      const id = await run.pay({
        debit: refuse,
        enquire: () => ({ is: 'notFound' }),
        reverse: (operation: Operation, context) => {
          context.sending()
          sent.push(operation.key)
          return sent.length === 1 ? unknown('the line went dead') : approvedAs(operation)
        },
      })
      await run.tell(id, success(id))
      const own = await until(async () => {
        const [row] = await run.sql<{ id: string }>(
          `select replace(id::text, '-', '') as id from tollgate.payment
            where referenced_id = $1 and state = 'unknown'`,
          [id],
        )
        return row?.id
      })
      await run.dueLater(own)
      await run.dueLater(id)
      await brokenChargeback(run, id, tries)
      await run.age(own)
      await until(async () => {
        await run.dueNow(own)
        const isListed = (await run.kinds(own)).includes('undecided')
        return isListed || sent.length > 1 || undefined
      })
      assert.equal(sent.length, 1)
      assert.equal(await run.stateOf(own), 'unknown')
    })

    test(`do not refund a payment again after ${tries} failed tries of the line`, async () => {
      const sent: string[] = []
      const id = await run.pay()
      const refund = await run.follow(id, 'RF', `refund-${newId()}`, eur('92.00'), {
        enquire: () => ({ is: 'notFound' }),
        refund: (operation: Operation, context) => {
          context.sending()
          sent.push(operation.key)
          return sent.length === 1 ? unknown('the line went dead') : approvedAs(operation)
        },
      })
      await run.dueLater(refund.id)
      await brokenChargeback(run, id, tries)
      await run.age(refund.id)
      await until(async () => {
        await run.dueNow(refund.id)
        const isListed = (await run.kinds(refund.id)).includes('undecided')
        return isListed || sent.length > 1 || undefined
      })
      assert.equal(sent.length, 1)
      assert.equal(await run.stateOf(refund.id), 'unknown')
      await run.operator.settle(refund.id, 'declined', { by: 'ada', reason: 'not made' })
    })
  }
})
