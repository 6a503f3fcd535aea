/** An acquirer's answer is processed once and not lost during a database outage. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Outcome } from '@tollgate/plugin-kit'
import type { Gateway } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  failure,
  heldCall,
  type LateRun,
  noMoney,
  startLate,
  withoutAnyReversal,
  withoutKeyReversal,
} from '../../rig/late-words.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'

describe('answers during a database outage', () => {
  let run: LateRun
  let line: Line
  let other: Gateway
  before(async () => {
    run = await startLate(
      { 'by-reversal': withoutKeyReversal, 'by-nobody': withoutAnyReversal },
      {
        connectorTimeoutMs: 3_000,
        through: async (url) => {
          line = await lineTo(url)
          return line.url
        },
      },
    )
    other = await run.another({
      plugins: [run.acquirer.plugin],
      database: { url: run.database.url },
    })
  })
  after(async () => {
    line.up()
    await closeChecked(run)
    await line.close()
  })

  /** The first answer is committed, and the line goes down before the process learns of it. */
  async function committed(reference: string, at: string, outcome: Outcome) {
    const call = heldCall()
    const answered = run
      .debit(reference, { debit: call.handler }, run.at(at))
      .catch(() => undefined)
    const { paymentId } = await call.begun
    await run.debit(`${reference}-before`)
    const settles = run.gateway
      .statements()
      .find(({ text }) => text.includes('update tollgate.attempt') && text.includes('settled_by'))
    assert.ok(settles !== undefined)
    const cut = line.cut(settles.name, 'after').then(() => line.down())
    call.answer(outcome)
    await cut
    return { id: paymentId, answered }
  }

  /** Restores the line and waits until the process wrote its answers. */
  async function back(answered: Promise<unknown>) {
    line.up()
    await answered
    await run.debit('after-the-outage')
    await until(async () => {
      const [row] = await run.sql<{ busy: boolean }>(
        `select exists (select from tollgate.attempt where state = 'sending') as busy`,
      )
      return row!.busy ? undefined : true
    })
  }

  test('an accepted answer followed by a failure event elsewhere does not become a late success', async () => {
    const outcome: Outcome = { is: 'accepted', refs: { reference: 'first' }, finalBy: 'event' }
    const { id, answered } = await committed('said-once', 'by-reversal', outcome)
    await run.bring(id, { outcome: failure }, other)
    await until(async () => ((await run.stateOf(id)) === 'declined' ? true : undefined))
    await back(answered)
    assert.deepEqual([await run.stateOf(id), await run.kinds(id)], ['declined', []])
    assert.deepEqual(run.acquirer.of('said-once'), ['debit'])
  })

  test('a declined answer followed by a success event elsewhere does not end the late success', async () => {
    const outcome: Outcome = { is: 'declined', reason: noMoney }
    const { id, answered } = await committed('said-once-late', 'by-nobody', outcome)
    const acceptance = { is: 'accepted', refs: { reference: 'by-event' }, finalBy: 'event' }
    await run.bring(id, { outcome: acceptance }, other)
    await until(async () => ((await run.kinds(id)).length === 1 ? true : undefined))
    await back(answered)
    assert.deepEqual(await run.kinds(id), ['conflict'])
    await run.operator.settle(id, 'declined', { by: 'alice', reason: 'given back' })
  })

  test('an answer after the deadline is kept until the database returns', async () => {
    const call = heldCall()
    const { id } = await run.debit('late-in-outage', {
      debit: call.handler,
      reverseByKey: () => ({ is: 'nothing' }),
    })
    const operation = await call.begun
    await run.age(id)
    await run.dueNow(id)
    await until(async () => ((await run.stateOf(id)) === 'declined' ? true : undefined))
    line.down()
    call.answer(approvedAs(operation))
    await until(async () => (run.logs.length > 0 ? true : undefined))
    line.up()
    await until(async () => ((await run.kinds(id)).length > 0 ? true : undefined))
    assert.deepEqual(
      (await run.listed(id)).map(({ kind }) => kind),
      ['conflict'],
    )
  })
})
