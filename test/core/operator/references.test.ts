/** References of the acquirer on payments that a person or a settlement file decided: a refund needs them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Operation, type Refs, unknown } from '@tollgate/plugin-kit'
import { GatewayError, newId } from '../../../core/index.ts'
import { lackingOf } from '../../../core/payment/late-word-apply.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { accept, approval, eur, lose, refuse, refusedFor } from '../../rig/late-words.ts'
import { settled } from '../../rig/settlement.ts'
import { type EffectRun, line, startEffects, today } from '../settlement/effect-run.ts'

const by = { by: 'Alice', reason: "seen in the acquirer's portal" }
const silent = () => unknown('the acquirer is down')
const silence = { debit: lose, enquire: silent }

describe("the acquirer's references of a decided payment", () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  let orders = 0
  const open = async (fields: Readonly<Record<string, unknown>> = {}) => {
    orders += 1
    const { id } = await run.debit(`referenced-${orders}`, silence, fields)
    await run.gateway.operator.enquire(id, by)
    return id
  }
  /** The references that the acquirer is told with a refund. */
  const refunded = async (id: string): Promise<Refs> => {
    let original: Operation['original']
    orders += 1
    const refund = (operation: Operation) => {
      original = operation.original
      return approvedAs(operation)
    }
    await run.follow(id, 'RF', `refund-${orders}`, eur('1.00'), { refund })
    return original!.refs
  }

  test('an operator names them with the decision', async () => {
    const id = await open()
    const references = { reference: 'PORTAL-1' }
    await run.gateway.operator.settle(id, 'approved', { ...by, references })
    assert.deepEqual(await refunded(id), references)
    assert.deepEqual(await run.audited(id), [
      'payment.enquired',
      'payment.settled',
      'payment.referenced',
    ])
  })

  test('an operator adds them later, and those of the acquirer stay', async () => {
    const id = await open()
    await run.gateway.operator.settle(id, 'approved', by)
    assert.deepEqual(await refunded(id), {})
    const references = { reference: 'PORTAL-2' }
    const added = await run.gateway.operator.settle(id, 'approved', { ...by, references })
    assert.match(added.text, /: the payment has these references$/)
    await run.gateway.operator.settle(id, 'approved', { ...by, references })
    assert.deepEqual(await refunded(id), references)
    await assert.rejects(
      run.gateway.operator.settle(id, 'approved', { ...by, references: { reference: 'PORTAL-3' } }),
      refusedFor(/another reference/),
    )
    assert.deepEqual(await refunded(id), references)
    assert.equal((await run.audited(id)).filter((one) => one === 'payment.referenced').length, 1)
  })

  test('a reference of another form is refused by name before anything is decided', async () => {
    const id = await open()
    const refusedBy = async (references: object, name: string, as: 'approved' | 'declined') => {
      const given = { ...by, references: references as Record<string, string> }
      await assert.rejects(run.gateway.operator.settle(id, as, given), (error) => {
        assert.ok(error instanceof GatewayError)
        assert.equal(error.parameterErrors?.[0]?.name, name)
        return true
      })
    }
    await refusedBy({}, 'references', 'approved')
    await refusedBy({ 'a b': 'X' }, 'references', 'approved')
    await refusedBy({ reference: '' }, 'references.reference', 'approved')
    await refusedBy({ reference: 'two words' }, 'references.reference', 'approved')
    await refusedBy({ reference: '4200000000000000' }, 'references.reference', 'approved')
    await refusedBy({ reference: 'X' }, 'references', 'declined')
    assert.equal((await run.gateway.payments.get(id)).result.code, '000.200.001')
  })

  test('a payment that the acquirer answered keeps its references, and gets no others', async () => {
    const id = await run.pay()
    const before = await refunded(id)
    await assert.rejects(
      run.gateway.operator.settle(id, 'approved', { ...by, references: { second: 'PORTAL-4' } }),
      refusedFor(/decided this payment itself/),
    )
    assert.deepEqual(await refunded(id), before)
  })

  test('a later message of the acquirer brings them', async () => {
    const id = await open()
    await run.gateway.operator.settle(id, 'approved', by)
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    assert.deepEqual(await refunded(id), approval.refs)
    const other = { is: 'approved', refs: { reference: 'other', second: '2' } }
    assert.equal(await run.tell(id, { outcome: other }), 'known')
    assert.deepEqual(await refunded(id), { ...approval.refs, second: '2' })
  })

  test('a word without references brings none', () => {
    const payment = { answer: { refs: { reference: 'own' } } } as never
    assert.equal(lackingOf(payment, undefined), undefined)
    assert.deepEqual(lackingOf(payment, { reference: 'other', second: '2' }), { second: '2' })
  })

  test('the settlement line that decides the payment brings them', async () => {
    const id = await open(run.at('settling'))
    await run.file(line(id, { ref1: 'LINE-1' }))
    assert.deepEqual(await refunded(id), { reference: 'LINE-1' })
  })

  test('a settlement line leaves those that the acquirer gave', async () => {
    const id = await run.pay({ debit: accept })
    await run.file(line(id, { ref1: 'LINE-2' }))
    const { reference } = await refunded(id)
    assert.match(reference!, /^at-/)
  })

  describe('of a line that only the order number ties to the payment', () => {
    const order = async (id: string) =>
      (await run.gateway.payments.get(id)).merchantTransactionId as string
    const effects = async (fileId: string) =>
      (
        await run.sql<{ effect: string }>(
          `select match_status || ' ' || effect || ' ' || array_to_string(discrepancies, ' ') as effect
           from tollgate.settlement_record where file_id = $1`,
          [fileId],
        )
      ).map(({ effect }) => effect)
    const elsewhere = async (id: string) =>
      run.file(settled({ id: newId(), date: today(), mtid: await order(id), ref1: 'ELSEWHERE' }))

    test('an open payment is not decided by them, and gets none', async () => {
      const id = await open(run.at('settling'))
      const file = await elsewhere(id)
      assert.equal(await run.stateOf(id), 'unknown')
      await run.gateway.operator.settle(id, 'approved', by)
      await until(async () => {
        await run.makeDue()
        return (await effects(file))[0] === 'MATCHED done ' || undefined
      })
      assert.deepEqual(await refunded(id), {})
    })

    test('a payment that is declined meanwhile stays declined, and the line is listed', async () => {
      const id = await open(run.at('settling'))
      const file = await elsewhere(id)
      await run.gateway.operator.settle(id, 'declined', by)
      await until(async () => {
        await run.makeDue()
        return (await effects(file))[0] === 'MATCHED done STATE' || undefined
      })
      assert.equal(await run.stateOf(id), 'declined')
      assert.deepEqual(await run.kinds(id), ['(undecided)'])
    })

    test('a declined payment is a late success only once an operator assigns the line', async () => {
      const id = await run.pay({ debit: refuse })
      const file = await elsewhere(id)
      assert.deepEqual(await effects(file), ['NOT_MATCHED none STATE'])
      assert.deepEqual(await run.kinds(id), [])
      const [record] = await run.gateway.settlement.exceptions({ fileId: file })
      await run.gateway.settlement.assign(record!.id, [id], by)
      await until(async () => (await run.kinds(id)).length > 0 || undefined)
      assert.deepEqual(await run.kinds(id), ['conflict'])
      const [row] = await run.sql<{ refs: object }>(
        "select coalesce(answer -> 'refs', '{}') as refs from tollgate.payment where id = $1",
        [id],
      )
      assert.deepEqual(row!.refs, {})
    })

    test('without any, it decides an open payment', async () => {
      const id = await open(run.at('settling'))
      await run.file(settled({ id: newId(), date: today(), mtid: await order(id) }))
      assert.equal(await run.stateOf(id), 'approved')
    })
  })

  test('a masked reference of a settlement line is left out', async () => {
    const id = await open(run.at('settling'))
    await run.file(line(id, { ref1: '4200000000000000' }))
    assert.deepEqual(await refunded(id), {})
  })
})
