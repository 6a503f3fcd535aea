/** The parts of an engine that hold connections, and the end of each. */

import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { marked } from './audit/alarm.ts'
import type { CheckedOptions } from './check-options.ts'
import { type Clock, systemClock } from './clock.ts'
import { connectorRules, mayReachLoopback } from './connector/reach.ts'
import { Database } from './db/database.ts'
import { Lanes } from './db/lanes.ts'
import { type AddressRules, addressRules } from './net/address.ts'
import { createOutgoing, type Outgoing } from './net/http.ts'
import { Queue } from './queue/queue.ts'

const silent: Log = { info() {}, warn() {} }

export type Resources = {
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  readonly securityLog: Log
  readonly database: Database
  readonly lanes: Lanes
  readonly queue: Queue
  /** Whether this process runs jobs. */
  readonly isWorker: boolean
  /** Requests to acquirers. */
  readonly outgoing: Outgoing
  /** Requests to the URLs of merchants: webhooks and `notificationUrl`. */
  readonly toMerchants: Outgoing
  readonly merchantUrlRules: AddressRules
  readonly connectorRules: AddressRules
  /** Whether merchants see the responses of their URLs. */
  readonly showsAnswers: boolean
}

/** Makes the resources. None of them connects before its first use. */
export function openResources(options: CheckedOptions): Resources {
  const { environment } = options
  const name = options.name ?? 'tollgate'
  const clock = options.clock ?? systemClock
  const log = options.log ?? silent
  const database = new Database(options.database, log)
  const lanes = new Lanes(database, options.database.pool ?? {})
  const isWorker = options.role !== 'api'
  const allowLoopback = mayReachLoopback(options)
  const forMerchants = environment === 'test' && (options.allowLoopbackForMerchants ?? false)
  return {
    name,
    clock,
    log,
    securityLog: options.securityLog ?? marked(log),
    database,
    lanes,
    isWorker,
    outgoing: createOutgoing({ name, allowLoopback, clock }),
    toMerchants: createOutgoing({ name, allowLoopback: forMerchants, clock }),
    merchantUrlRules: addressRules({ allowLoopback: forMerchants }),
    connectorRules: connectorRules(options),
    showsAnswers: forMerchants === false,
    queue: new Queue(database, {
      engine: name,
      migrate: options.migrate !== false,
      supervise: isWorker,
      connections: options.database.pool?.jobs ?? limits.jobConnections,
      log,
    }),
  }
}

/** Ends the resources of a start that failed. */
export async function closeResources(resources: Resources): Promise<void> {
  await resources.outgoing.close()
  await resources.toMerchants.close()
  await resources.database.close()
}
