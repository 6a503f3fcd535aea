import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Context, declined, type Operation, pending, unknown } from '@tollgate/plugin-kit'
import { type AcquirerRun, approvedAs, type Script, startWithAcquirer } from '../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../rig/books.ts'
import { until } from '../rig/gateway.ts'
import { type Line, lineTo } from '../rig/proxy.ts'

const charged = '000.100.112'
const undecided = '000.200.001'
const eur = (amount: string) => ({ amount, currency: 'EUR' as const })

describe('connections that break at a commit', () => {
  let run: AcquirerRun
  let line: Line
  before(async () => {
    run = await startWithAcquirer({
      shutdownGraceMs: 100,
      through: async (url) => {
        line = await lineTo(url)
        return line.url
      },
    })
    // Runs every statement once, so that each has a name.
    const { id } = await run.debit('warm-debit', {}, { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('1.00'))
    await run.gateway.payments.refund(capture.id, eur('1.00'))
    await run.gateway.payments.reverse(id)
  })
  after(async () => {
    try {
      await closeChecked(run)
    } finally {
      await line.close()
    }
  })
  beforeEach(() => line.up())

  /** Name of the prepared statement with all these parts that concerns a single row. */
  const named = (...parts: string[]) => {
    const found = run.gateway
      .statements()
      .filter(
        ({ text }) =>
          parts.every((part) => text.includes(part)) && !text.includes('json_to_recordset'),
      )
    assert.equal(found.length, 1, `one statement has ${parts.join(' and ')}`)
    return found[0]!.name
  }
  const acceptFirst = () => named('insert into tollgate.payment (', 'from accepted')
  const settleFirst = () =>
    named('update tollgate.attempt', 'from given', 'insert into tollgate.event')
  const reserve = () => named('capturing = capturing + $', 'insert into tollgate.payment (')
  const settleOther = () =>
    named(
      'update tollgate.attempt',
      'update tollgate.payment_balance',
      'delete from tollgate.timer',
    )
  /** A repeated commit is no failure and causes no warning. */
  const unwritten = () => run.logs.filter(({ message }) => message.includes('could not be written'))
  const rows = async (reference: string) =>
    run.sql<{ id: string; state: string; seq: number; events: bigint }>(
      `select id, state, seq, (select count(*) from tollgate.event where resource = payment.id) as events
         from tollgate.payment where merchant_transaction_id = $1`,
      [reference],
    )

  for (const when of ['before', 'after'] as const) {
    test(`T1 cut ${when} the commit: one payment, charged once and answered`, async () => {
      const cut = line.cut(acceptFirst(), when)
      const answer = await run.debit(`accept-${when}`)
      await cut
      assert.equal(answer.result.code, charged)
      assert.deepEqual(run.acquirer.of(`accept-${when}`), ['debit'])
      assert.deepEqual(
        (await rows(`accept-${when}`)).map(({ id }) => id),
        [answer.id],
      )
    })

    test(`T1 with a key cut ${when} the commit: the key still makes one payment`, async () => {
      const fields = {
        ...eur('92.00'),
        paymentType: 'DB',
        'card.number': '4200000000000000',
        'card.expiryMonth': '05',
        'card.expiryYear': '2034',
        merchantTransactionId: `keyed-${when}`,
        testMode: 'EXTERNAL',
        entityId: run.channel,
      }
      const cut = line.cut(acceptFirst(), when)
      const first = await run.send(fields, { idempotencyKey: `keyed-${when}` })
      await cut
      assert.equal(first.body.result.code, charged)
      assert.equal(first.headers['Idempotent-Replayed'], undefined)
      const repeat = await run.send(fields, { idempotencyKey: `keyed-${when}` })
      assert.equal(repeat.body.id, first.body.id)
      assert.deepEqual(run.acquirer.of(`keyed-${when}`), ['debit'])
    })

    const outcomes: Record<string, { script: Script; state: string; code: string }> = {
      approved: { script: {}, state: 'approved', code: charged },
      declined: {
        script: { debit: sent(() => declined('800.100.155')) },
        state: 'declined',
        code: '800.100.155',
      },
      pending: {
        script: { debit: sent(() => pending('event', { refs: { reference: 'open' } })) },
        state: 'pending',
        code: '000.200.000',
      },
      unknown: {
        script: { debit: sent(() => unknown('the line went dead')) },
        state: 'unknown',
        code: undecided,
      },
    }
    for (const [outcome, { script, state, code }] of Object.entries(outcomes)) {
      test(`T2 of ${outcome} cut ${when} the commit: settled once, with one event`, async () => {
        const reference = `settle-${outcome}-${when}`
        const cut = line.cut(settleFirst(), when)
        const answer = await run.debit(reference, script)
        await cut
        assert.equal(answer.result.code, code)
        assert.deepEqual(await rows(reference), [{ id: answer.id, state, seq: 1, events: 1n }])
        assert.deepEqual(run.acquirer.of(reference), ['debit'])
        assert.deepEqual(unwritten(), [])
      })
    }

    test(`T1 of a capture cut ${when} the commit: reserved once, captured once`, async () => {
      const { id } = await run.debit(`hold-${when}`, {}, { paymentType: 'PA' })
      const cut = line.cut(reserve(), when)
      const capture = await run.gateway.payments.capture(id, eur('50.00'))
      await cut
      assert.equal(capture.result.code, charged)
      const { capturing, captured, captures } = await balanceOf(run, id)
      assert.deepEqual(
        { capturing, captured, captures },
        { capturing: 0n, captured: 5000n, captures: 1 },
      )
    })

    test(`T2 of a capture cut ${when} the commit: the sum moves once`, async () => {
      const { id } = await run.debit(`sum-${when}`, {}, { paymentType: 'PA' })
      const cut = line.cut(settleOther(), when)
      const capture = await run.gateway.payments.capture(id, eur('50.00'))
      await cut
      assert.equal(capture.result.code, charged)
      const { capturing, captured, captures } = await balanceOf(run, id)
      assert.deepEqual(
        { capturing, captured, captures },
        { capturing: 0n, captured: 5000n, captures: 1 },
      )
    })

    test(`T2 of an undecided capture cut ${when} the commit: the reservation stays, once`, async () => {
      const { id } = await run.debit(`open-${when}`, {}, { paymentType: 'PA' })
      const reference = `open-capture-${when}`
      run.acquirer.tell(reference, {
        capture: sent(() => unknown('dead')),
        enquire: () => declined('800.100.155'),
      })
      const cut = line.cut(settleOther(), when)
      const capture = await run.gateway.payments.capture(id, {
        ...eur('50.00'),
        merchantTransactionId: reference,
      })
      await cut
      assert.equal(capture.result.code, undecided)
      assert.equal((await balanceOf(run, id)).capturing, 5000n)
      assert.deepEqual(await rows(reference), [
        { id: capture.id, state: 'unknown', seq: 1, events: 1n },
      ])
      assert.deepEqual(unwritten(), [])
      await run.gateway.payments.refund(capture.id, eur('1.00')).catch(() => {})
      assert.equal((await balanceOf(run, id)).capturing, 0n)
    })
  }

  test('nothing is sent without a database, and an answer in hand is written afterwards', async () => {
    const begun = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const kept = run.debit('kept-outcome', {
      debit: async (operation: Operation, context: Context) => {
        context.sending()
        begun.resolve()
        await go.promise
        return approvedAs(operation)
      },
    })
    await begun.promise
    line.down()
    go.resolve()
    const refused = run.debit('no-database')
    await assert.rejects(refused, { status: 503, code: '999.999.888' })
    assert.deepEqual(run.acquirer.of('no-database'), [])
    const answer = await kept
    assert.equal(answer.result.code, undecided, 'open, with its id')
    line.up()
    const [row] = await until(async () => {
      const found = await rows('kept-outcome')
      return found[0]?.state === 'approved' ? found : undefined
    })
    assert.equal(row?.id, answer.id)
    assert.deepEqual(run.acquirer.of('kept-outcome'), ['debit'])
    assert.deepEqual(await rows('no-database'), [])
  })
})

/** A handler that calls `sending()` before it answers. */
function sent(
  answer: () =>
    | ReturnType<typeof declined>
    | ReturnType<typeof pending>
    | ReturnType<typeof unknown>,
) {
  return (_: Operation, context: Context) => {
    context.sending()
    return answer()
  }
}
