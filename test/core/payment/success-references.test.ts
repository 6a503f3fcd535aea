/**
 * A success that does not decide its payment keeps the reference by which the acquirer knows it, on every way that it
 * can be told: a word about another operation under the key is known by that reference, and ends nothing.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  accepted,
  approved,
  type Context,
  declined,
  type Found,
  type Operation,
  pending,
  type Refs,
} from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { eur, heldCall, lose, refuse, withoutKeyReversal } from '../../rig/late-words.ts'
import { type EffectRun, line, startEffects } from '../settlement/effect-run.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const amount = { minor: 5000n, currency: 'EUR' }
const part = { minor: '5000' }
const success = (reference: string) => ({ outcome: approved({ reference }) })
const decline = (reference: string) => declined('800.100.203', { refs: { reference } })
const reversed = (refs: Refs) => ({ outcome: { is: 'reversed', refs } as const })
const ofOtherAmount = (_: Operation, context: Context) => {
  context.sending()
  return approved({ reference: 'A' }, { amount })
}
const undecided = {
  enquire: () => ({ is: 'unknown', why: 'busy' }) as const,
  reverseByKey: () => ({ is: 'unknown', why: 'down' }) as const,
}

const toolsOf = (run: () => EffectRun) => ({
  free: (id: string) =>
    until(async () => {
      const [row] = await run().sql(
        'select from tollgate.attempt where payment_id = $1 and lease_until is null',
        [id],
      )
      return row !== undefined || undefined
    }),
  entries: async (id: string) =>
    (await run().listed(id))
      .filter(({ open }) => open)
      .map(({ kind, reference }) => `${kind} ${reference}`.trim())
      .toSorted(),
})

describe('the reference of a success', { concurrency: true }, () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  const { free, entries } = toolsOf(() => run)

  /** An open payment whose reversal was asked for without an answer. */
  const asked = async () => {
    let isAsked = false
    let found: Found = { is: 'unknown', why: 'busy' }
    const id = await run.pay({
      debit: lose,
      enquire: () => (isAsked ? found : { is: 'notFound' }),
      reverseByKey: () => {
        isAsked = true
        return { is: 'unknown', why: 'down' }
      },
    })
    await run.age(id)
    await run.dueNow(id)
    await until(async () => (await run.audited(id)).includes('reverse-by-key') || undefined)
    await free(id)
    await run.dueLater(id)
    return {
      id,
      finds: (next: Found) => {
        found = next
      },
    }
  }
  /** B's reversal is listed, and A's ends the payment. */
  const endsByItsOwn = async (id: string) => {
    await free(id)
    await run.dueLater(id)
    assert.equal(await run.tell(id, { ...reversed({ reference: 'B' }), ...part }), 'conflict')
    await free(id)
    assert.equal(await run.stateOf(id), 'unknown')
    assert.ok((await entries(id)).includes('conflict reference B reversed'))
    assert.equal(await run.tell(id, { ...reversed({ reference: 'A' }), ...part }), 'settled')
    assert.equal(await run.stateOf(id), 'declined')
  }

  test('is kept from an own answer for another amount, and no refund goes out twice', async () => {
    const id = await run.pay()
    const script = { refund: ofOtherAmount, ...undecided }
    const refund = await run.follow(id, 'RF', `refund-${newId()}`, eur('92.00'), script)
    await run.dueLater(refund.id)
    assert.equal(
      await run.tell(refund.id, { ...reversed({ reference: 'B' }), ...part }),
      'conflict',
    )
    const again = run.gateway.payments.refund(id, eur('92.00') as never)
    await assert.rejects(again, { code: '700.300.600' })
    await endsByItsOwn(refund.id)
  })

  test('is kept from the answer to an operator’s question', async () => {
    const enquire = () => approved({ reference: 'A' }, { amount })
    const id = await run.pay({ ...undecided, debit: lose, enquire })
    await run.dueLater(id)
    await run.operator.enquire(id, by)
    await endsByItsOwn(id)
  })

  test('is kept from an enquiry before its reversal answers in the same look', async () => {
    const id = await run.pay({
      debit: lose,
      enquire: () => approved({ reference: 'A' }, { amount }),
      reverseByKey: () => ({ is: 'reversed', refs: { reference: 'B' } }),
    })
    await run.age(id)
    await run.dueNow(id)
    await until(async () => (await run.audited(id)).includes('reverse-by-key') || undefined)
    await free(id)
    assert.equal(await run.stateOf(id), 'unknown')
    assert.ok((await entries(id)).includes('conflict reference B reversed'))
  })

  test('is kept when the payment is declined, and its money is a late success', async () => {
    const id = await run.pay({ debit: ofOtherAmount, ...undecided })
    await run.dueLater(id)
    await run.tell(id, { outcome: declined('800.100.203') })
    await free(id)
    await run.dueLater(id)
    assert.equal(await run.tell(id, { ...reversed({ reference: 'B' }), ...part }), 'conflict')
    assert.ok((await entries(id)).includes('conflict'), 'the late success stays')
  })

  test('is kept from the enquiry at the end of the payment’s time', async () => {
    let found: Found = { is: 'requested' }
    const id = await run.pay({
      debit: (_, context) => {
        context.sending()
        return pending('event', { refs: { reference: 'P' } })
      },
      enquire: () => found,
      reverseByKey: () => ({ is: 'requested' }),
    })
    await run.operator.enquire(id, by)
    await free(id)
    found = approved({ reference: 'A' })
    await run.sql(
      `update tollgate.timer set due_at = now() where kind = 'expire'
        and ref = (select attempt_key from tollgate.payment where id = $1)`,
      [id],
    )
    await until(async () => {
      const [row] = await run.sql(
        `select from tollgate.attempt where payment_id = $1 and settled_by = 'expiry'
          and lease_until is null`,
        [id],
      )
      return row !== undefined || undefined
    })
    await run.dueLater(id)
    assert.equal(await run.tell(id, reversed({ reference: 'B' })), 'conflict')
    assert.equal(await run.stateOf(id), 'unknown')
  })

  for (const how of ['look', 'question'] as const) {
    test(`tells a second charge for another amount from it, in the answer to an enquiry: ${how}`, async () => {
      const { id, finds } = await asked()
      await run.tell(id, success('A'))
      await free(id)
      await run.dueLater(id)
      finds(approved({ reference: 'B' }, { amount }))
      if (how === 'look') await run.dueNow(id)
      else await run.operator.enquire(id, by)
      await until(async () => (await entries(id)).includes('conflict reference B') || undefined)
      await free(id)
      await run.dueLater(id)
      assert.equal(await run.tell(id, reversed({ reference: 'A' })), 'settled')
      await free(id)
      assert.deepEqual(await entries(id), ['conflict reference B'])
    })
  }

  test('tells a second charge for another amount from it, in the own answer that comes late', async () => {
    const call = heldCall()
    const paying = run.pay({ debit: call.handler, ...undecided })
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
    await until(async () => (await run.stateOf(id)) === 'unknown' || undefined)
    await free(id)
    await run.dueLater(id)
    await run.tell(id, { ...success('A'), ...part })
    await free(id)
    await run.dueLater(id)
    call.answer(approved({ reference: 'B' }, { amount: { minor: 4000n, currency: 'EUR' } }))
    await paying
    await until(async () => (await entries(id)).includes('conflict reference B') || undefined)
    await free(id)
    await run.dueLater(id)
    assert.equal(await run.tell(id, { ...reversed({ reference: 'A' }), ...part }), 'settled')
    await free(id)
    assert.deepEqual(await entries(id), ['conflict reference B'])
  })

  test('tells the failed reversal of another operation from its own while a reversal was asked for', async () => {
    const { id } = await asked()
    await run.tell(id, success('A'))
    await free(id)
    await run.dueLater(id)
    const outcome = { is: 'notReversed', refs: { reference: 'B' }, why: 'no' } as const
    assert.equal(await run.tell(id, { outcome }), 'conflict')
    assert.ok((await entries(id)).includes('conflict reference B notReversed'))
  })

  test('tells it, too, where the enquiry about the failed reversal finds the success', async () => {
    const { id, finds } = await asked()
    await free(id)
    await run.dueLater(id)
    finds(approved({ reference: 'A' }, { amount }))
    const outcome = { is: 'notReversed', refs: { reference: 'B' }, why: 'no' } as const
    assert.equal(await run.tell(id, { outcome }), 'conflict')
    assert.ok((await entries(id)).includes('conflict reference B notReversed'))
  })

  test('keeps another amount that was accepted, when another operation of that amount is declined', async () => {
    const id = await run.pay({ ...undecided, debit: lose })
    await run.dueLater(id)
    await run.tell(id, { outcome: accepted({ reference: 'A' }, 'event'), ...part })
    await free(id)
    await run.dueLater(id)
    assert.equal(await run.tell(id, { outcome: decline('B'), ...part }), 'conflict')
    await free(id)
    const listed = await entries(id)
    assert.ok(listed.includes('undecided other-amount accepted 5000 EUR'), `${listed}`)
    assert.ok(listed.includes('conflict reference B declined'), `${listed}`)
  })

  test('comes to a late success with a later word, so that a second charge is listed', async () => {
    const requested = { is: 'requested' } as const
    const id = await run.pay({
      debit: refuse,
      enquire: () => requested,
      reverseByKey: () => requested,
    })
    await run.tell(id, { outcome: approved({}) })
    await until(async () => (await run.audited(id)).includes('reverse-by-key') || undefined)
    await free(id)
    await run.dueLater(id)
    assert.equal(await run.tell(id, success('A')), 'known')
    assert.equal(await run.tell(id, success('B')), 'conflict')
    assert.equal(await run.tell(id, reversed({ reference: 'C' })), 'conflict')
    assert.equal(await run.tell(id, reversed({ reference: 'A' })), 'settled')
    assert.deepEqual(await entries(id), ['conflict reference B', 'conflict reference C reversed'])
  })

  test('that a decline gave before is that of a late success once a success names it', async () => {
    const id = await run.pay({
      debit: () => decline('A'),
      enquire: () => ({ is: 'requested' }),
      reverseByKey: () => ({ is: 'requested' }),
    })
    await run.tell(id, { outcome: approved({}) })
    await until(async () => (await run.audited(id)).includes('reverse-by-key') || undefined)
    await free(id)
    await run.dueLater(id)
    assert.equal(await run.tell(id, success('A')), 'known')
    assert.equal(await run.tell(id, reversed({ reference: 'B' })), 'conflict')
    assert.equal(await run.tell(id, reversed({ reference: 'A' })), 'settled')
  })

  test('that the confirmation of a late success brings leaves it confirmed', async () => {
    const id = await run.pay({
      debit: refuse,
      enquire: () => ({ is: 'requested' }),
      reverseByKey: () => ({ is: 'requested' }),
    })
    await run.tell(id, { outcome: accepted({ reference: 'A' }, 'event') })
    await until(async () => (await run.audited(id)).includes('reverse-by-key') || undefined)
    await free(id)
    await run.dueLater(id)
    const outcome = approved({ reference: 'A', authorisation: 'x' })
    assert.equal(await run.tell(id, { outcome }), 'known')
    assert.equal(await run.tell(id, { outcome: decline('A') }), 'known')
    assert.ok((await entries(id)).includes('conflict'), 'a decline ends it no more')
  })

  test('is forgotten with another amount that failed, so that the next success is the one', async () => {
    const id = await run.pay({ ...undecided, debit: lose })
    await run.dueLater(id)
    const tell = async (outcome: Parameters<typeof run.tell>[1]['outcome']) => {
      const told = await run.tell(id, { outcome, ...part })
      await free(id)
      await run.dueLater(id)
      return told
    }
    await tell(accepted({ reference: 'A' }, 'event'))
    await tell(decline('A'))
    assert.ok(!(await entries(id)).some((entry) => entry.includes('other-amount')))
    await tell(approved({ reference: 'B' }))
    const listed = await entries(id)
    assert.ok(listed.includes('undecided other-amount 5000 EUR'), `${listed}`)
    assert.ok(!listed.some((entry) => entry.startsWith('conflict')), `${listed}`)
    await tell(reversed({ reference: 'B' }).outcome)
    assert.equal(await run.stateOf(id), 'declined')
  })

  test('is that of a settlement line that pays out what was declined under it', async () => {
    const reference = `A${newId()}`
    const id = await run.pay({
      debit: () => decline(reference),
      // Nobody learns whether the success stands, so that it is not over before the word about it.
      ...undecided,
    })
    await run.file(line(id, { ref1: reference, reference, paymentId: id }))
    await until(async () => {
      await run.makeDue()
      const [attempt] = await run.sql<{ state: string }>(
        'select state from tollgate.attempt where payment_id = $1',
        [id],
      )
      return attempt!.state === 'late' || undefined
    })
    assert.equal(await run.tell(id, reversed({ reference: 'B' })), 'conflict')
    assert.ok((await entries(id)).includes('conflict'), 'the late success stays')
  })

  test('lets an operator keep a late success once the answer names the reversal of another operation', async () => {
    let asks = 0
    let found: Found = { is: 'requested' }
    const id = await run.pay({
      debit: refuse,
      enquire: () => found,
      reverseByKey: () => {
        asks += 1
        if (asks === 2) return { is: 'unknown', why: 'down' }
        return asks === 1 ? { is: 'requested' } : { is: 'reversed', refs: { reference: 'B' } }
      },
    })
    const stands = (times: number) =>
      until(async () => {
        const told = (await run.audited(id)).filter((action) => action === 'late-success-stands')
        return told.length >= times || undefined
      })
    await run.tell(id, success('A'))
    await until(async () => asks > 0 || undefined)
    await free(id)
    await run.dueLater(id)
    found = { is: 'reversed', refs: { reference: 'B' } }
    await run.dueNow(id)
    await stands(1)
    await run.gateway.operator.redrive(id, by)
    await until(async () => asks > 1 || undefined)
    await free(id)
    await run.dueLater(id)
    await assert.rejects(run.operator.settle(id, 'approved', by), { code: '700.400.570' })
    await run.dueNow(id)
    await stands(2)
    await run.operator.settle(id, 'approved', by)
    assert.equal(await run.stateOf(id), 'approved')
  })

  test('of two other amounts, the reversal of one leaves the other', async () => {
    const id = await run.pay({ ...undecided, debit: lose })
    await run.dueLater(id)
    for (const minor of ['5000', '4000']) {
      await run.tell(id, { outcome: approved({}), minor })
      await free(id)
      await run.dueLater(id)
    }
    await run.tell(id, { ...reversed({}), ...part })
    await free(id)
    assert.equal(await run.stateOf(id), 'unknown')
    const listed = await entries(id)
    assert.ok(listed.includes('undecided other-amount 4000 EUR'), `${listed}`)
    assert.ok(listed.includes('undecided reversed 5000 EUR'), `${listed}`)
  })
})

describe('the reversal of the engine’s own', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects(withoutKeyReversal, {
      connectorTimeoutMs: 500,
      supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } },
    })
  })
  after(() => run.close())
  const { free } = toolsOf(() => run)

  test('is not sent again after the acquirer reversed the success under a reference that none had', async () => {
    const sent: string[] = []
    const id = await run.pay({
      debit: () => declined('800.100.155', { refs: { reference: 'P' } }),
      enquire: ({ kind }) => (kind === 'debit' ? approved({}) : { is: 'notFound' }),
      reverse: (operation, context) => {
        sent.push(operation.key)
        context.sending()
        return sent.length === 1 ? { is: 'unknown', why: 'dead' } : approvedAs(operation)
      },
    })
    await run.tell(id, { outcome: approved({}) })
    const undo = await until(async () => {
      const [row] = await run.sql<{ id: string }>(
        `select replace(id::text, '-', '') as id from tollgate.payment
          where referenced_id = $1 and effect = 'undo' and state = 'unknown'`,
        [id],
      )
      return row?.id
    })
    await free(undo)
    await run.dueLater(undo)
    await run.dueLater(id)
    await run.tell(id, reversed({ reference: 'S' }))
    await run.age(undo)
    await run.dueNow(undo)
    await until(async () => (await run.kinds(undo)).length > 0 || sent.length > 1 || undefined)
    assert.equal(sent.length, 1)
  })
})
