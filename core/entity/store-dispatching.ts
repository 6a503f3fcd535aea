/** All SQL of dispatching rules. */
import type { Actor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'

export type RuleRow = {
  priority: number
  channel_id: string
  brands: string[] | null
  currencies: string[] | null
  payment_types: string[] | null
  countries: string[] | null
  channel_name: string
  channel_closed: boolean
  channel_settings: Record<string, unknown>
}

/** A merchant's rules in order, joined with its own channels: a rule can name no other channel. */
export const rulesOf = (merchantId: string) => sql<RuleRow>`
  select rule.priority, channel.id as channel_id, rule.brands, rule.currencies, rule."paymentTypes" as payment_types,
    rule.countries, channel.name as channel_name, channel.closed as channel_closed, channel.settings as channel_settings
  from tollgate.dispatching
  cross join lateral jsonb_to_recordset(dispatching.rules) as rule (priority integer, "channelId" uuid, brands jsonb,
    currencies jsonb, "paymentTypes" jsonb, countries jsonb)
  join tollgate.entity channel
    on channel.id = rule."channelId" and channel.parent_id = dispatching.merchant_id and channel.kind = 'channel'
  where dispatching.merchant_id = ${merchantId}::uuid
  order by rule.priority`

export const rulesVersion = (merchantId: string) => sql<{ version: number }>`
  select version from tollgate.dispatching where merchant_id = ${merchantId}::uuid`

export const channelsOf = (merchantId: string) => sql<{ id: string; name: string }>`
  select id, name
  from tollgate.entity
  where parent_id = ${merchantId}::uuid and kind = 'channel'
  order by created_at, id`

/** Replaces the rules of `version` (0: none before). Empty if another version is the present one. */
export const replaceRules = (change: {
  readonly merchantId: string
  readonly rules: string
  readonly version: number
  readonly by: Actor
  /** The rules of `version`, for the audit trail. */
  readonly before: readonly unknown[]
}) => sql<{ version: number }>`
with changed as (
  insert into tollgate.dispatching (merchant_id, rules)
  values (${change.merchantId}::uuid, ${change.rules}::jsonb)
  on conflict (merchant_id) do update
    set rules = excluded.rules, version = dispatching.version + 1, changed_at = now()
    where dispatching.version = ${change.version}::integer
  returning merchant_id, rules, version),
audited as (${auditRows(
  {
    actor: change.by,
    action: 'dispatching.changed',
    entityId: change.merchantId,
    resource: change.merchantId,
    before: { version: change.version, rules: change.before },
  },
  { from: sql`changed`, after: sql`jsonb_build_object('version', version, 'rules', rules)` },
)})
select version from changed`
