/** Entries in the operators' API: names as `paymentId`, moments as ISO 8601 in UTC. */
import type { AttentionRow } from '../attention/store.ts'
import type { AuditRow } from '../audit/store-list.ts'
import { shownAmount } from '../money.ts'

export const attentionView = (row: AttentionRow) => ({
  id: row.id,
  kind: row.kind,
  paymentId: row.payment_id,
  attemptKey: row.attempt_key,
  at: row.at,
  alarmAt: row.alarm_at,
  detail: row.detail,
  amount:
    row.amount_minor === null || row.currency === null
      ? null
      : shownAmount(row.amount_minor, row.currency),
  currency: row.currency,
})

export const auditView = (row: AuditRow) => ({
  id: row.id,
  at: row.at,
  actorKind: row.actor_kind,
  actorId: row.actor_id,
  actor: row.actor,
  address: row.address,
  host: row.host,
  action: row.action,
  entityId: row.entity_id,
  resource: row.resource,
  before: row.before,
  after: row.after,
  detail: row.detail,
  link: row.link === null ? null : Number(row.link),
  mac: row.mac,
})
