/** Reads the visible state of all payments of the cells at once. */
import type { AcquirerCall } from '../../../rig/acquirer.ts'
import { type Balance, sumNames } from './balances.ts'
import type { Play, Played } from './play.ts'
import type { Seen } from './rules.ts'

type Row = {
  id: string
  state: string
  result_code: string
  final_by: string | null
  events: bigint
  entries: readonly string[]
  beyond: string | null
}
type BalanceRow = { id: string } & { readonly [Name in keyof Balance]: never } & {
  is_closed: boolean
  is_frozen: boolean
}

const payments = `
select p.id, p.state, p.result_code, p.final_by,
  (select count(*) from tollgate.event e where e.resource = p.id) as events,
  coalesce((select array_agg(a.kind order by a.kind) from tollgate.attention a
    where a.payment_id = p.id and a.resolved_at is null), '{}') as entries,
  (select a.detail ->> 'beyondMinor' from tollgate.attention a
    where a.payment_id = p.id and a.resolved_at is null and a.kind = 'late-failure') as beyond
from tollgate.payment p
where p.id = any($1::uuid[])`

const balances = `
select payment_id as id, authorised, increasing, capturing, captured, reversing, reversed, refunding, refunded,
  captures, excess, closed_by is not null as is_closed, frozen_by <> '{}' as is_frozen
from tollgate.payment_balance
where payment_id = any($1::uuid[])`

export type Looked = Seen & {
  /** Counted since the payment was made. */
  readonly events: number
  /** The number of reversals requested from the acquirer. */
  readonly askedBack: number
}

/** In the order of the played cells. */
export async function look({ run }: Play, played: readonly Played[]): Promise<Looked[]> {
  const ids = played.flatMap(({ id, parentId, returnedId }) =>
    [id, parentId, returnedId].filter((one) => one !== null),
  )
  const rows = new Map((await run.sql<Row>(payments, [ids])).map((row) => [row.id, row]))
  const sums = new Map((await run.sql<BalanceRow>(balances, [ids])).map((row) => [row.id, row]))
  const asked = Map.groupBy(run.acquirer.calls, ({ reference }) => reference)
  return played.map((one) => {
    const row = rows.get(one.id)!
    const back = reversalsIn(asked.get(one.reference) ?? [], one).length
    return {
      state: row.state,
      code: row.result_code,
      mayFail: row.final_by !== null,
      events: Number(row.events),
      entries: row.entries,
      beyond: row.beyond === null ? null : Number(row.beyond) / one.unit,
      asksBack: back > 0,
      askedBack: back,
      own: balanceOf(sums.get(one.id), one.unit),
      parent: one.parentId === null ? null : balanceOf(sums.get(one.parentId), one.unit),
      returned: one.returnedId === null ? null : balanceOf(sums.get(one.returnedId), one.unit),
    }
  })
}

/** The reversals of the payment. Those of a sale that the engine takes back are no reversals of its reversal. */
function reversalsIn(calls: readonly AcquirerCall[], { cell }: Played): readonly AcquirerCall[] {
  const isUndo = cell.subject === 'undo'
  const isReversal = isUndo || calls[0]?.what === 'reverse'
  return calls.filter(
    ({ what, operation }) =>
      (what === 'reverseByKey' && (!isUndo || operation.kind === 'reverse')) ||
      (what === 'reverse' && !isReversal),
  )
}

function balanceOf(row: BalanceRow | undefined, unit: number): Balance | null {
  if (row === undefined) return null
  const sums = Object.fromEntries(
    sumNames.map((name) => [name, Number(row[name]) / (name === 'captures' ? 1 : unit)]),
  )
  return {
    ...(sums as Omit<Balance, 'excess' | 'isClosed' | 'isFrozen'>),
    excess: Number(row.excess) / unit,
    isClosed: row.is_closed,
    isFrozen: row.is_frozen,
  }
}
