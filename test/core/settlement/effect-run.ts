/** Payments whose settlement lines take effect, and the books of each. */
import assert from 'node:assert/strict'
import { newId } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type LateRun, startLate, type Variants } from '../../rig/late-words.ts'
import {
  type Cells,
  sampleSettlement,
  settled,
  settlementFile,
  streamed,
} from '../../rig/settlement.ts'

export type Books = {
  readonly state: string
  readonly isFinal: boolean
  readonly events: readonly string[]
  readonly listed: readonly string[]
  /** Amounts of chargebacks and of their reversals. */
  readonly disputes: readonly string[]
  readonly effects: readonly string[]
}

/** The day of the institute, whose clock is ahead of UTC: late in the evening it is tomorrow. */
export const today = () => new Date(Date.now() + 2 * 3_600_000).toISOString().slice(0, 10)
export const line = (id: string, more: Cells = {}): Cells =>
  settled({ id: newId(), date: today(), paymentId: id, ...more })
export const chargeback = (id: string, more: Cells = {}): Cells =>
  line(id, { type: 'CHARGEBACK', cashflow: 'NEG', reason: '000.100.203', ...more })
export const reversal = (id: string, more: Cells = {}): Cells =>
  line(id, { type: 'CHARGEBACK REVERSAL', cashflow: 'POS', ...more })

export type EffectRun = Awaited<ReturnType<typeof startEffects>>

/** @param change Other abilities of the acquirer with the files. */
export async function startEffects(
  change: Variants[string] = (connector) => connector,
  options: Parameters<typeof startLate>[1] = {},
) {
  const run = await startLate(
    {
      settling: (connector) => ({
        ...change(connector),
        settlement: { ...sampleSettlement, merchantOf: () => 'MID-00001' },
      }),
    },
    options,
  )
  const [row] = await run.sql<{ id: string }>(
    "select replace(id::text, '-', '') as id from tollgate.merchant_account where connector = 'settling'",
  )
  const account = row!.id
  const debit = async (script: Parameters<LateRun['debit']>[1] = {}, fields: object = {}) => {
    const { id } = await run.debit(`order-${newId()}`, script, { ...run.at('settling'), ...fields })
    return id
  }
  async function imported(lines: readonly Cells[]): Promise<string> {
    const bytes = settlementFile(lines, { reference: newId() })
    return (await run.gateway.settlement.import(streamed(bytes), { accountId: account })).id
  }
  const finished = (fileId: string) =>
    until(async () => {
      const [row] = await run.sql<{ state: string; refused_why: string | null }>(
        'select state, refused_why from tollgate.settlement_file where id = $1',
        [fileId],
      )
      assert.equal(row!.refused_why, null)
      return row!.state === 'done' ? fileId : undefined
    })
  const file = async (...lines: readonly Cells[]) => finished(await imported(lines))

  async function booksOf(id: string): Promise<Books> {
    const [row] = await run.sql<{
      state: string
      final_by: string | null
      effects: string[]
      disputes: string[]
    }>(
      `select state, final_by, array(
           select record.effect || case when record.discrepancies = '{}' then ''
             else ' ' || array_to_string(record.discrepancies, ' ') end
           from tollgate.settlement_record as record where record.named_payment = payment.id order by 1) as effects,
         array(
           select kind || ' ' || minor || ' ' || counted from tollgate.chargeback
           where payment_id = payment.id order by kind, minor) as disputes
       from tollgate.payment where id = $1`,
      [id],
    )
    const events = await run.sql<{ type: string }>(
      'select type from tollgate.event where resource = $1 order by seq',
      [id],
    )
    return {
      state: row!.state,
      isFinal: row!.final_by === null,
      events: events.map(({ type }) => type),
      listed: (await run.kinds(id)).toSorted(),
      disputes: row!.disputes,
      effects: row!.effects,
    }
  }
  const settledSum = async (id: string) => {
    const [row] = await run.sql<{ minor: bigint }>(
      'select coalesce(sum(allocated_minor), 0)::bigint as minor from tollgate.settlement_match where payment_id = $1',
      [id],
    )
    return row!.minor
  }
  const makeDue = () =>
    run.sql(`with record as (
        update tollgate.settlement_record set effect_after = null where effect = 'open')
      update tollgate.timer set due_at = now() where kind = 'settlement-effect'`)

  return {
    ...run,
    close: () => closeChecked(run),
    ...{ pay: debit, imported, finished, file, booksOf, settledSum, makeDue },
  }
}
