/**
 * The reversal of a late success, interrupted at every fault point by a dying process and completed
 * by another.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Operation } from '@tollgate/plugin-kit'
import { type FaultPoint, onFaultPoint } from '../../../core/index.ts'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import { balanceOf, checkBooks } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  eur,
  type LateRun,
  noMoney,
  refuse,
  startLate,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

/** A fault point, and the number of the visit to it. */
type Boundary = readonly [point: FaultPoint, nth: number]

const boundaries: Readonly<Record<string, readonly Boundary[]>> = {
  'by-key': [
    ['before-late', 1],
    ['after-late', 1],
    ['after-lease', 1],
    ['before-late', 2],
    ['after-late', 2],
  ],
  'by-reversal': [
    ['before-late', 1],
    ['after-late', 1],
    ['after-lease', 1],
    ['before-T1', 1],
    ['after-T1', 1],
    ['before-send', 1],
    ['after-send', 1],
    ['before-T2', 1],
    ['after-T2', 1],
    ['before-late', 2],
    ['after-late', 2],
  ],
}

/** Completes an operation once under its key, and reports it truthfully. */
function honest(): Script & { readonly undone: Set<string> } {
  const undone = new Set<string>()
  return {
    undone,
    refund: refuse,
    reverse: (operation, context) => {
      context.sending()
      undone.add(operation.key)
      return approvedAs(operation)
    },
    reverseByKey: ({ key }) => {
      undone.add(key)
      return { is: 'reversed' }
    },
    enquire: (operation: Operation) =>
      undone.has(operation.key) ? approvedAs(operation) : { is: 'notFound' },
  }
}

/** Runs work up to a fault point, where its process stops for good. */
function dieAt([point, nth]: Boundary, work: () => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = nth
    onFaultPoint((at) => {
      if (at !== point) return
      left -= 1
      if (left > 0) return
      onFaultPoint(undefined)
      resolve()
      return new Promise<void>(() => {})
    })
    work().catch(reject)
  })
}

describe('late successes whose reversal is interrupted', { concurrency: true }, () => {
  let run: LateRun
  const dead = new Map<string, { sale: string; late: string; script: ReturnType<typeof honest> }>()

  before(async () => {
    run = await startLate(
      { 'by-reversal': withoutKeyReversal },
      {
        role: 'api',
        shutdownGraceMs: 100,
        supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } },
      },
    )
    for (const [at, ways] of Object.entries(boundaries)) {
      for (const boundary of ways) {
        const reference = [at, ...boundary].join('-')
        const account = at === 'by-key' ? {} : run.at(at)
        const { id: sale } = await run.debit(`sale-${reference}`, {}, account)
        const script = honest()
        const { id: late } = await run.follow(sale, 'RF', reference, eur('60.00'), script)
        await dieAt(boundary, () => run.bring(late, { outcome: approval, minor: '6000' }))
        dead.set(reference, { sale, late, script })
      }
    }
    await run.sql(`update tollgate.attempt set lease_until = now() - interval '1 second',
      sent_at = sent_at - interval '1 hour' where lease_until is not null`)
    await run.sql('update tollgate.timer set due_at = now()')
    await run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
    await run.another({ role: 'worker', plugins: [run.acquirer.plugin] })
  })
  after(async () => {
    try {
      await checkBooks(run)
    } finally {
      onFaultPoint(undefined)
      await run.close()
    }
  })

  for (const [at, ways] of Object.entries(boundaries)) {
    for (const boundary of ways) {
      const reference = [at, ...boundary].join('-')
      test(`${at}: after a death at ${boundary.join(' ')} another process reverses the late success once`, async () => {
        const { sale, late, script } = dead.get(reference)!
        await until(async () => {
          // Makes the next step of the ladder due now.
          await run.dueNow(late)
          return (await run.kinds(late))[0] === '(conflict)' ? true : undefined
        })
        assert.equal(script.undone.size, 1, 'one undo at the acquirer')
        assert.equal(await run.code(late), noMoney)
        const { refunding, refunded } = await balanceOf(run, sale)
        assert.deepEqual({ refunding, refunded }, { refunding: 0n, refunded: 0n })
        const undos = await run.sql<{ state: string }>(
          'select state from tollgate.payment where referenced_id = $1',
          [late],
        )
        assert.deepEqual(
          undos.map(({ state }) => state),
          at === 'by-key' ? [] : ['approved'],
        )
        const all = await run.audited(late)
        assert.deepEqual(
          all.filter((action) => action === 'late-success-reversed'),
          ['late-success-reversed'],
        )
        assert.equal((await run.gateway.payments.refund(sale, eur('92.00'))).result.code, charged)
      })
    }
  }
})
