/** Whether a chargeback of a payment waits is found by index, however many payments, events and records are stored. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeAttention } from '../../../core/attention/store.ts'
import { newId } from '../../../core/index.ts'
import { hurryChargebacks, waitingChargeback } from '../../../core/payment/store-waiting-dispute.ts'
import { filesOfFailed } from '../../../core/settlement/store-effect.ts'
import { rowsTouched } from '../../rig/rows-touched.ts'
import { inScope } from '../../rig/scope.ts'
import { type EffectRun, line, startEffects } from '../settlement/effect-run.ts'

const tables = [
  'payment',
  'inbound_event',
  'attention',
  'settlement_record',
  'settlement_match',
] as const

/** Enough that a scan of a table shows; a long run takes as many as a busy merchant has. */
const rows = inScope(2_000, 20_000)

describe('the statements about chargebacks that wait', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  const filled = async () => {
    const id = await run.pay()
    await run.file(line(id))
    const events = `insert into tollgate.inbound_event (connector, account, event_id, claim, processed_at, outcome)
      select 'settling', 'none', 'filled-' || no, jsonb_build_object('key', 'filled-' || no, 'verified', true,
        'outcome', jsonb_build_object('is', 'chargeback')), now(), case when no % 20 = 0 then 'quarantined' else 'recorded' end
      from generate_series(1, ${rows}) as no`
    const entries = `insert into tollgate.attention (id, kind, payment_id, reference, detail, entity_id)
      select gen_random_uuid(), 'event', case when no % 2 = 0 then gen_random_uuid() end, 'filled-' || no, '{}',
        (select channel_id from tollgate.payment where id = $1)
      from generate_series(1, ${rows}) as no`
    const payments = `insert into tollgate.payment
      select (jsonb_populate_record(payment, jsonb_build_object('id', made.id, 'root_id', made.id,
        'short_no', short_no + made.no, 'attempt_key', 'filled-' || made.no, 'referenced_id', gen_random_uuid(),
        'effect', 'verification'))).*
      from tollgate.payment, (
        -- In the month of the payment.
        select no, (left($1::text, 12) || right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid as id
        from generate_series(1, ${rows}) as no) as made
      where payment.id = $1::text::uuid`
    const records = `with made as (
        insert into tollgate.settlement_record
        select (jsonb_populate_record(record, jsonb_build_object('id', gen_random_uuid(), 'key', gen_random_uuid(),
          'settlement_id', 'filled-' || no))).*
        from tollgate.settlement_record as record, generate_series(1, ${rows}) as no
        where record.named_payment = $1
        returning id)
      insert into tollgate.settlement_match (payment_id, record_id, tier, allocated_minor, is_final)
      select gen_random_uuid(), id, 'payment-id', 0, true
      from made`
    await run.sql(events)
    for (const statement of [entries, payments, records]) await run.sql(statement, [id])
    return id
  }

  test('touch few rows', async () => {
    const id = await filled()
    const person = { kind: 'operator', id: 'alice' } as never
    const statements = {
      waitingChargeback: waitingChargeback(id),
      hurryChargebacks: hurryChargebacks('settling', id),
      filesOfFailed: filesOfFailed([newId()]),
      closeAttention: closeAttention(newId(), person, { id: newId(), detail: {} }),
    }
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await run.sql(`analyze ${tables.map((name) => `tollgate.${name}`).join()}`)
      for (const [name, statement] of Object.entries(statements)) {
        const touched = await rowsTouched(run.database.url, statement, tables)
        assert.ok(touched < 50, `${name}, analysed: ${isAnalysed}: ${touched} rows`)
      }
    }
    await run.sql("delete from tollgate.payment where effect = 'verification'")
  })
})
