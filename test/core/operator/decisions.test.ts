import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { declined, type Operation, type Outcome, pending, unknown } from '@tollgate/plugin-kit'
import { type Gateway, GatewayError, systemClock } from '../../../core/index.ts'
import {
  type AcquirerRun,
  approvedAs,
  message,
  type Script,
  scriptedAcquirer,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { card, until } from '../../rig/gateway.ts'
import { charged, eur, lose, refusedFor, undecided } from '../../rig/late-words.ts'

const byHand = '900.100.300'
const alice = { by: 'Alice', reason: 'seen in the acquirer’s back office' }

const silent = () => unknown('the acquirer is down')
/** The request got out, the answer did not come, and nobody knows anything. */
const silence: Script = { debit: lose, enquire: silent, reverseByKey: silent }

describe("operators' decisions", () => {
  let run: AcquirerRun
  let other: Gateway
  before(async () => {
    run = await startWithAcquirer({ pool: {}, connectorTimeoutMs: 1_000 })
    other = await run.another({ plugins: [run.acquirer.plugin], connectorTimeoutMs: 1_000 })
  })
  after(() => closeChecked(run))

  const stateOf = async (id: string) => {
    const [row] = await run.sql<{ state: string; result_code: string }>(
      'select state, result_code from tollgate.payment where id = $1',
      [id],
    )
    return `${row?.state} ${row?.result_code}`
  }
  const audit = (id: string) =>
    run.sql<{ actor: string; action: string; detail: { reason?: string; as?: string } }>(
      'select actor, action, detail from tollgate.audit where resource = $1 order by at, id',
      [id],
    )
  const settlings = async (id: string) =>
    (await audit(id)).filter(({ action }) => action === 'payment.settled')
  const events = async (id: string) =>
    (
      await run.sql<{ type: string }>(
        'select type from tollgate.event where resource = $1 order by seq',
        [id],
      )
    ).map(({ type }) => type)
  const attention = (id: string) =>
    run.sql<{ id: string; kind: string; resolved_by: string | null }>(
      'select id, kind, resolved_by from tollgate.attention where payment_id = $1 order by at',
      [id],
    )
  /** An undecided debit after one enquiry. */
  const stuck = async (reference: string, script: Script = {}) => {
    const answer = await run.debit(reference, { ...silence, ...script })
    assert.equal(answer.result.code, undecided)
    await run.gateway.operator.enquire(answer.id, alice)
    assert.equal(await stateOf(answer.id), `unknown ${undecided}`)
    return answer.id
  }

  test('an approval books sums, event and audit in one commit and sends nothing', async () => {
    const id = await stuck('by-hand-approved')
    const before = run.acquirer.of('by-hand-approved')
    const { state, resultCode } = await run.gateway.operator.settle(id, 'approved', alice)
    assert.deepEqual([state, resultCode], ['approved', charged])
    assert.equal((await run.gateway.payments.get(id)).result.code, charged)
    assert.equal((await balanceOf(run, id)).captured, 9200n)
    assert.deepEqual(await settlings(id), [
      {
        actor: 'Alice',
        action: 'payment.settled',
        detail: { reason: alice.reason, as: 'approved', lease: 3 },
      },
    ])
    assert.equal((await events(id)).at(-1), 'payment.approved')
    const [entry] = await attention(id)
    assert.deepEqual([entry?.kind, entry?.resolved_by], ['undecided', 'Alice'])
    assert.deepEqual(run.acquirer.of('by-hand-approved'), before)
    const refund = await run.gateway.payments.refund(id, eur('92.00'))
    assert.equal(refund.result.code, charged, 'the payment is an ordinary one from then on')
  })

  test('decisions find a payment by what inspect finds, and refuse several payments of an order', async () => {
    const id = await stuck('by-order')
    const { operator, payments } = run.gateway
    const { shortId, merchantTransactionId } = await payments.get(id)
    const [row] = await run.sql<{ attempt_key: string }>(
      'select attempt_key from tollgate.payment where id = $1',
      [id],
    )
    for (const name of [shortId, merchantTransactionId as string, row!.attempt_key]) {
      assert.match((await operator.enquire(name, alice)).text, /still open$/)
    }
    assert.deepEqual(await operator.redrive(shortId, alice), { text: 'queued for the next worker' })
    const second = await stuck('by-order')
    await assert.rejects(operator.settle('by-order', 'approved', alice), (error) => {
      assert.ok(error instanceof GatewayError && error.code === '700.400.570')
      return error.message.includes(id) && error.message.includes(second)
    })
    await until(async () => {
      const settling = operator.settle(shortId, 'declined', alice)
      return (await settling.catch(() => undefined))?.state === 'declined' || undefined
    })
  })

  test('a decline has the code of an unproven payment and erases the number', async () => {
    const id = await stuck('by-hand-declined')
    await run.gateway.operator.settle(id, 'declined', alice)
    assert.equal(await stateOf(id), `declined ${byHand}`)
    for (const table of ['instrument', 'payment_balance']) {
      const column = table === 'instrument' ? 'id' : 'payment_id'
      const rows = await run.sql(`select 1 from tollgate.${table} where ${column} = $1`, [id])
      assert.deepEqual(rows, [], table)
    }
  })

  test('an approved capture takes its reservation, a declined one returns it', async () => {
    const paid = await run.debit(
      'by-hand-capture',
      { authorize: approvedAs },
      { paymentType: 'PA' },
    )
    run.acquirer.tell('by-hand-capture', { capture: lose, enquire: silent, reverseByKey: silent })
    const stuckCapture = async () => {
      const fields = { ...eur('40.00'), merchantTransactionId: 'by-hand-capture' }
      const { id, result } = await run.gateway.payments.capture(paid.id, fields)
      assert.equal(result.code, undecided)
      await run.gateway.operator.enquire(id, alice)
      return id
    }
    const first = await stuckCapture()
    const second = await stuckCapture()
    assert.equal((await balanceOf(run, paid.id)).capturing, 8000n)
    await run.gateway.operator.settle(first, 'approved', alice)
    await run.gateway.operator.settle(second, 'declined', alice)
    const { capturing, captured, captures } = await balanceOf(run, paid.id)
    assert.deepEqual([capturing, captured, captures], [0n, 4000n, 1])
  })

  test('of two contradicting operators one decides, and the other is told', async () => {
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, index) => stuck(`at-once-${index}`)),
    )
    await Promise.all(
      ids.map(async (id) => {
        const told = await Promise.allSettled([
          run.gateway.operator.settle(id, 'approved', { ...alice, by: 'Alice' }),
          other.operator.settle(id, 'declined', { ...alice, by: 'Bob' }),
          run.gateway.operator.settle(id, 'declined', { ...alice, by: 'Carol' }),
          other.operator.settle(id, 'approved', { ...alice, by: 'Dave' }),
        ])
        const won = told.filter(({ status }) => status === 'fulfilled')
        assert.equal(won.length, 1, 'one decision')
        for (const one of told) {
          if (one.status === 'rejected')
            refusedFor(/works on this payment now|became \w+ meanwhile|a decision is final/)(
              one.reason,
            )
        }
        const records = await settlings(id)
        assert.equal(records.length, 1, 'one audit record, of the decision')
        assert.match(await stateOf(id), new RegExp(`^${records[0]?.detail.as} `))
        const decided = (await events(id)).filter((type) => /approved|declined/.test(type))
        assert.deepEqual(decided, [`payment.${records[0]?.detail.as}`])
        const balances = await run.sql(
          'select 1 from tollgate.payment_balance where payment_id = $1',
          [id],
        )
        assert.equal(balances.length, records[0]?.detail.as === 'approved' ? 1 : 0)
      }),
    )
  })

  test('of an answer and a simultaneous decline one decides, and all money stays accounted for', async () => {
    const calls = Array.from({ length: 12 }, (_, index) => {
      const told = Promise.withResolvers<Outcome>()
      return {
        reference: `late-${index}-answer`,
        told,
        operation: undefined as Operation | undefined,
      }
    })
    const ids = await Promise.all(
      calls.map(async (call) => {
        const script: Script = {
          debit: (operation, context) => {
            context.sending()
            call.operation = operation
            return call.told.promise
          },
          enquire: silent,
        }
        const { id, result } = await run.debit(call.reference, script)
        assert.equal(result.code, undecided)
        await run.gateway.operator.enquire(id, alice)
        return id
      }),
    )
    await Promise.all(
      ids.map(async (id, index) => {
        const call = calls[index]!
        const decision = other.operator.settle(id, 'declined', alice)
        if (index % 2 === 0)
          await Promise.race([decision.catch(() => {}), new Promise(setImmediate)])
        call.told.resolve(approvedAs(call.operation!))
        const isDecided = await decision.then(
          () => true,
          (error) =>
            !refusedFor(/works on this payment now|became \w+ meanwhile|a decision is final/)(
              error,
            ),
        )
        if (!isDecided) {
          // Each may have found the lease taken; then an enquiry brings the answer.
          run.acquirer.tell(call.reference, { enquire: approvedAs })
          const state = await until(async () => {
            await run.gateway.operator.enquire(id, alice).catch(() => {})
            const now = await stateOf(id)
            return now.startsWith('unknown') ? undefined : now
          })
          assert.equal(state, `approved ${charged}`, 'the answer decided')
          assert.deepEqual(await settlings(id), [])
          return
        }
        assert.equal(await stateOf(id), `declined ${byHand}`)
        // The acquirer's answer now proves money on a declined payment: reversed, on record.
        await until(async () =>
          (await audit(id)).some(({ action }) => action === 'late-success-reversed')
            ? true
            : undefined,
        )
        assert.ok(run.acquirer.of(call.reference).includes('reverseByKey'))
        assert.equal(await stateOf(id), `declined ${byHand}`)
      }),
    )
  })

  test('decided, pending and unsent payments take no decision', async () => {
    const { settle } = run.gateway.operator
    const approved = await run.debit('decided-approved', {})
    await assert.rejects(
      settle(approved.id, 'declined', alice),
      refusedFor(/is approved already, and a decision is final/),
    )
    const refused = await run.debit('decided-declined', { debit: () => declined('800.100.155') })
    await assert.rejects(settle(refused.id, 'approved', alice), refusedFor(/is declined/))
    const redirect = { redirect: { url: 'https://bank.example/3ds' } }
    const open = await run.debit('decided-pending', { debit: () => pending(redirect) })
    await assert.rejects(settle(open.id, 'approved', alice), refusedFor(/pending/))
    const unasked = await run.debit('decided-unasked', silence)
    await assert.rejects(settle(unasked.id, 'approved', alice), refusedFor(/was not asked yet/))
    for (const { id } of [approved, refused, open, unasked])
      assert.deepEqual(await settlings(id), [])
  })

  test('an unprocessed message of the acquirer precedes a decision', async () => {
    const id = await stuck('word-waits')
    const key = await run.keyOf(id)
    await run.sql('begin')
    await run.sql('select 1 from tollgate.attempt where key = $1 for update', [key])
    // The event is stored, and its job waits for the row locked here.
    const told = message({ eventId: 'word-1', key, outcome: { is: 'approved', refs: { a: 'b' } } })
    await run.gateway.inbound(scriptedName, run.account, told)
    await assert.rejects(
      run.gateway.operator.settle(id, 'declined', alice),
      refusedFor(/not processed yet \(event word-1\)/),
    )
    await run.sql('commit')
    await until(async () => ((await stateOf(id)) === `approved ${charged}` ? true : undefined))
  })

  test('a call under way blocks questions and decisions, even when a clock is wrong', async () => {
    const told = Promise.withResolvers<Outcome>()
    const begun = Promise.withResolvers<Operation>()
    run.acquirer.tell('under-way', {
      debit: (operation, context) => {
        context.sending()
        begun.resolve(operation)
        return told.promise
      },
      enquire: silent,
    })
    // Its call and its lease last longer than the test, however busy the machine is.
    const patient = await run.another({
      plugins: [run.acquirer.plugin],
      role: 'api',
      connectorTimeoutMs: 60_000,
    })
    const answered = patient.payments.create({
      ...card('4200000000000000'),
      testMode: 'EXTERNAL',
      entityId: run.channel,
      merchantTransactionId: 'under-way',
    } as never)
    const { paymentId } = await begun.promise
    // This process takes every lease for expired; the database decides.
    const hasty = await run.another({
      plugins: [run.acquirer.plugin],
      role: 'api',
      clock: { ...systemClock, realMs: () => systemClock.realMs() + 3_600_000 },
    })
    for (const gateway of [run.gateway, hasty]) {
      await assert.rejects(
        gateway.operator.enquire(paymentId, alice),
        refusedFor(/works on this payment now/),
      )
      await assert.rejects(
        gateway.operator.settle(paymentId, 'declined', alice),
        refusedFor(/works on this payment now|was not asked yet/),
      )
    }
    await run.sql('update tollgate.attempt set enquiries = 1 where payment_id = $1', [paymentId])
    await assert.rejects(
      hasty.operator.settle(paymentId, 'declined', alice),
      refusedFor(/works on this payment now/),
    )
    assert.deepEqual(run.acquirer.of('under-way'), ['debit'], 'no question preceded the answer')
    told.resolve(approvedAs(await begun.promise))
    assert.equal((await answered).result.code, charged)
    assert.deepEqual(await settlings(paymentId), [])
  })

  test("a question settles the payment with the acquirer's answer", async () => {
    const { id } = await run.debit('asked-approved', { ...silence, enquire: approvedAs })
    const { state } = await run.gateway.operator.enquire(id, alice)
    assert.equal(state, 'approved')
    assert.equal(await stateOf(id), `approved ${charged}`)
    const [record] = await audit(id)
    assert.deepEqual([record?.actor, record?.action], ['Alice', 'payment.enquired'])
  })

  test('a question that finds nothing neither repeats nor reverses the payment', async () => {
    const script: Script = { ...silence, enquire: () => ({ is: 'notFound' }), refund: lose }
    const { id } = await run.debit('asked-nothing', script)
    await run.sql(
      `update tollgate.attempt set sent_at = now() - interval '1 hour' where payment_id = $1`,
      [id],
    )
    const { state, text } = await run.gateway.operator.enquire(id, alice)
    assert.equal(state, 'unknown', text)
    assert.deepEqual(run.acquirer.of('asked-nothing'), ['debit', 'enquire'])
  })

  test('a question about a pending payment that finds nothing leaves its shopper undisturbed', async () => {
    const redirect = { redirect: { url: 'https://bank.example/3ds' } }
    const { id } = await run.debit('asked-pending', { ...silence, debit: () => pending(redirect) })
    assert.equal((await run.gateway.operator.enquire(id, alice)).state, 'pending')
    const { redirect: shown } = await run.gateway.payments.get(id)
    assert.deepEqual(shown, redirect.redirect)
    const timers = await run.sql<{ kind: string }>(
      'select kind from tollgate.timer where ref = $1 order by kind',
      [await run.keyOf(id)],
    )
    assert.deepEqual(
      timers.map(({ kind }) => kind),
      ['expire', 'look'],
    )
  })

  test('a decision about the authorisation of a two-step sale is followed by its capture', async () => {
    const script: Script = { authorize: lose, enquire: silent, reverseByKey: silent }
    const answer = await run.debit('two-steps-hand', script, { paymentType: 'PA.CP' })
    const { id, result, referencedId: authorisation } = answer
    assert.equal(result.code, undecided)
    await run.gateway.operator.enquire(id, alice)
    await run.gateway.operator.settle(id, 'approved', alice)
    const capture = await until(async () => {
      const [row] = await run.sql<{ state: string }>(
        'select state from tollgate.payment where id = $1',
        [id],
      )
      return row?.state === 'approved' ? row : undefined
    })
    assert.equal(capture.state, 'approved')
    assert.equal((await balanceOf(run, authorisation as string)).captured, 9200n)
  })

  test('a payment without its connector can be decided', async () => {
    const id = await stuck('connector-gone')
    const without = await run.another({ plugins: [], role: 'api' })
    await without.operator.settle(id, 'approved', alice)
    assert.equal(await stateOf(id), `approved ${charged}`)
  })

  test('a decision needs a name and a reason, and card numbers in them are masked', async () => {
    const id = await stuck('words-needed')
    for (const wrong of [{ by: ' ' }, { reason: '' }, { reason: 'x'.repeat(1001) }]) {
      await assert.rejects(
        run.gateway.operator.settle(id, 'approved', { ...alice, ...wrong }),
        (error) => error instanceof GatewayError && error.code === '200.300.404',
      )
    }
    await run.gateway.operator.settle(id, 'approved', {
      by: 'Alice',
      reason: 'card 4200 0000 0000 0000 was charged',
    })
    const [record] = await settlings(id)
    assert.equal(record?.detail.reason, 'card **** **** **** 0000 was charged')
  })

  test('an operator closes an entry on record, but not while its payment is open', async () => {
    const { operator } = run.gateway
    const id = await stuck('list-open')
    const [entry] = await attention(id)
    await assert.rejects(operator.resolve(entry!.id, alice), refusedFor(/Decide it first/))
    await operator.settle(id, 'approved', alice)
    await run.sql(
      `insert into tollgate.attention (id, kind, payment_id, detail)
       values (gen_random_uuid(), 'conflict', $1, '{}')`,
      [id],
    )
    const conflict = (await attention(id)).find(({ kind }) => kind === 'conflict')!
    const both = await Promise.allSettled([
      operator.resolve(conflict.id, alice),
      other.operator.resolve(conflict.id, { ...alice, by: 'Bob' }),
    ])
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const records = (await audit(id)).filter(({ action }) => action === 'attention.resolved')
    assert.equal(records.length, 1)
    const after = (await attention(id)).find(({ kind }) => kind === 'conflict')
    assert.equal(after?.resolved_by, records[0]?.actor)
    await assert.rejects(operator.resolve('0'.repeat(32), alice), { status: 404 })
  })
})

describe('work that exhausted its tries', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer({ pool: {}, role: 'api', acquirer: scriptedAcquirer() })
  })
  after(() => closeChecked(run))

  test("exhausted work is queued again on record, and the worker's enquiry decides", async () => {
    const { operator } = run.gateway
    const { id } = await run.debit('dead-job-1', { ...silence, enquire: approvedAs })
    const key = await run.keyOf(id)
    await operator.redrive(id, alice)
    await operator.redrive(id, { ...alice, by: 'Bob' })
    const queued = await run.sql<{ state: string }>(
      `select state::text from tollgate_boss.job where name = 'charge' and singleton_key = $1`,
      [key],
    )
    assert.equal(queued.length, 1, 'at most one waiting job for a payment')
    await run.sql(`update tollgate_boss.job set retry_limit = 0 where name = 'charge'`)
    // A worker without the connector fails permanently.
    const broken = await run.another({ plugins: [], role: 'worker' })
    const dead = () =>
      run.sql(`select 1 from tollgate_boss.job where name = 'charge-dead' and data @> $1`, [
        JSON.stringify({ attemptKey: key }),
      ])
    await until(async () => ((await dead()).length > 0 ? true : undefined))
    await broken.close()
    const steps = await run.gateway.payments.steps(id)
    const job = steps.steps.find(({ name, outcome }) => name === 'job' && outcome === 'dead')
    assert.match(job?.text ?? '', /ran out of tries; tollgate payment redrive/)

    assert.match((await operator.redrive(id, alice)).text, /replaces 1 job /)
    assert.deepEqual(await dead(), [])
    await run.another({ plugins: [run.acquirer.plugin], role: 'worker' })
    const after = await until(async () => {
      const { result } = await run.gateway.payments.get(id)
      return result.code === charged ? result : undefined
    })
    assert.equal(after.code, charged)
    assert.deepEqual(
      run.acquirer.of('dead-job-1'),
      ['debit', 'enquire'],
      'the money was asked for once',
    )
    await assert.rejects(operator.redrive(id, alice), refusedFor(/no work is left/))
  })
})
