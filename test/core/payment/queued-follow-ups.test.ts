/** A follow-up that waits in the queue is sent only if its payment still allows it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accepted, type Context, type Operation } from '@tollgate/plugin-kit'
import {
  type AcquirerRun,
  message,
  processed,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { balanceOf } from '../../rig/books.ts'
import { type Program, programBeside } from '../../rig/program.ts'

describe('a follow-up in the queue', () => {
  let run: AcquirerRun
  let program: Program

  before(async () => {
    // No worker, so that the queue waits.
    run = await startWithAcquirer({ role: 'api' })
    program = programBeside(run)
  })
  after(async () => {
    await program.close()
    await run.close()
  })

  const followUpOf = ({ id }: { readonly id: string }, fields: Readonly<Record<string, string>>) =>
    program.transaction('commit', (client) =>
      run.gateway.payments.acceptFollowUp(id, fields as never, { client }),
    )
  const refundOf = (sale: { readonly id: string }, reference: string) =>
    followUpOf(sale, {
      ...{ paymentType: 'RF', amount: '92.00', currency: 'EUR' },
      merchantTransactionId: reference,
    })
  const tell = async (eventId: string, about: string, more: Record<string, unknown>) => {
    const told = message({ eventId, key: await run.keyOf(about), ...more } as never)
    await run.gateway.inbound(scriptedName, run.account, told)
    await processed(run, eventId)
  }
  const counts = async ({ id }: { readonly id: string }) => {
    const { captured, refunded, refunding } = await balanceOf(run, id)
    return { captured, refunded, refunding }
  }

  test('a refund is not sent after a chargeback, a failure, or a freeze of its payment', async () => {
    const chargedBack = await run.debit('sale-charged-back')
    const waits = (operation: Operation, context: Context) => {
      context.sending()
      return accepted({ reference: `at-${operation.key}` }, 'event')
    }
    const failed = await run.debit('sale-failed', { debit: waits })
    const frozen = await run.debit('sale-frozen')
    const sound = await run.debit('sale-sound')
    const refunds = {
      chargedBack: await refundOf(chargedBack, 'refund-charged-back'),
      failed: await refundOf(failed, 'refund-failed'),
      frozen: await refundOf(frozen, 'refund-frozen'),
      sound: await refundOf(sound, 'refund-sound'),
    }
    await tell('chargeback-1', chargedBack.id, {
      outcome: { is: 'chargeback', reason: '000.100.220', refs: {} },
      reference: 'case-1',
    })
    await tell('failure-1', failed.id, {
      outcome: { is: 'declined', reason: '800.100.203', refs: {} },
    })
    // The acquirer takes its final approval back, which operators must look at.
    await tell('return-1', frozen.id, {
      outcome: { is: 'declined', reason: '800.100.203', refs: {} },
    })

    const worker = await run.another({ role: 'all' })
    const codes = Object.fromEntries(
      await Promise.all(
        Object.entries(refunds).map(async ([name, refund]) => [
          name,
          await program.decided(refund),
        ]),
      ),
    )
    assert.deepEqual(codes, {
      chargedBack: '900.100.600',
      failed: '900.100.600',
      frozen: '900.100.600',
      sound: '000.100.112',
    })
    const sent = ['charged-back', 'failed', 'frozen', 'sound'].map((name) =>
      run.acquirer.of(`refund-${name}`),
    )
    assert.deepEqual(sent, [[], [], [], ['refund']])
    const left = { captured: 9_200n, refunded: 0n, refunding: 0n }
    assert.deepEqual(await counts(chargedBack), left)
    assert.deepEqual(await counts(frozen), left)
    assert.deepEqual(await counts(sound), { ...left, refunded: 9_200n })
    await worker.close()
  })

  test('a sale is not charged anew once it was reversed', async () => {
    const sale = await run.debit('sale-reversed')
    const again = await followUpOf(sale, {
      ...{ paymentType: 'RB', amount: '92.00', currency: 'EUR' },
      merchantTransactionId: 'rebill-reversed',
    })
    await run.gateway.payments.reverse(sale.id, {})
    await run.another({ role: 'all' })
    assert.equal(await program.decided(again), '900.100.600')
    assert.deepEqual(run.acquirer.of('rebill-reversed'), [])
  })
})
