/** Refused two-step sales: answers match the records, and nothing more is sent. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onFaultPoint } from '../../core/index.ts'
import { approvedAs } from '../rig/acquirer.ts'
import { closeChecked } from '../rig/books.ts'
import { card, until } from '../rig/gateway.ts'
import {
  accept,
  charged,
  failure,
  heldCall,
  type LateRun,
  noMoney,
  refuse,
  startLate,
} from '../rig/late-words.ts'

const refusedCapture = '700.400.100'

describe('two-step sales that are refused', () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(async () => {
    onFaultPoint(undefined)
    await closeChecked(run)
  })

  const keyed = (reference: string, idempotencyKey: string) =>
    run.gateway.payments.create(
      {
        ...card('4200000000000000'),
        testMode: 'EXTERNAL',
        entityId: run.channel,
        merchantTransactionId: reference,
        paymentType: 'PA.CP',
      } as never,
      { idempotencyKey },
    )

  test('a repeat returns the approved capture, also when its authorisation failed since', async () => {
    run.acquirer.tell('refused-repeat', { authorize: accept })
    const first = await keyed('refused-repeat', 'repeat-1')
    assert.equal(first.result.code, charged)
    assert.equal(await run.tell(first.referencedId as string, { outcome: failure }), 'settled')
    const again = await keyed('refused-repeat', 'repeat-1')
    assert.deepEqual([again.id, again.result.code], [first.id, charged])
    assert.equal((await run.gateway.payments.get(first.id)).result.code, charged)
  })

  test('a repeat whose next step fails returns the existing capture', async () => {
    const call = heldCall()
    run.acquirer.tell('refused-reread', { capture: call.handler })
    const first = keyed('refused-reread', 'repeat-2')
    const { paymentId } = await call.begun
    call.answer(approvedAs(await call.begun))
    assert.equal((await first).result.code, charged)
    // The timer of the sale cannot be ended, so the step throws after the capture was read.
    await run.sql(
      `create function tollgate.stuck_timer() returns trigger language plpgsql as
         $$ begin raise 'stuck'; end $$`,
    )
    await run.sql(
      `insert into tollgate.timer (id, due_at, kind, ref)
       select gen_random_uuid(), now() + interval '1 hour', 'continue', replace(referenced_id::text, '-', '')
       from tollgate.payment where id = $1`,
      [paymentId],
    )
    await run.sql(
      `create trigger stuck before delete on tollgate.timer for each row
       when (old.kind = 'continue') execute function tollgate.stuck_timer()`,
    )
    const again = await keyed('refused-reread', 'repeat-2').finally(async () => {
      await run.sql('drop trigger stuck on tollgate.timer')
      await run.sql('drop function tollgate.stuck_timer()')
    })
    assert.equal(again.result.code, charged)
  })

  test('a process that dies at the record of a refused capture leaves it declined and never sent', async () => {
    const approvedFirst = Promise.withResolvers<string>()
    const goOn = Promise.withResolvers<void>()
    let died = 0
    onFaultPoint((point, ref) => {
      if (point === 'after-T2' && died === 0) {
        died = 1
        approvedFirst.resolve(ref)
        return goOn.promise
      }
      // Any settlement after the record was written fails.
      if (point === 'before-T2' && died === 2) throw new Error('died')
      return undefined
    })
    const sale = run.debit('refused-death', { authorize: accept }, { paymentType: 'PA.CP' })
    const authorisation = await approvedFirst.promise
    assert.equal(await run.tell(authorisation, { outcome: failure }), 'settled')
    died = 2
    goOn.resolve()
    const { id, result } = await sale
    onFaultPoint(undefined)
    assert.equal(result.code, refusedCapture)
    const [row] = await run.sql<{ state: string; attempt: string; lease_until: Date | null }>(
      `select payment.state, attempt.state as attempt, lease_until from tollgate.payment
       join tollgate.attempt on attempt.key = payment.attempt_key where payment.id = $1`,
      [id],
    )
    assert.deepEqual(row, { state: 'declined', attempt: 'not-sent', lease_until: null })
    const events = await run.sql('select type, seq, data from tollgate.event where resource = $1', [
      id,
    ])
    const data = { paymentType: 'CP', state: 'declined', code: refusedCapture }
    assert.deepEqual(events, [{ type: 'payment.declined', seq: 1, data }])
    await run.age(id)
    await until(async () => {
      await run.dueNow(authorisation)
      return (await run.timers(authorisation)).length === 0 ? true : undefined
    })
    assert.deepEqual(run.acquirer.of('refused-death'), ['authorize'])
    assert.equal(await run.code(id), refusedCapture)
  })

  test('an authorisation whose merchant reversed a final part first is left to operators', async () => {
    const declinedNow = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    let decided = 0
    onFaultPoint((point) => {
      if (point !== 'after-T2') return undefined
      decided += 1
      if (decided !== 2) return undefined
      onFaultPoint(undefined)
      declinedNow.resolve()
      return goOn.promise
    })
    const sale = run.debit('refused-final', { capture: refuse }, { paymentType: 'PA.CP' })
    await declinedNow.promise
    const [row] = await run.sql<{ id: string }>(
      `select replace(id::text, '-', '') as id from tollgate.payment
       where payment_type = 'PA' and merchant_transaction_id = 'refused-final'`,
    )
    const authorisation = row!.id
    const final = { amount: '10.00', currency: 'EUR', sequence: 'FINAL' }
    const part = await run.follow(authorisation, 'RV', 'refused-final-part', final)
    assert.equal(part.result.code, charged)
    goOn.resolve()
    assert.equal((await sale).result.code, noMoney)
    await until(async () => {
      await run.dueNow(authorisation)
      return (await run.timers(authorisation)).length === 0 ? true : undefined
    })
    const entry = (await run.listed(authorisation)).find(({ kind }) => kind === 'unreversed')
    assert.equal(entry?.open, true)
    assert.match(String(entry.detail.why), /refuses the reversal/)
  })
})
