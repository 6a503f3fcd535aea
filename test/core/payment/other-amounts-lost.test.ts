/** Another amount of a payment whose commit loses its answer, or whose process dies right after it. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { approved, type Context, type Operation, unknown } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  accept,
  approval,
  failure,
  type LateRun,
  lose,
  refusedFor,
  startLateThroughLine,
  withoutAnyReversal,
} from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'

const by = { by: 'Carol of the night', reason: 'seen in their portal' }
const forLess = ({ key }: Operation, context: Context) => {
  context.sending()
  const amount = { minor: 5000n, currency: 'EUR' }
  return approved({ reference: `at-${key}` }, { amount })
}
const mute = () => unknown('ask later')

describe('other amounts beside a lost commit', () => {
  let run: LateRun
  let line: Line
  before(async () => {
    const started = await startLateThroughLine({ mute: withoutAnyReversal })
    run = started.run
    line = started.line
  })
  afterEach(() => onFaultPoint(undefined))
  after(async () => {
    await closeChecked(run)
    await line.close()
  })

  /** Loses the answer of the commit that settles the next payment, found by a text in its statement. */
  function loseSettling(text: (id: string) => Promise<string> | string): Promise<void> {
    return new Promise((resolve) => {
      onFaultPoint(async (at, id) => {
        if (at !== 'before-T2') return
        onFaultPoint(undefined)
        line.cut(await text(id), 'after').then(() => resolve())
      })
    })
  }
  function dieAfterSettling(): Promise<void> {
    return new Promise((resolve) => {
      onFaultPoint((at) => {
        if (at !== 'after-T2') return
        onFaultPoint(undefined)
        resolve()
        return new Promise<void>(() => {})
      })
    })
  }
  const isFree = (id: string) =>
    until(async () => {
      const rows = await run.sql(
        'select from tollgate.attempt where payment_id = $1 and lease_until is null',
        [id],
      )
      return rows.length > 0 ? true : undefined
    })
  /** An open payment of 92.00, of which the acquirer told 50.00. */
  const open = async (reference: string) => {
    const back: string[] = []
    const { id } = await run.debit(reference, {
      debit: lose,
      enquire: mute,
      reverseByKey: ({ key }) => {
        back.push(key)
        return { is: 'reversed' }
      },
    })
    await run.tell(id, { outcome: approval, minor: '5000' })
    await isFree(id)
    return { id, back }
  }
  const isBack = (id: string) =>
    until(async () => {
      await run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
      await run.dueNow(id)
      const kinds = await run.kinds(id)
      return kinds.length > 1 && kinds.every((kind) => kind.startsWith('(')) ? true : undefined
    })

  test('the amount is taken back although the answer of the decline is lost', async () => {
    const { id, back } = await open('lost-decline')
    const cut = loseSettling(() => 'commit')
    await run.bring(id, { outcome: failure })
    await cut
    await isBack(id)
    assert.equal(back.length, 1)
  })

  test('the amount is taken back although the process dies after the decline', async () => {
    const { id, back } = await open('dead-decline')
    const dead = dieAfterSettling()
    await run.bring(id, { outcome: failure })
    await dead
    await isBack(id)
    assert.equal(back.length, 1)
  })

  const ways = { 'a lost answer of its commit': false, 'a death after its commit': true }
  for (const [name, dies] of Object.entries(ways)) {
    test(`an answer for another amount is not approved as requested after ${name}`, async () => {
      const reference = `answer-for-less-${dies}`
      const script = { debit: forLess, enquire: mute }
      const told = dies ? dieAfterSettling() : loseSettling((id) => run.keyOf(id))
      const answered = run.debit(reference, script, run.at('mute'))
      await told
      if (!dies) await answered
      const id = await until(async () => {
        const [row] = await run.sql<{ id: string }>(
          "select id from tollgate.payment where merchant_transaction_id = $1 and state = 'unknown'",
          [reference],
        )
        return row?.id
      })
      await isFree(id)
      await run.operator.enquire(id, by)
      await isFree(id)
      await assert.rejects(
        run.operator.settle(id, 'approved', by),
        refusedFor(/5000 minor units of EUR/),
      )
      await run.operator.settle(id, 'declined', by)
    })
  }

  test('a decision about an accepted payment is told as made although its answer is lost', async () => {
    const { id } = await run.debit('lost-decision', { debit: accept })
    await run.tell(id, { outcome: approval, minor: '5000' })
    const cut = line.cut(by.by, 'after')
    const { state } = await run.operator.settle(id, 'declined', by)
    await cut
    assert.equal(state, 'declined')
  })
})
