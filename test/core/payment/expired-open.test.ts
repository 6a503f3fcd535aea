/**
 * An expired payment that cannot be reversed: it stays undecided and is enquired ever more rarely.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, type Operation, pending } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { enquire } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { charged, type LateRun, startLate } from '../../rig/late-words.ts'

const wait = (_: Operation, context: Context) => {
  context.sending()
  return pending('event', { refs: { reference: 'open' } })
}

describe('expired payments that cannot be reversed', () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const events = async (id: string) =>
    (
      await run.sql<{ type: string }>(
        'select type from tollgate.event where resource = $1 order by seq',
        [id],
      )
    ).map(({ type }) => type)
  const nextLook = async (id: string) => {
    const rows = await run.sql<{ kind: string; in_ms: number }>(
      `select kind, (extract(epoch from due_at - now()) * 1000)::double precision as in_ms
         from tollgate.timer where ref = $1`,
      [await run.keyOf(id)],
    )
    assert.deepEqual(
      rows.map(({ kind }) => kind),
      ['look'],
    )
    return rows[0]!.in_ms
  }
  const enquiries = async (id: string) => {
    const [row] = await run.sql<{ enquiries: number }>(
      'select enquiries from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!.enquiries
  }

  test('an expired payment is enquired at each step of the ladder, stays out of pending, and emits no event', async () => {
    const { id } = await run.debit('never-ends', {
      debit: wait,
      enquire: () => pending('event', { refs: { reference: 'open' } }),
      reverseByKey: () => ({ is: 'refused', why: 'it may still be completed' }),
    })
    await run.dueNow(id)
    await run.event(id, 'payment.unknown')
    const told = ['payment.pending', 'payment.unknown']
    const ladder = [...limits.enquiryLadderMs, limits.enquiryLadderMs.at(-1)!]
    for (let look = 1; look < ladder.length; look += 1) {
      if (look > 1) {
        await run.dueNow(id)
        await until(async () => ((await enquiries(id)) === look ? true : undefined))
      }
      await until(async () => ((await nextLook(id)) > ladder[look]! - 5_000 ? true : undefined))
      assert.ok((await nextLook(id)) <= ladder[look]!)
      assert.equal(await enquiries(id), look)
      assert.equal(await run.stateOf(id), 'unknown')
      assert.deepEqual(await events(id), told)
      assert.deepEqual(await run.kinds(id), ['undecided'])
    }
    run.acquirer.tell('never-ends', { reverseByKey: () => ({ is: 'nothing' }) })
    await enquire(run, id)
    assert.equal(await run.code(id), '100.396.103')
    assert.deepEqual(await events(id), [...told, 'payment.expired'])
    assert.deepEqual(await run.kinds(id), ['(undecided)'])
    assert.deepEqual(await run.timers(id), [])
  })

  test('the end of its time is not held up by a look that is due as well', async () => {
    const open = () => pending({ poll: 60_000 }, { refs: { reference: 'open' } })
    // Timers are claimed in any order.
    const ids = await Promise.all(
      Array.from({ length: 6 }, async (_, no) => {
        const { id } = await run.debit(`polled-${no}`, {
          debit: (_, context) => {
            context.sending()
            return open()
          },
          enquire: open,
          reverseByKey: () => ({ is: 'nothing' }),
        })
        return id
      }),
    )
    const keys = await Promise.all(ids.map(run.keyOf))
    await run.sql('update tollgate.timer set due_at = now() where ref = any($1)', [keys])
    for (const id of ids) {
      await run.event(id, 'payment.expired')
      assert.deepEqual(await events(id), ['payment.pending', 'payment.expired'])
    }
  })

  test('an expired payment completed at the acquirer is approved whenever the acquirer reports it', async () => {
    const { id } = await run.debit('ends-late', {
      debit: wait,
      enquire: () => pending('event'),
      reverseByKey: () => ({ is: 'refused', why: 'it may still be completed' }),
    })
    await run.dueNow(id)
    await run.event(id, 'payment.unknown')
    await run.tell(id, { outcome: { is: 'approved', refs: { reference: 'done' } } })
    assert.equal(await run.code(id), charged)
    assert.deepEqual(await run.kinds(id), ['(undecided)'])
    assert.deepEqual(await run.timers(id), [])
  })
})
