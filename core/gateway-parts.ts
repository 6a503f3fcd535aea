/** The parts of a gateway at its start. */
import type { AuditTrail } from './audit-chain/trail.ts'
import type { RequestOptions } from './caller/embedder.ts'
import type { PluginPages } from './connector/plugin-pages.ts'
import type { Database } from './db/database.ts'
import type { Engine } from './engine.ts'
import type { Entities } from './entity/entities.ts'
import type { End } from './gateway-guard.ts'
import type { Dispatcher } from './jobs/dispatcher.ts'
import type { Accounts } from './merchant-account/accounts.ts'
import type { Operator } from './operator/operator.ts'
import type { OperatorAccounts } from './operator-access/api.ts'
import type { Leadership } from './process/leadership.ts'
import type { Presence } from './process/presence.ts'
import type { Queue } from './queue/queue.ts'
import type { StepsView } from './step/view.ts'

/** Reads the steps of a resource, or of one execution of a schedule. */
export type StepsOf = (id: string, options?: RequestOptions) => Promise<StepsView>

export type GatewayParts = {
  readonly engine: Engine
  readonly database: Database
  readonly queue: Queue
  readonly dispatcher: Dispatcher | undefined
  readonly outgoing: { close(): Promise<void> }
  readonly presence: Presence
  readonly leadership: Leadership
  readonly pages: PluginPages
  readonly entities: Entities
  readonly accounts: Accounts
  readonly people: (operator: Operator, audit: AuditTrail) => OperatorAccounts
  readonly graceMs: number
  /** Set once the gateway takes no more calls. */
  readonly end: End
  /** Ends the exporters of plugins. */
  readonly closeExporters: () => Promise<void>
}
