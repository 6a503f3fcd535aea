import type { Connector } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'

/**
 * Refuses a request before its first commit, while a refusal is still free, when the request would
 * only queue.
 *
 * @throws GatewayError 429 when the connector or the database lane is full, 503 at shutdown.
 */
export function applyBackPressure(
  engine: Pick<Engine, 'inFlight' | 'lanes'>,
  connector: Connector,
): void {
  engine.inFlight.admit(connector.name, connector.supports.limits?.concurrent)
  if (engine.lanes.waiting < limits.waitingRows) return
  throw new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 1 })
}
