/** Answers that come after the deadline, once another process has worked on the payment. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, notSent, type Operation, type Outcome, unknown } from '@tollgate/plugin-kit'
import { approvedAs } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  eur,
  type LateRun,
  lose,
  startLate,
  undecided,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }

describe('late answers after the work of another process', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate(
      { 'without-key-reversal': withoutKeyReversal },
      {
        role: 'api',
        connectorTimeoutMs: 500,
        supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } },
      },
    )
    await run.another({ role: 'worker', plugins: [run.acquirer.plugin] })
  })
  after(() => closeChecked(run))

  const attempt = async (id: string) => {
    const [row] = await run.sql<{ lease: number; isFree: boolean }>(
      'select lease, lease_until is null as "isFree" from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!
  }
  const left = (id: string, lease: number) =>
    until(async () => {
      const now = await attempt(id)
      return now.isFree && now.lease > lease ? now.lease : undefined
    })
  /** The other process looks at the payment; answers the number of its lease. */
  const lookedAt = async (id: string) => {
    const { lease } = await attempt(id)
    await run.age(id)
    await run.dueNow(id)
    return left(id, lease)
  }

  test('a call that sent nothing does not decline a refund that was sent again meanwhile', async () => {
    const end = Promise.withResolvers<Outcome>()
    let calls = 0
    const refund = (operation: Operation, context: Context) => {
      calls += 1
      if (calls === 1) return end.promise
      context.sending()
      return calls === 2 ? unknown('the line went dead') : approvedAs(operation)
    }
    const enquire = () => ({ is: 'notFound' }) as const
    const account = run.at('without-key-reversal')
    const { id: sale } = await run.debit('resent-sale', {}, account)
    const { id } = await run.follow(sale, 'RF', 'resent-refund', eur('92.00'), { refund, enquire })
    const lease = await lookedAt(id)
    assert.equal(calls, 2, 'the other process sent the refund again')
    end.resolve(notSent('the port refused the connection'))
    await left(id, lease)
    assert.equal(await run.code(id), undecided)
    await lookedAt(id)
    assert.equal(await run.stateOf(id), 'approved')
  })

  test('an approval that comes after an unanswered reversal by key is listed, and does not settle', async () => {
    const end = Promise.withResolvers<Outcome>()
    let reversals = 0
    const { id } = await run.debit('asked-sale', {
      debit: (_, context) => {
        context.sending()
        return end.promise
      },
      reverseByKey: () => {
        reversals += 1
        return reversals === 1 ? { is: 'unknown', why: 'the line went dead' } : { is: 'reversed' }
      },
    })
    await lookedAt(id)
    await run.dueLater(id)
    assert.equal(reversals, 1)
    end.resolve(
      approvedAs(run.acquirer.calls.find(({ reference }) => reference === 'asked-sale')!.operation),
    )
    await until(async () => {
      const listed = await run.listed(id)
      return listed.some(({ reference, open }) => reference === 'approved' && open) || undefined
    })
    assert.equal(await run.code(id), undecided)
    await lookedAt(id)
    assert.equal(await run.stateOf(id), 'declined')
    // The entries end after the commit that decides the payment.
    await until(async () => (await run.listed(id)).every(({ open }) => !open) || undefined)
  })

  test('a refused reversal does not forget an earlier one without an answer', async () => {
    let reversals = 0
    const { id } = await run.debit('refused-second', {
      debit: lose,
      reverseByKey: () => {
        reversals += 1
        return reversals === 1
          ? { is: 'unknown', why: 'the line went dead' }
          : { is: 'refused', why: 'it was reversed before' }
      },
    })
    await lookedAt(id)
    await lookedAt(id)
    assert.equal(reversals, 2)
    assert.equal(await run.tell(id, { outcome: approval }), 'enquired')
    assert.equal(await run.code(id), undecided)
    await run.operator.settle(id, 'declined', by)
  })

  test('a reversal that was refused alone leaves the payment to the next word', async () => {
    const { id } = await run.debit('refused-first', {
      debit: lose,
      reverseByKey: () => ({ is: 'refused', why: 'not by key' }),
    })
    await lookedAt(id)
    assert.equal(await run.tell(id, { outcome: approval }), 'settled')
    assert.equal(await run.stateOf(id), 'approved')
  })
})
