/**
 * Partial follow-ups at an acquirer without them are refused before anything is written or sent.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Supports } from '@tollgate/plugin-kit'
import { GatewayError } from '../../../core/index.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import {
  charged,
  eur,
  type LateRun,
  refuse,
  startLate,
  type Variants,
} from '../../rig/late-words.ts'

const only = (supports: Partial<Supports>): Variants[string] => {
  return (connector) => ({ ...connector, supports: { ...connector.supports, ...supports } })
}

describe('acquirers without partial follow-ups', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate({
      'capture-whole': only({ capture: { partial: false, multiple: true } }),
      'capture-once': only({ capture: { partial: true, multiple: false } }),
      'refund-whole': only({ refund: { partial: false } }),
      'reverse-whole': only({ reverse: { partial: false } }),
    })
  })
  after(() => closeChecked(run))

  const pay = async (at: string, reference: string, paymentType: 'PA' | 'DB') =>
    (await run.debit(reference, {}, { paymentType, ...run.at(at) })).id
  /** Refused by name, and nothing is stored. */
  const isRefused = async (reference: string, request: Promise<unknown>) => {
    await assert.rejects(request, (error: unknown) => {
      assert.ok(error instanceof GatewayError, String(error))
      assert.equal(error.code, '600.200.400')
      assert.equal(error.status, 400)
      assert.deepEqual(
        error.parameterErrors?.map(({ name }) => name),
        ['amount'],
      )
      return true
    })
    assert.deepEqual(run.acquirer.of(reference), [])
    const rows = await run.sql(
      'select 1 from tollgate.payment where merchant_transaction_id = $1',
      [reference],
    )
    assert.deepEqual(rows, [])
  }

  test('a partial capture is refused, and one of the whole amount is taken', async () => {
    const id = await pay('capture-whole', 'capture-whole', 'PA')
    await isRefused('capture-part', run.follow(id, 'CP', 'capture-part', eur('50.00')))
    assert.equal((await balanceOf(run, id)).capturing, 0n)
    assert.equal((await run.follow(id, 'CP', 'capture-all', eur('92.00'))).result.code, charged)
    assert.deepEqual(run.acquirer.of('capture-all'), ['capture'])
  })

  test('a capture above the whole amount is refused as too much', async () => {
    const id = await pay('capture-whole', 'capture-more', 'PA')
    await assert.rejects(run.gateway.payments.capture(id, eur('92.01')), { code: '700.400.100' })
  })

  test('a second capture is refused, unless the first failed', async () => {
    const id = await pay('capture-once', 'capture-once', 'PA')
    const declined = await run.follow(id, 'CP', 'once-declined', eur('50.00'), { capture: refuse })
    assert.notEqual(declined.result.code, charged)
    assert.equal((await run.follow(id, 'CP', 'once-first', eur('50.00'))).result.code, charged)
    await isRefused('once-second', run.follow(id, 'CP', 'once-second', eur('10.00')))
    assert.equal((await balanceOf(run, id)).captures, 1)
  })

  test('of two simultaneous captures one succeeds', async () => {
    const id = await pay('capture-once', 'capture-both', 'PA')
    const both = await Promise.allSettled([
      run.follow(id, 'CP', 'both-first', eur('10.00')),
      run.follow(id, 'CP', 'both-second', eur('10.00')),
    ])
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.equal((await balanceOf(run, id)).captured, 1000n)
  })

  test('a partial refund is refused, and one of the whole amount is taken', async () => {
    const id = await pay('refund-whole', 'refund-whole', 'DB')
    await isRefused('refund-part', run.follow(id, 'RF', 'refund-part', eur('91.99')))
    assert.equal((await balanceOf(run, id)).refunding, 0n)
    assert.equal((await run.follow(id, 'RF', 'refund-all', eur('92.00'))).result.code, charged)
  })

  test('a capture is refunded as a whole, by its own amount', async () => {
    const id = await pay('refund-whole', 'refund-capture', 'PA')
    const capture = await run.gateway.payments.capture(id, eur('40.00'))
    await isRefused('refund-some', run.follow(capture.id, 'RF', 'refund-some', eur('39.00')))
    assert.equal((await run.gateway.payments.refund(capture.id, eur('40.00'))).result.code, charged)
  })

  test('a partial reversal is refused, and one of the whole amount is taken', async () => {
    const id = await pay('reverse-whole', 'reverse-whole', 'PA')
    await isRefused('reverse-part', run.follow(id, 'RV', 'reverse-part', eur('50.00')))
    assert.equal((await balanceOf(run, id)).reversing, 0n)
    assert.equal((await run.follow(id, 'RV', 'reverse-all', eur('92.00'))).result.code, charged)
  })

  test('a reversal without an amount covers the rest, and after a capture the rest is a part', async () => {
    const id = await pay('reverse-whole', 'reverse-rest', 'PA')
    await run.gateway.payments.capture(id, eur('30.00'))
    await isRefused('reverse-left', run.follow(id, 'RV', 'reverse-left'))
    const untouched = await pay('reverse-whole', 'reverse-untouched', 'PA')
    assert.equal((await run.gateway.payments.reverse(untouched)).result.code, charged)
  })
})
