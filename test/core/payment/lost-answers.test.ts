/**
 * A follow-up whose answer is lost: no outcome of a repeat proves that the first attempt failed.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Context, Operation } from '@tollgate/plugin-kit'
import { approvedAs, enquire, type Script } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import {
  charged,
  eur,
  type LateRun,
  lose,
  notCharged,
  startLate,
  undecided,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

/** Does the work at the first call and loses its answer; repeats are refused a connection. */
function doneAndLost(): Script & { done: number } {
  const keys = new Set<string>()
  const handler = async (operation: Operation, context: Context) => {
    if (!keys.has(operation.key)) {
      keys.add(operation.key)
      script.done += 1
      return lose(operation, context)
    }
    await context.http.post('http://127.0.0.1:1/', {}, { moves: true })
    return approvedAs(operation)
  }
  const script = { done: 0, refund: handler, capture: handler }
  return script
}

describe('follow-ups whose answer is lost', { concurrency: true }, () => {
  let run: LateRun
  const keyed = 'scripted-by-key'
  before(async () => {
    run = await startLate(
      { [keyed]: withoutKeyReversal },
      { supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } } },
    )
  })
  after(() => closeChecked(run))

  const debit = async (reference: string, paymentType = 'DB', at = run.at(keyed)) =>
    (await run.debit(reference, {}, { paymentType, ...at })).id
  /** Asks the acquirer as if an hour had passed. */
  const ask = async (id: string) => {
    await run.age(id)
    await enquire(run, id)
  }

  test('a refund whose repeat was not sent stays undecided, keeps its amount, and is listed', async () => {
    const id = await debit('refund-lost')
    const script = doneAndLost()
    const refund = await run.follow(id, 'RF', 'refund-lost-rf', eur('92.00'), script)
    assert.equal(refund.result.code, undecided)
    await ask(refund.id)
    assert.deepEqual(run.acquirer.of('refund-lost-rf'), ['refund', 'enquire', 'refund'])
    assert.equal(await run.stateOf(refund.id), 'unknown')
    assert.equal((await balanceOf(run, id)).refunding, 9200n)
    assert.deepEqual(await run.kinds(refund.id), ['undecided'])
    await assert.rejects(run.follow(id, 'RF', 'refund-lost-again', eur('92.00')), {
      code: '700.400.200',
    })
    assert.deepEqual(run.acquirer.of('refund-lost-again'), [])
    run.acquirer.tell('refund-lost-rf', { ...script, enquire: approvedAs })
    await ask(refund.id)
    assert.equal(await run.code(refund.id), charged)
    assert.equal((await balanceOf(run, id)).refunded, 9200n)
    assert.deepEqual(await run.kinds(refund.id), ['(undecided)'])
    assert.equal(script.done, 1)
  })

  test('a capture whose repeat was not sent blocks the reversal of its authorisation', async () => {
    const id = await debit('capture-lost', 'PA')
    const script = doneAndLost()
    const capture = await run.follow(id, 'CP', 'capture-lost-cp', eur('92.00'), script)
    await ask(capture.id)
    assert.equal(await run.stateOf(capture.id), 'unknown')
    await assert.rejects(run.gateway.payments.reverse(id), { code: '700.400.300' })
    await assert.rejects(run.gateway.payments.capture(id, eur('1.00')), { code: '700.400.100' })
    run.acquirer.tell('capture-lost-cp', { ...script, enquire: approvedAs })
    await ask(capture.id)
    assert.equal((await balanceOf(run, id)).captured, 9200n)
    assert.equal(script.done, 1)
  })

  test('a stale "not found" proves nothing, however often it is repeated', async () => {
    const id = await debit('stale-sale')
    const script = doneAndLost()
    const refund = await run.follow(id, 'RF', 'stale-rf', eur('60.00'), {
      ...script,
      enquire: () => ({ is: 'notFound', why: 'the copy that answers is behind' }),
    })
    for (let no = 0; no < 3; no += 1) await ask(refund.id)
    assert.equal(await run.stateOf(refund.id), 'unknown')
    assert.equal((await balanceOf(run, id)).refunding, 6000n)
    await assert.rejects(run.gateway.payments.refund(id, eur('32.01')), { code: '700.400.200' })
    run.acquirer.tell('stale-rf', { ...script, enquire: approvedAs })
    await ask(refund.id)
    assert.equal((await balanceOf(run, id)).refunded, 6000n)
    assert.equal(script.done, 1)
  })

  test('an acquirer with reversals by key reverses it: the follow-up is declined and its amount is free', async () => {
    const { id } = await run.debit('undone-by-key')
    const refund = await run.follow(id, 'RF', 'undone-by-key-rf', eur('92.00'), {
      ...doneAndLost(),
      reverseByKey: () => ({ is: 'reversed' }),
    })
    await ask(refund.id)
    assert.deepEqual(run.acquirer.of('undone-by-key-rf'), ['refund', 'enquire', 'reverseByKey'])
    assert.equal(await run.code(refund.id), notCharged)
    assert.equal((await run.gateway.payments.refund(id, eur('92.00'))).result.code, charged)
  })
})
