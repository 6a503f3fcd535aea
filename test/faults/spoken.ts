/** The acquirer's own messages and their effects: a run without them proves nothing. */
import type { Sql } from '../rig/installation/ground.ts'

const statement = `
select 'genuine messages' as what, count(*) from oracle.message
union all select 'against what was answered', count(*) from oracle.contradiction
union all select 'failures of what counted as done', count(*) from oracle.failure
union all select 'chargebacks', count(*) from oracle.fact where kind = 'chargeback'
union all select 'reversals of chargebacks', count(*) from oracle.fact where kind = 'reversal'
union all select 'ids used again', count(*) from oracle.repeated
union all select 'refunds that had to wait, ' || coalesce(code, 'not answered'), count(*)
  from oracle.try where asks = 'waits' group by code
union all select 'audited: ' || action, count(*) from tollgate.audit
  where action like 'late-success%' or action in ('payment.kept', 'payment.settled', 'attention.resolved') group by action
union all select 'listed: ' || kind, count(*) from tollgate.attention group by kind
union all select 'late successes that stand', count(*) from tollgate.attempt where state = 'late'
union all select 'balances beyond their limit', count(*) from tollgate.payment_balance where excess > 0`

export async function spokenOf(sql: Sql): Promise<string> {
  const rows = await sql<{ what: string; count: bigint }>(statement)
  return `the acquirer said: ${rows.map(({ what, count }) => `${what} ${count}`).join(', ')}`
}
