/**
 * A success was told while a reversal was under way, and a later word names another operation under the same key: no
 * path may end the payment by that word.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accepted, approved, declined, type Found, type Refs } from '@tollgate/plugin-kit'
import type { Script } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { heldCall, lose, refuse } from '../../rig/late-words.ts'
import { type EffectRun, startEffects } from '../settlement/effect-run.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const success = (reference: string) => ({ outcome: approved({ reference }) })
const decline = (reference: string) => declined('800.100.203', { refs: { reference } })
const reversed = (refs: Refs) => ({ outcome: { is: 'reversed', refs } as const })

describe('words about another operation than the success', { concurrency: true }, () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  const isFree = async (id: string) => {
    const [row] = await run.sql(
      'select from tollgate.attempt where payment_id = $1 and lease_until is null',
      [id],
    )
    return row !== undefined
  }
  const free = (id: string) => until(async () => (await isFree(id)) || undefined)
  const answered = async (id: string, mark: 'asked' | 'reversal') => {
    await until(async () => {
      const [row] = await run.sql(
        'select from tollgate.payment where id = $1 and answer ->> $2 is not null',
        [id, mark],
      )
      return row !== undefined || undefined
    })
    await free(id)
    await run.dueLater(id)
  }
  const referenceOf = async (id: string) => {
    const [row] = await run.sql<{ reference: string | null }>(
      "select answer -> 'refs' ->> 'reference' as reference from tollgate.payment where id = $1",
      [id],
    )
    return row!.reference
  }
  const attemptOf = async (id: string) => {
    const [row] = await run.sql<{ state: string }>(
      'select state from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!.state
  }
  const openKinds = async (id: string) =>
    (await run.listed(id)).filter(({ open }) => open).map(({ kind }) => kind)

  /** An open payment whose reversal the acquirer took, or which it was asked for without an answer. */
  const reversing = async (mark: 'asked' | 'reversal', debit: Script['debit'] = lose) => {
    let isAsked = false
    let found: Found = { is: 'requested' }
    const id = await run.pay({
      debit,
      enquire: () => {
        if (!isAsked || (mark === 'asked' && found.is === 'requested')) return { is: 'notFound' }
        return found
      },
      reverseByKey: () => {
        isAsked = true
        return mark === 'asked' ? { is: 'unknown', why: 'down' } : { is: 'requested' }
      },
    })
    await run.age(id)
    await run.dueNow(id)
    await answered(id, mark)
    const finds = (next: Found) => {
      found = next
    }
    return { id, finds }
  }
  /** The success A is told, its entry stays open, and the payment stays A's. */
  const stillA = async (id: string) => {
    await free(id)
    assert.equal(await run.stateOf(id), 'unknown')
    assert.equal(await referenceOf(id), 'A')
    const kinds = await openKinds(id)
    assert.ok(kinds.includes('conflict'), `${kinds}`)
    assert.equal(kinds.filter((kind) => kind === 'undecided').length, 2)
  }

  for (const mark of ['asked', 'reversal'] as const) {
    const when = mark === 'asked' ? 'asked for without an answer' : 'taken by the acquirer'

    test(`a decline of another operation in a message ends nothing while a reversal is ${when}`, async () => {
      const { id } = await reversing(mark)
      await run.tell(id, success('A'))
      await run.dueLater(id)
      assert.equal(await run.tell(id, { outcome: decline('B') }), 'conflict')
      await stillA(id)
      assert.equal(await run.tell(id, { outcome: decline('A') }), 'settled')
      assert.equal(await run.stateOf(id), 'declined')
    })

    test(`nor does it in the answer to an enquiry while a reversal is ${when}`, async () => {
      const { id, finds } = await reversing(mark)
      await run.tell(id, success('A'))
      finds(decline('B'))
      await run.dueNow(id)
      await until(async () => (await openKinds(id)).includes('conflict') || undefined)
      await stillA(id)
      assert.ok((await run.timers(id)).length > 0, 'the engine asks again')
    })

    test(`nor does the end of its reversal while a reversal is ${when}`, async () => {
      const { id } = await reversing(mark)
      await run.tell(id, success('A'))
      await run.dueLater(id)
      assert.equal(await run.tell(id, reversed({ reference: 'B' })), 'conflict')
      await stillA(id)
      assert.equal(await run.tell(id, reversed({ reference: 'A' })), 'settled')
      assert.equal(await run.stateOf(id), 'declined')
    })
  }

  test('nor does a decline in the answer to an operator’s question', async () => {
    const { id, finds } = await reversing('reversal')
    await run.tell(id, success('A'))
    finds(decline('B'))
    await run.operator.enquire(id, by)
    await stillA(id)
  })

  test('nor does a decline in the own answer that comes late', async () => {
    const call = heldCall()
    let isAsked = false
    const paying = run.pay({
      debit: call.handler,
      enquire: () => (isAsked ? { is: 'requested' } : { is: 'notFound' }),
      reverseByKey: () => {
        isAsked = true
        return { is: 'requested' }
      },
    })
    const { key } = await call.begun
    const [row] = await run.sql<{ id: string }>(
      "select replace(payment_id::text, '-', '') as id from tollgate.attempt where key = $1",
      [key],
    )
    const { id } = row!
    await run.age(id)
    await run.sql(
      `insert into tollgate.timer (id, due_at, kind, ref) values (gen_random_uuid(), now(), 'look', $1)
       on conflict (kind, ref) do update set due_at = now()`,
      [key],
    )
    await answered(id, 'reversal')
    await run.tell(id, success('A'))
    call.answer(decline('B'))
    await paying
    await until(async () => (await openKinds(id)).includes('conflict') || undefined)
    await stillA(id)
  })

  test('an approval of another operation in the answer to an enquiry settles the payment as the one that was told', async () => {
    const { id, finds } = await reversing('asked')
    await run.tell(id, success('A'))
    finds(approved({ reference: 'B' }))
    await run.dueNow(id)
    // The commit that approves the payment ends no entry; that follows.
    await until(async () => (await openKinds(id)).join() === 'conflict' || undefined)
    assert.equal(await run.stateOf(id), 'approved')
    assert.equal(await referenceOf(id), 'A')
    assert.equal((await run.listed(id)).at(-1)!.detail.refs!.reference, 'B')
  })

  test('the decline of another operation forgets no other amount that was accepted', async () => {
    const { id } = await reversing('asked')
    const part = { minor: '5000' }
    await run.tell(id, { outcome: accepted({ reference: 'A' }, 'event'), ...part })
    await run.dueLater(id)
    assert.equal(await run.tell(id, { outcome: decline('B'), ...part }), 'conflict')
    await stillA(id)
  })

  for (const end of ['requested', 'reversed'] as const) {
    test(`a success that is told while the acquirer is asked for the reversal is heard after its answer: ${end}`, async () => {
      const call = heldCall<{ is: 'requested' } | { is: 'reversed' }>()
      let asked = 0
      const id = await run.pay({
        debit: lose,
        enquire: () => (asked > 0 ? { is: 'requested' } : { is: 'notFound' }),
        reverseByKey: (operation, context) => {
          asked += 1
          return asked === 1 ? call.handler(operation, context) : { is: 'reversed' }
        },
      })
      await run.age(id)
      await run.dueNow(id)
      await call.begun
      const eventId = await run.bring(id, success('A'))
      await until(async () => {
        const [row] = await run.sql<{ waits: number }>(
          'select waits from tollgate.inbound_event where event_id = $1',
          [eventId],
        )
        return row!.waits > 0 || undefined
      })
      call.answer({ is: end })
      await free(id)
      await run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [
        eventId,
      ])
      await until(async () => (await referenceOf(id)) === 'A' || undefined)
      await free(id)
      assert.equal(await run.tell(id, success('B')), end === 'requested' ? 'known' : 'conflict')
      const other = (await run.listed(id)).at(-1)!
      assert.deepEqual(
        [other.kind, other.open, other.detail.refs!.reference],
        ['conflict', true, 'B'],
      )
    })
  }

  const stands = (reference: string) => ({
    outcome: { is: 'notReversed', refs: { reference }, why: 'no' } as const,
  })
  /** References of the open conflicts. */
  const conflicts = async (id: string) =>
    (await run.listed(id))
      .filter(({ kind, open }) => kind === 'conflict' && open)
      .map(({ reference }) => reference)

  test('the failed reversal of another operation ends no open payment', async () => {
    const { id, finds } = await reversing('reversal')
    await run.tell(id, success('A'))
    assert.equal(await run.tell(id, stands('B')), 'conflict')
    await stillA(id)
    finds(stands('B').outcome)
    await run.dueNow(id)
    await free(id)
    await stillA(id)
    assert.deepEqual(await conflicts(id), ['reference B notReversed'])
    assert.equal(await run.tell(id, stands('A')), 'settled')
    assert.equal(await attemptOf(id), 'late')
    assert.equal(await referenceOf(id), 'A')
  })

  test('the answer to the reversal by key says whose reversal it was', async () => {
    let isTold = false
    const id = await run.pay({
      debit: lose,
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () =>
        isTold ? { is: 'reversed', refs: { reference: 'B' } } : { is: 'unknown', why: 'down' },
    })
    await run.age(id)
    await run.dueNow(id)
    await answered(id, 'asked')
    await run.tell(id, success('A'))
    isTold = true
    await until(async () => {
      await run.dueNow(id)
      return (await conflicts(id)).length > 0 || undefined
    })
    assert.deepEqual(await conflicts(id), ['reference B reversed'])
    assert.equal(await run.stateOf(id), 'unknown')
  })

  for (const how of ['message', 'answer'] as const) {
    test(`a success for another amount keeps its reference before a reversal is asked for, and ends by its own alone: ${how}`, async () => {
      const amount = { minor: 5000n, currency: 'EUR' }
      let isVisible = false
      const id = await run.pay({
        debit: lose,
        enquire: () =>
          isVisible ? approved({ reference: 'A' }, { amount }) : { is: 'unknown', why: 'busy' },
        reverseByKey: () => ({ is: 'reversed', refs: { reference: 'B' } }),
      })
      await run.dueLater(id)
      const part = { minor: '5000' }
      await run.tell(id, { ...success('A'), ...part })
      assert.equal(await referenceOf(id), 'A')
      await run.dueLater(id)
      if (how === 'message') {
        assert.equal(await run.tell(id, { ...reversed({ reference: 'B' }), ...part }), 'conflict')
      } else {
        isVisible = true
        await run.dueNow(id)
      }
      await until(async () => (await conflicts(id)).includes('reference B reversed') || undefined)
      await free(id)
      assert.equal(await run.stateOf(id), 'unknown')
      assert.equal(await referenceOf(id), 'A')
    })
  }

  test('a reversal ends a payment whose success gave no reference, whatever an earlier word called it', async () => {
    const { id } = await reversing('reversal', (_, context) => {
      context.sending()
      return { is: 'unknown', refs: { reference: 'P' }, why: 'the line went dead' }
    })
    await run.tell(id, { outcome: approved({}) })
    assert.equal(await run.tell(id, reversed({ reference: 'S' })), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
  })

  /** A declined payment that the acquirer carried out as A. */
  const late = async (script: Script) => {
    const id = await run.pay({ debit: refuse, ...script })
    await run.tell(id, success('A'))
    return id
  }
  const isStillLate = async (id: string) => {
    await free(id)
    assert.equal(await attemptOf(id), 'late')
    assert.ok((await openKinds(id)).includes('conflict'))
    assert.equal(await referenceOf(id), 'A')
  }

  test('the reversal of another operation ends no late success, told by a message', async () => {
    let asked = 0
    const id = await late({
      enquire: () => ({ is: 'requested' }),
      reverseByKey: () => {
        asked += 1
        return { is: 'requested' }
      },
    })
    await until(async () => asked > 0 || undefined)
    await free(id)
    await run.dueLater(id)
    assert.equal(await run.tell(id, reversed({ reference: 'B' })), 'conflict')
    await isStillLate(id)
    assert.equal(await run.tell(id, reversed({ reference: 'A' })), 'settled')
    assert.equal(await attemptOf(id), 'declined')
  })

  test('nor does it as the answer to the reversal by key', async () => {
    const id = await late({ reverseByKey: () => ({ is: 'reversed', refs: { reference: 'B' } }) })
    await until(async () => (await run.audited(id)).includes('late-success-stands') || undefined)
    await isStillLate(id)
    await until(async () => (await run.timers(id)).length === 0 || undefined)
    await run.operator.settle(id, 'approved', by)
    assert.equal(await run.stateOf(id), 'approved')
  })

  test('nor does it in the answer to an enquiry', async () => {
    let isAsked = false
    const id = await late({
      enquire: () => (isAsked ? { is: 'reversed', refs: { reference: 'B' } } : { is: 'requested' }),
      reverseByKey: () => ({ is: 'requested' }),
    })
    await until(async () => (await run.audited(id)).includes('reverse-by-key') || undefined)
    await free(id)
    isAsked = true
    await run.dueNow(id)
    await until(async () => (await run.audited(id)).includes('late-success-stands') || undefined)
    await isStillLate(id)
  })

  test('the failed reversal of another operation leaves a late success under its reversal', async () => {
    let found: Found = { is: 'requested' }
    const id = await late({ enquire: () => found, reverseByKey: () => ({ is: 'requested' }) })
    await until(async () => (await run.audited(id)).includes('reverse-by-key') || undefined)
    await free(id)
    await run.dueLater(id)
    assert.equal(await run.tell(id, stands('B')), 'conflict')
    found = stands('B').outcome
    await run.dueNow(id)
    await isStillLate(id)
    assert.ok((await run.timers(id)).length > 0, 'the engine asks again')
    assert.equal(await run.tell(id, reversed({ reference: 'A' })), 'settled')
    assert.deepEqual(await conflicts(id), ['reference B notReversed'])
  })

  test('a charge that the enquiry of a take-back finds is listed by itself', async () => {
    const id = await late({
      enquire: () => approved({ reference: 'B' }),
      reverseByKey: () => ({ is: 'nothing' }),
    })
    await until(async () => (await conflicts(id)).includes('reference B') || undefined)
    await isStillLate(id)
    assert.equal(await run.tell(id, reversed({ reference: 'A' })), 'settled')
    assert.deepEqual(await conflicts(id), ['reference B'])
  })

  test('a reversal ends a late success that gave no reference', async () => {
    const id = await run.pay({
      debit: () => decline('A'),
      enquire: () => ({ is: 'requested' }),
      reverseByKey: () => ({ is: 'requested' }),
    })
    await run.tell(id, { outcome: approved({}) })
    await until(async () => (await run.audited(id)).includes('reverse-by-key') || undefined)
    await free(id)
    assert.equal(await run.tell(id, reversed({ reference: 'B' })), 'settled')
    assert.equal(await attemptOf(id), 'declined')
  })

  test('the returns of two charges of one payment are two entries', async () => {
    const id = await run.pay({ debit: () => approved({ reference: 'A' }) })
    await run.tell(id, success('B'))
    await run.tell(id, reversed({ reference: 'B' }))
    await run.tell(id, reversed({ reference: 'A' }))
    assert.deepEqual(await openKinds(id), ['conflict', 'return', 'return'])
  })

  for (const is of ['declined', 'reversed'] as const) {
    test(`an enquiry that finds another operation ${is} proves no late success gone`, async () => {
      let asked = 0
      const refs = { reference: 'B' }
      const id = await late({
        enquire: () => {
          asked += 1
          return is === 'declined' ? decline('B') : { is, refs }
        },
        reverseByKey: () => ({ is: 'nothing' }),
      })
      await until(async () => asked > 0 || undefined)
      await isStillLate(id)
      assert.ok((await run.timers(id)).length > 0, 'the engine asks again')
    })
  }
})
