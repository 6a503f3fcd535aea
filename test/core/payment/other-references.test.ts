/** Words that name another operation under the key of a payment, by the reference that stays the same for its life. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accepted, approved, declined, type Refs, type Reversed } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { accept, eur, failure, lose, refuse } from '../../rig/late-words.ts'
import { type EffectRun, startEffects } from '../settlement/effect-run.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const acceptance = (reference: string) => accepted({ reference }, 'event')
const decline = (refs: Refs) => declined('800.100.203', { refs })
const down = (): Reversed => ({ is: 'unknown', why: 'down' })

describe('words under another reference', { concurrency: true }, () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  const attemptOf = async (id: string) => {
    const [row] = await run.sql<{ state: string }>(
      'select state from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!.state
  }
  const referencesOf = async (id: string) => {
    const [row] = await run.sql<{ refs: Refs }>(
      "select answer -> 'refs' as refs from tollgate.payment where id = $1",
      [id],
    )
    return row!.refs
  }
  /** References of the words on the operators' list, oldest first. */
  const listedRefs = async (id: string) =>
    (await run.listed(id)).map(({ kind, detail }) => `${kind} ${detail.refs?.reference}`)
  const sale = (reference: string) => run.pay({ debit: () => acceptance(reference) })

  test('a decline fails no accepted payment of another reference', async () => {
    const id = await sale('A')
    assert.equal(await run.tell(id, { outcome: acceptance('B') }), 'conflict')
    assert.equal(await run.tell(id, { outcome: decline({ reference: 'B' }) }), 'conflict')
    assert.equal(await run.stateOf(id), 'approved')
    assert.deepEqual(await listedRefs(id), ['conflict B', 'conflict B'])
    assert.deepEqual(await referencesOf(id), { reference: 'A' })
  })

  test('nor does it where no success under that reference was told', async () => {
    const id = await sale('A')
    assert.equal(await run.tell(id, { outcome: decline({ reference: 'B' }) }), 'conflict')
    assert.equal(await run.stateOf(id), 'approved')
    assert.equal(await run.tell(id, { outcome: decline({ reference: 'A' }) }), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
  })

  test('nor does it in the answer to an enquiry, which is not asked again', async () => {
    const id = await run.pay({
      debit: () => accepted({ reference: 'A' }, { poll: 3_600_000 }),
      enquire: () => decline({ reference: 'B' }),
    })
    await until(async () => {
      await run.dueNow(id)
      return (await run.timers(id)).length === 0 || undefined
    })
    assert.equal(await run.stateOf(id), 'approved')
    assert.deepEqual(await listedRefs(id), ['conflict B'])
  })

  test('nor does an approval in such an answer make it final', async () => {
    const id = await run.pay({
      debit: () => accepted({ reference: 'A' }, { poll: 3_600_000 }),
      enquire: () => approved({ reference: 'B' }),
    })
    await until(async () => {
      await run.dueNow(id)
      return (await run.timers(id)).length === 0 || undefined
    })
    assert.equal((await run.booksOf(id)).isFinal, false)
    assert.deepEqual(await listedRefs(id), ['conflict B'])
    assert.deepEqual(await referencesOf(id), { reference: 'A' })
  })

  test('nor does it end a late success of another reference', async () => {
    const id = await run.pay({ debit: refuse, reverseByKey: down })
    await run.tell(id, { outcome: acceptance('A') })
    assert.equal(await run.tell(id, { outcome: acceptance('B') }), 'conflict')
    assert.equal(await run.tell(id, { outcome: decline({ reference: 'B' }) }), 'conflict')
    assert.equal(await attemptOf(id), 'late')
    assert.deepEqual(await run.kinds(id), ['conflict', 'conflict', 'conflict'])
  })

  test('nor does it free the amount of a refund', async () => {
    const id = await run.pay()
    const refund = await run.follow(id, 'RF', `rf-${newId()}`, eur('92.00'), { refund: accept })
    await run.tell(refund.id, { outcome: decline({ reference: 'B' }) })
    await assert.rejects(run.follow(id, 'RF', `rf-${newId()}`, eur('92.00')))
  })

  test('the same reference may have spaces around it and letters in another case', async () => {
    const id = await sale('abc-1')
    assert.equal(await run.tell(id, { outcome: acceptance(' ABC-1 ') }), 'known')
    assert.equal(await run.tell(id, { outcome: decline({ reference: 'Abc-1 ' }) }), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
    assert.deepEqual(await run.kinds(id), [])
  })

  test('a failed payment keeps its references, and takes those that it lacks', async () => {
    const id = await run.pay({ debit: () => accepted({ reference: 'A', second: '1' }, 'event') })
    const outcome = decline({ reference: 'a', second: '2', third: '3' })
    assert.equal(await run.tell(id, { outcome }), 'settled')
    assert.deepEqual(await referencesOf(id), { reference: 'A', second: '1', third: '3' })
  })

  test('each further charge of one amount is listed, once', async () => {
    const id = await run.pay()
    for (const reference of ['C', 'D', 'C'])
      await run.tell(id, { outcome: approved({ reference }), minor: '5000' })
    assert.deepEqual(await listedRefs(id), ['conflict C', 'conflict D'])
  })

  test('also after a late success was taken back', async () => {
    const id = await run.pay({ debit: refuse, reverseByKey: () => ({ is: 'reversed' }) })
    await run.tell(id, { outcome: approved({ reference: 'A' }) })
    await until(async () => (await run.kinds(id)).includes('(conflict)') || undefined)
    for (const reference of ['B', 'C', 'A'])
      await run.tell(id, { outcome: approved({ reference }), minor: '5000' })
    for (const reference of ['D', 'E']) await run.tell(id, { outcome: approved({ reference }) })
    assert.deepEqual(
      await listedRefs(id),
      ['A', 'B', 'C', 'A', 'D', 'E'].map((reference) => `conflict ${reference}`),
    )
  })

  test('also after the money was given back by hand', async () => {
    const script = { debit: refuse, reverse: refuse }
    const id = await run.pay({ ...script, reverseByKey: () => ({ is: 'refused', why: 'no' }) })
    await run.tell(id, { outcome: approved({ reference: 'A' }) })
    await until(async () => (await run.audited(id)).includes('late-success-stands') || undefined)
    await run.operator.settle(id, 'declined', by)
    for (const reference of ['B', 'C', 'D'])
      await run.tell(id, { outcome: approved({ reference }) })
    // Told as accepted and then as approved, it is one.
    await run.tell(id, { outcome: acceptance('D') })
    assert.deepEqual(await listedRefs(id), ['conflict A', 'conflict B', 'conflict C', 'conflict D'])
  })

  test('also after the payment was reversed by its key while it was open', async () => {
    let reversals = 0
    const id = await run.pay({
      debit: lose,
      enquire: () => approved({ reference: 'A' }, { amount: { minor: 5000n, currency: 'EUR' } }),
      reverseByKey: () => {
        reversals += 1
        return { is: 'reversed' }
      },
    })
    await run.age(id)
    await run.dueNow(id)
    await until(async () => (await run.stateOf(id)) === 'declined' || undefined)
    await until(async () => (await run.kinds(id)).join() === '(undecided)' || undefined)
    assert.equal(reversals, 1)
    for (const reference of ['B', 'B', 'C'])
      assert.equal(await run.tell(id, { outcome: approved({ reference }) }), 'conflict')
    assert.deepEqual((await listedRefs(id)).slice(1), ['conflict B', 'conflict C'])
    assert.deepEqual(await run.kinds(id), ['(undecided)', 'conflict', 'conflict'])
    assert.deepEqual(await referencesOf(id), { reference: 'A' })
    assert.equal(reversals, 1)
  })

  /** An open payment whose reversal by key is under way. */
  const reversing = async () => {
    const asked: string[] = []
    const id = await run.pay({
      debit: lose,
      enquire: () => (asked.length > 0 ? { is: 'requested' } : { is: 'notFound' }),
      reverseByKey: ({ key }) => {
        asked.push(key)
        const isFirst = asked.length === 1
        return isFirst ? { is: 'requested', refs: { reversal: 'r-1' } } : { is: 'reversed' }
      },
    })
    await run.age(id)
    await run.dueNow(id)
    await until(async () => {
      const [row] = await run.sql(
        `select from tollgate.payment join tollgate.attempt on attempt.key = payment.attempt_key
         where payment.id = $1 and answer ? 'reversal' and lease_until is null`,
        [id],
      )
      return row !== undefined || undefined
    })
    await run.dueLater(id)
    return { id, asked }
  }
  const isOver = { outcome: { is: 'reversed', refs: { reversal: 'r-1' } } }

  test('the end of a reversal says nothing about a charge under another reference than the one it took back', async () => {
    const { id, asked } = await reversing()
    await run.tell(id, { outcome: approved({ reference: 'A' }) })
    assert.equal((await referencesOf(id)).reference, 'A')
    assert.equal(await run.tell(id, isOver), 'settled')
    assert.deepEqual(await run.kinds(id), ['(undecided)', '(undecided)'])
    assert.equal(await run.tell(id, { outcome: approved({ reference: 'A' }) }), 'settled')
    await until(async () => (await run.kinds(id)).at(-1) === '(conflict)' || undefined)
    assert.equal(await run.tell(id, { outcome: approved({ reference: 'B' }) }), 'conflict')
    assert.equal((await run.kinds(id)).at(-1), 'conflict')
    assert.equal(asked.length, 2)
  })

  test('nor about one that was told before that end', async () => {
    const { id } = await reversing()
    for (const reference of ['A', 'B', 'A', 'B'])
      await run.tell(id, { outcome: approved({ reference }) })
    assert.equal(await run.tell(id, isOver), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
    assert.deepEqual(await run.kinds(id), ['(undecided)', '(undecided)', 'conflict'])
    assert.equal((await run.listed(id)).at(-1)!.detail.refs!.reference, 'B')
  })

  test('a decline ends no open payment whose success was told under another reference', async () => {
    const { id } = await reversing()
    await run.tell(id, { outcome: acceptance('A') })
    assert.equal(await run.tell(id, { outcome: decline({ reference: 'B' }) }), 'conflict')
    assert.equal(await run.stateOf(id), 'unknown')
    assert.equal(await run.tell(id, { outcome: decline({ reference: 'A' }) }), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
    assert.equal((await run.kinds(id)).at(-1), 'conflict')
  })

  test('a decline under another reference than an operator gave fails no accepted payment', async () => {
    const id = await run.pay({
      debit: refuse,
      reverse: refuse,
      reverseByKey: () => ({ is: 'refused', why: 'no' }),
    })
    await run.tell(id, { outcome: accepted({}, 'event') })
    await until(async () => (await run.audited(id)).includes('late-success-stands') || undefined)
    await run.operator.settle(id, 'approved', { ...by, references: { reference: 'B' } })
    assert.equal((await run.booksOf(id)).isFinal, false)
    assert.equal(await run.tell(id, { outcome: decline({ reference: 'A' }) }), 'conflict')
    assert.equal(await run.stateOf(id), 'approved')
    assert.equal(await run.tell(id, { outcome: approved({ reference: 'A' }) }), 'settled')
    assert.equal((await referencesOf(id)).reference, 'A')
  })

  test('the word that makes a payment final leaves the spelling of its reference', async () => {
    const id = await sale('abc-1')
    await run.tell(id, { outcome: approved({ reference: ' ABC-1 ', second: '2' }) })
    assert.equal((await run.booksOf(id)).isFinal, true)
    assert.deepEqual(await referencesOf(id), { reference: 'abc-1', second: '2' })
  })

  test('a decline without a reference is about the payment', async () => {
    const id = await sale('A')
    assert.equal(await run.tell(id, { outcome: failure }), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
  })
})
