/** References of the acquirer on payments that a person or a settlement file decided: a refund needs them. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Operation, type Refs, type Reversed, unknown } from '@tollgate/plugin-kit'
import { GatewayError, newId, onFaultPoint } from '../../../core/index.ts'

import { broughtTo } from '../../../core/payment/reference-origin.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { accept, approval, eur, lose, refuse, refusedFor } from '../../rig/late-words.ts'
import { settled } from '../../rig/settlement.ts'
import { type EffectRun, line, startEffects, today } from '../settlement/effect-run.ts'

const by = { by: 'Alice', reason: "seen in the acquirer's portal" }
const silent = () => unknown('the acquirer is down')
/** The card of the payments, two numbers like it, and a long reference with the check digit of a card number. */
const ownNumber = '4200000000000000'
const alikeStart = '4200000000067777'
const alikeEnd = '8835000000040000'
const numeric = '8835123456789019'
const silence = { debit: lose, enquire: silent }

describe("the acquirer's references of a decided payment", () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  let orders = 0
  const open = async (fields: Readonly<Record<string, unknown>> = {}) => {
    orders += 1
    const { id } = await run.debit(`referenced-${orders}`, silence, fields)
    await run.operator.enquire(id, by)
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
    await run.operator.settle(id, 'approved', { ...by, references })
    assert.deepEqual(await refunded(id), references)
    assert.deepEqual(await run.audited(id), ['payment.enquired', 'payment.settled'])
  })

  test('a decision without them says what to add, and one with them does not', async () => {
    const id = await open(run.at('settling'))
    const bare = await run.operator.settle(id, 'approved', by)
    const words = `tollgate payment settle ${id} --as approved --references reference=…`
    assert.ok(bare.text.includes(words), bare.text)
    const named = await open(run.at('settling'))
    const references = { reference: 'PORTAL-9' }
    const { text } = await run.operator.settle(named, 'approved', { ...by, references })
    assert.match(text, /: settled as approved$/)
  })

  test('an operator adds them later, and replaces what an operator gave', async () => {
    const id = await open()
    await run.operator.settle(id, 'approved', by)
    assert.deepEqual(await refunded(id), {})
    const references = { reference: 'PORTAL-2' }
    const added = await run.operator.settle(id, 'approved', { ...by, references })
    assert.match(added.text, /: the payment has these references$/)
    await run.operator.settle(id, 'approved', { ...by, references })
    assert.deepEqual(await refunded(id), references)
    const right = { reference: 'PORTAL-3' }
    await run.operator.settle(id, 'approved', { ...by, references: right })
    assert.deepEqual(await refunded(id), right)
    assert.equal((await run.audited(id)).filter((one) => one === 'payment.referenced').length, 2)
  })

  test('a message of the acquirer replaces what an operator gave, and stays', async () => {
    const id = await open()
    const wrong = { reference: 'TYPO', second: 'PORTAL-5' }
    await run.operator.settle(id, 'approved', { ...by, references: wrong })
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    assert.deepEqual(await refunded(id), { ...approval.refs, second: 'PORTAL-5' })
    const [audit] = await run.sql<{ actor: string; detail: object }>(
      `select actor_kind as actor, detail from tollgate.audit
        where resource = $1 and action = 'payment.referenced'`,
      [id],
    )
    assert.deepEqual(audit, { actor: 'engine', detail: { by: 'event', replaced: ['reference'] } })
    await assert.rejects(
      run.operator.settle(id, 'approved', { ...by, references: { reference: 'TYPO' } }),
      refusedFor(/^the acquirer gave this payment another reference reference, which stays/),
    )
  })

  test('a reference that the acquirer confirms is its own from then on', async () => {
    const id = await open()
    await run.operator.settle(id, 'approved', { ...by, references: approval.refs })
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    await assert.rejects(
      run.operator.settle(id, 'approved', { ...by, references: { reference: 'OTHER' } }),
      refusedFor(/the acquirer gave/),
    )
    assert.ok(!(await run.audited(id)).includes('payment.referenced'))
  })

  test('a settlement line by the key replaces what an operator gave', async () => {
    const script = {
      debit: refuse,
      reverseByKey: (): Reversed => ({ is: 'refused', why: 'too late' }),
      reverse: refuse,
    }
    const id = await run.pay(script)
    const accepted = { is: 'accepted', refs: { second: 'by-event' }, finalBy: 'event' }
    await run.tell(id, { outcome: accepted })
    await until(async () => {
      const references = { reference: 'TYPO' }
      return run.operator.settle(id, 'approved', { ...by, references }).then(
        () => true,
        () => undefined,
      )
    })
    assert.deepEqual(await refunded(id), { reference: 'TYPO', second: 'by-event' })
    await run.file(line(id, { ref1: 'LINE-3' }))
    assert.deepEqual(await refunded(id), { reference: 'LINE-3', second: 'by-event' })
    assert.ok((await run.audited(id)).includes('payment.referenced'))
  })

  test('a second success under another reference is listed, once', async () => {
    const id = await run.pay()
    const other = { is: 'approved', refs: { reference: 'CHARGED-TWICE', second: '2' } }
    assert.equal(await run.tell(id, { outcome: other }), 'conflict')
    await run.tell(id, { outcome: other })
    const [entry, ...more] = await run.listed(id)
    assert.deepEqual([entry!.kind, entry!.detail.refs], ['conflict', other.refs])
    assert.deepEqual(more, [])
    const { reference, second } = await refunded(id)
    assert.match(reference!, /^at-/)
    assert.equal(second, undefined)
  })

  test('a second success is also listed where the first is not final, is late, or was taken back', async () => {
    const other = { is: 'approved', refs: { reference: 'CHARGED-TWICE' } }
    const waiting = await run.pay({ debit: accept })
    assert.equal(await run.tell(waiting, { outcome: other }), 'conflict')
    assert.match((await refunded(waiting)).reference!, /^at-/)

    let isUp = false
    const late = await run.pay({
      debit: refuse,
      reverseByKey: (): Reversed => (isUp ? { is: 'reversed' } : { is: 'unknown', why: 'down' }),
    })
    assert.equal(await run.tell(late, { outcome: approval }), 'settled')
    assert.equal(await run.tell(late, { outcome: other }), 'conflict')
    assert.deepEqual((await run.listed(late)).map(({ detail }) => detail.refs).at(-1), other.refs)
    isUp = true
    await until(async () => {
      await run.dueNow(late)
      return (await run.kinds(late)).includes('(conflict)') || undefined
    })
    const third = { is: 'approved', refs: { reference: 'CHARGED-AGAIN' } }
    assert.equal(await run.tell(late, { outcome: third }), 'conflict')
    assert.equal(await run.tell(late, { outcome: approval }), 'known')
  })

  test("a reference of the acquirer stays the acquirer's when an operator repeats it", async () => {
    const id = await open(run.at('settling'))
    await run.sql(
      `update tollgate.payment set answer = coalesce(answer, '{}') || '{"refs": {"reference": "BY-ANSWER"}}'
        where id = $1`,
      [id],
    )
    const references = { reference: 'BY-ANSWER' }
    await run.operator.settle(id, 'approved', { ...by, references })
    const other = { is: 'approved', refs: { reference: 'CHARGED-TWICE' } }
    assert.equal(await run.tell(id, { outcome: other }), 'conflict')
    assert.deepEqual(await refunded(id), { reference: 'BY-ANSWER' })
  })

  /** Holds the first move of a payment before its commit. */
  const holdFirst = () => {
    const there = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    let isFirst = true
    onFaultPoint(async (point) => {
      if (point !== 'before-late' || !isFirst) return
      isFirst = false
      there.resolve()
      await go.promise
    })
    return { there: there.promise, release: () => go.resolve() }
  }

  describe('that come at the same moment', () => {
    const approvedBy = async (references?: Record<string, string>) => {
      const id = await open()
      await run.operator.settle(id, 'approved', {
        ...by,
        ...(references && { references }),
      })
      return id
    }
    // Not again after a refusal, which these tests expect.
    const add = (id: string, reference: string) =>
      run.gateway.operator.settle(id, 'approved', { ...by, references: { reference } })

    test('those of a message stay, and the operator is told', async () => {
      const id = await approvedBy()
      const gate = holdFirst()
      const adding = add(id, 'TYPO')
      await gate.there
      assert.equal(await run.tell(id, { outcome: approval }), 'known')
      gate.release()
      await assert.rejects(adding, refusedFor(/at the same moment/))
      assert.deepEqual(await refunded(id), approval.refs)
    })

    test('those of a message that was slower replace those of the operator', async () => {
      const id = await approvedBy()
      const gate = holdFirst()
      const telling = run.tell(id, { outcome: approval })
      await gate.there
      await add(id, 'TYPO')
      gate.release()
      assert.equal(await telling, 'known')
      assert.deepEqual(await refunded(id), approval.refs)
    })

    test('the second of two operators is told', async () => {
      for (const first of [undefined, { reference: 'BEFORE' }]) {
        const id = await approvedBy(first)
        const gate = holdFirst()
        const second = add(id, 'B')
        await gate.there
        await add(id, 'A')
        gate.release()
        await assert.rejects(second, refusedFor(/at the same moment/))
        assert.deepEqual(await refunded(id), { reference: 'A' })
      }
    })
  })

  test('are there before the next step of a two-step payment begins', async () => {
    let named: Refs | undefined
    orders += 1
    const script = {
      ...{ authorize: lose, reverseByKey: silent },
      enquire: silent,
      capture: (operation: Operation) => {
        named = operation.original?.refs
        return approvedAs(operation)
      },
    }
    const sale = await run.debit(`referenced-${orders}`, script, { paymentType: 'PA.CP' })
    await run.operator.enquire(sale.id, by)
    const hasNamed = () => until(async () => (named === undefined ? undefined : true))
    // A commit of its own for the references would come after the capture.
    onFaultPoint(async (point, ref) => {
      if (point === 'before-late' && ref === sale.referencedId) await hasNamed()
    })
    const references = { reference: 'PORTAL-7' }
    await run.operator.settle(sale.id, 'approved', { ...by, references })
    await hasNamed()
    assert.deepEqual(named, references)
  })

  test('are of the commit that keeps a late success', async () => {
    const script = {
      debit: refuse,
      reverseByKey: (): Reversed => ({ is: 'refused', why: 'too late' }),
      reverse: refuse,
    }
    const { id } = await run.debit('referenced-kept', script)
    await run.tell(id, { outcome: { is: 'approved', refs: { second: 'by-event' } } })
    const references = { reference: 'PORTAL-8' }
    await until(async () => {
      const [row] = await run.sql<{ is_free: boolean }>(
        `select lease_until is null and take_backs > 0 as is_free from tollgate.attempt
          where payment_id = $1 and state = 'late'`,
        [id],
      )
      return row?.is_free || undefined
    })
    let isDead = false
    onFaultPoint((point, ref) => {
      if (point !== 'after-late' || ref !== id || isDead) return
      isDead = true
      throw new Error('killed')
    })
    await assert.rejects(run.operator.settle(id, 'approved', { ...by, references }), /killed/)
    assert.deepEqual(await refunded(id), { second: 'by-event', ...references })
  })

  test('have a name that the connector declares, and are no card number of the payment', async () => {
    const id = await open(run.at('settling'))
    const given = (references: Record<string, string>) =>
      run.operator.settle(id, 'approved', { ...by, references })
    const wrong = (name: string, words: RegExp) => (error: unknown) => {
      assert.ok(error instanceof GatewayError)
      assert.equal(error.parameterErrors?.[0]?.name, name)
      assert.match(error.message, words)
      return true
    }
    await assert.rejects(given({ psp: 'X' }), wrong('references', /of the connector: reference$/))
    for (const number of [ownNumber, alikeStart, alikeEnd]) {
      const isCard = wrong('references.reference', /no card number/)
      await assert.rejects(given({ reference: number }), isCard)
    }
    assert.equal(await run.stateOf(id), 'unknown')
    await given({ reference: numeric })
    assert.deepEqual(await refunded(id), { reference: numeric })
  })

  test('a reference of another form is refused by name before anything is decided', async () => {
    const id = await open()
    const refusedBy = async (references: object, name: string, as: 'approved' | 'declined') => {
      const given = { ...by, references: references as Record<string, string> }
      await assert.rejects(run.operator.settle(id, as, given), (error) => {
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
    const { id } = await run.debit('referenced-by-answer')
    const before = await refunded(id)
    await assert.rejects(
      run.operator.settle(id, 'approved', { ...by, references: { second: 'PORTAL-4' } }),
      refusedFor(/decided this payment itself/),
    )
    assert.deepEqual(await refunded(id), before)
  })

  test('a later message of the acquirer brings them', async () => {
    const id = await open()
    await run.operator.settle(id, 'approved', by)
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    assert.deepEqual(await refunded(id), approval.refs)
    const other = { is: 'approved', refs: { reference: 'other', second: '2' } }
    assert.equal(await run.tell(id, { outcome: other }), 'known')
    assert.deepEqual(await refunded(id), { ...approval.refs, second: '2' })
  })

  test('a word without references brings none', () => {
    const payment = { answer: { refs: { reference: 'own' } } } as never
    assert.equal(broughtTo(payment, undefined), undefined)
    assert.deepEqual(broughtTo(payment, { reference: 'other', second: '2' }), { second: '2' })
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
      await run.operator.settle(id, 'approved', by)
      await until(async () => {
        await run.makeDue()
        return (await effects(file))[0] === 'MATCHED done ' || undefined
      })
      assert.deepEqual(await refunded(id), {})
    })

    test('a payment that is declined meanwhile stays declined, and the line is listed', async () => {
      const id = await open(run.at('settling'))
      const file = await elsewhere(id)
      await run.operator.settle(id, 'declined', by)
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

    test('an accepted payment does not fail by it, and an operator decides', async () => {
      const id = await run.pay({
        debit: () => ({ is: 'accepted', refs: { second: 'own' }, finalBy: 'event' }) as never,
      })
      const failed = settled({
        ...{ id: newId(), date: today(), mtid: await order(id), ref1: 'ELSEWHERE' },
        status: 'FAILED',
      })
      const file = await run.file(failed)
      assert.deepEqual(await effects(file), ['MATCHED done STATE'])
      assert.equal(await run.stateOf(id), 'approved')
      assert.deepEqual(await run.kinds(id), ['conflict'])
      await run.operator.settle(id, 'declined', by)
      assert.equal(await run.stateOf(id), 'declined')
    })

    test('a late success does not end by it, and is listed once more', async () => {
      const id = await run.pay({
        debit: lose,
        enquire: () => ({ is: 'notFound' }),
        reverseByKey: (): Reversed => ({ is: 'unknown', why: 'down' }),
      })
      const named = { id: newId(), date: today(), mtid: await order(id), ref1: 'ELSEWHERE' }
      const file = await run.file(settled({ ...named, status: 'FAILED' }))
      await run.tell(id, { outcome: { is: 'declined', reason: '800.100.155', refs: {} } })
      const accepted = { is: 'accepted', refs: { reference: 'LATE' }, finalBy: 'event' }
      await run.tell(id, { outcome: accepted })
      await until(async () => {
        await run.makeDue()
        return (await effects(file))[0] === 'MATCHED done STATE' || undefined
      })
      assert.deepEqual(await run.kinds(id), ['(undecided)', 'conflict', 'conflict'])
      const [attempt] = await run.sql<{ state: string }>(
        'select state from tollgate.attempt where payment_id = $1',
        [id],
      )
      assert.equal(attempt!.state, 'late')
    })

    test('a reference that an operator mistyped keeps no chargeback away', async () => {
      const id = await open(run.at('settling'))
      const references = { reference: 'TYPO' }
      await run.operator.settle(id, 'approved', { ...by, references })
      const named = { id: newId(), date: today(), mtid: await order(id), ref1: 'RIGHT' }
      const more = { type: 'CHARGEBACK', cashflow: 'NEG', reason: '000.100.203' }
      const file = await run.file(settled({ ...named, ...more }))
      assert.deepEqual(await effects(file), ['MATCHED done STATE'])
      assert.deepEqual((await run.booksOf(id)).disputes, ['chargeback 9200 9200'])
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
