import type { Connector } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import type { Places } from '../process/in-flight.ts'

/**
 * Refuses a request before its first commit, while a refusal is still free, when the request would
 * only queue; otherwise the request has a place at the connector.
 *
 * @throws GatewayError 429 when the connector, the merchant's half of it or the database lane is full, 503 at shutdown.
 */
export function applyBackPressure(
  engine: Pick<Engine, 'directory' | 'inFlight' | 'lanes'>,
  connector: Connector,
  channelId: string,
  places: Places,
): void {
  // Without a question: this process has just read the channel of the request.
  const merchantId = engine.directory.knownPath(channelId)?.[1]
  const of = { channelId, ...(merchantId === undefined ? {} : { merchantId }) }
  const { concurrent } = connector.supports.limits ?? {}
  places.add(connector.name, engine.inFlight.admit(connector.name, of, concurrent))
  if (engine.lanes.waiting < limits.waitingRows) return
  throw new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 1 })
}
