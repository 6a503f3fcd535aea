/** Slow reads of reports and settlements: merchants take turns in the lane of searches. */
import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import type { Sql } from '../db/sql.ts'
import { GatewayError } from '../errors.ts'
import { type Holder, SharedPlaces } from '../process/shared-room.ts'

const gates = new WeakMap<Lanes, SharedPlaces>()

/**
 * Right before the first read of a request, so that none is refused half way.
 *
 * @param merchant Undefined for the embedding program and for operators, whose reads wait without a limit.
 * @throws GatewayError 429 when too many reads of the merchant wait already.
 */
export function refuseWhenManyWait(lanes: Lanes, merchant: Holder): void {
  gateOf(lanes).refuseBeyond(merchant, limits.slowReadsWaiting)
}

/** @throws GatewayError 429 when the read waited too long for its turn. */
export function searchInTurn<Row>(
  lanes: Lanes,
  merchant: Holder,
  statement: Sql<Row>,
): Promise<Row[]> {
  return gateOf(lanes).within(merchant, () => lanes.search(statement))
}

const tooMany = () =>
  new GatewayError('800.120.100', {
    status: 429,
    retryAfterSeconds: 1,
    description: 'too many requests, try again later: other reports of this merchant wait',
  })

/** One connection stays for searches of the audit trail, and one merchant leaves one of the others. */
function gateOf(lanes: Lanes): SharedPlaces {
  const known = gates.get(lanes)
  if (known !== undefined) return known
  const places = Math.max(1, (lanes.pools.search.options.max ?? 1) - 1)
  const gate = new SharedPlaces(places, Math.max(1, places - 1), limits.searchMs, tooMany)
  gates.set(lanes, gate)
  return gate
}
