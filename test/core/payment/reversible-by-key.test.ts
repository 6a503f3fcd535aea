/** An acquirer that undoes payments by key and nothing else, and what the engine tells a connector for that. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approved, type Operation } from '@tollgate/plugin-kit'
import { approvedAs, enquire } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import {
  approval,
  charged,
  eur,
  type LateRun,
  lose,
  startLate,
  undecided,
} from '../../rig/late-words.ts'

describe('an acquirer that undoes only payments by key', () => {
  let run: LateRun
  before(async () => {
    run = await startLate(
      {},
      {
        supports: {
          key: { by: 'key', ttlMs: 24 * 3_600_000 },
          reversibleByKey: ['authorize', 'debit'],
        },
      },
    )
  })
  after(() => closeChecked(run))

  const authorise = async (reference: string) =>
    (await run.debit(reference, {}, { paymentType: 'PA' })).id
  /** The first call loses its answer. */
  const lostOnce = () => {
    let calls = 0
    return (operation: Operation, context: Parameters<typeof lose>[1]) => {
      calls += 1
      return calls === 1 ? lose(operation, context) : approvedAs(operation)
    }
  }

  test('a capture without an answer is sent again by its key, and never undone by it', async () => {
    const id = await authorise('lost-capture')
    const capture = await run.follow(id, 'CP', 'lost-capture-cp', eur('60.00'), {
      capture: lostOnce(),
    })
    assert.equal(capture.result.code, undecided)
    await run.age(capture.id)
    assert.equal((await enquire(run, capture.id)).result.code, charged)
    assert.deepEqual(run.acquirer.of('lost-capture-cp'), ['capture', 'enquire', 'capture'])
    assert.equal((await balanceOf(run, id)).captured, 6000n)
  })

  test('an increase without an answer is neither undone by its key nor sent again', async () => {
    const id = await authorise('lost-increase')
    const increase = await run.follow(
      id,
      'PA',
      'lost-increase-pa',
      { ...eur('8.00'), standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' } },
      { increment: lose },
    )
    await run.age(increase.id)
    assert.equal((await enquire(run, increase.id)).result.code, undecided)
    assert.deepEqual(run.acquirer.of('lost-increase-pa'), ['increment', 'enquire'])
    // Its acquirer tells in the end.
    await run.tell(increase.id, { outcome: approval, minor: '800' })
    assert.equal(await run.code(increase.id), charged)
  })

  test('a payment is undone by its key, with the references that a message named', async () => {
    const { id } = await run.debit('late-payment', {
      debit: (_operation, context) => {
        context.sending()
        return { is: 'declined', reason: '800.100.155', refs: { first: 'r-1' } }
      },
    })
    const told: (Operation['refs'] | undefined)[] = []
    run.acquirer.tell('late-payment', {
      reverseByKey: ({ refs }) => {
        told.push(refs)
        return { is: 'reversed' }
      },
    })
    await run.tell(id, { outcome: approval })
    assert.deepEqual(told, [{ first: 'r-1', reference: 'by-event' }])
  })

  test('an increase has the authorised sum, and the sum of the increases that are not decided', async () => {
    const id = await authorise('sums-root')
    const seen: Operation['original'][] = []
    const increase = (reference: string, amount: string, answer: 'approved' | 'lost') =>
      run.follow(
        id,
        'PA',
        reference,
        { ...eur(amount), standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' } },
        {
          increment: (operation, context) => {
            seen.push(operation.original)
            if (answer === 'lost') return lose(operation, context)
            context.sending()
            return approved({ reference })
          },
        },
      )
    await increase('sums-increase-1', '8.00', 'approved')
    const open = [
      await increase('sums-increase-2', '5.00', 'lost'),
      await increase('sums-increase-3', '3.00', 'lost'),
    ]
    assert.deepEqual(
      seen.map((original) => [original?.authorised?.minor, original?.increasing?.minor]),
      [
        [9200n, 800n],
        [10_000n, 500n],
        [10_000n, 800n],
      ],
    )
    for (const { id: increased, amount } of open) {
      const minor = String(Number(amount) * 100)
      assert.equal(await run.tell(increased, { outcome: approval, minor }), 'settled')
    }
    const capture: Operation['original'][] = []
    await run.follow(id, 'CP', 'sums-capture', eur('1.00'), {
      capture: (operation) => {
        capture.push(operation.original)
        return approvedAs(operation)
      },
    })
    assert.deepEqual(
      capture.map((original) => original?.authorised),
      [undefined],
    )
  })
})
