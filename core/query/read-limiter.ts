import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import type { Sql } from '../db/sql.ts'
import { GatewayError } from '../errors.ts'
import { type Holder, SharedPlaces } from '../process/shared-room.ts'

const gates = new WeakMap<Lanes, SharedPlaces>()

/**
 * A potentially slow read. Slow reads use at most half of the read connections, so that a search
 * through ten years does not delay the read of a payment. One merchant leaves a place to the others.
 *
 * @param merchant Undefined for the embedding program and for operators, whose reads wait without a limit.
 * @throws GatewayError 429 when too many reads of the merchant wait already, or this one waited too long.
 */
export async function readSlowly<Row>(
  lanes: Lanes,
  merchant: Holder,
  statement: Sql<Row>,
): Promise<Row[]> {
  gateOf(lanes).refuseBeyond(merchant, limits.slowReadsWaiting)
  return readOnSlowly(lanes, merchant, statement)
}

/** The same for a request that has begun to read: it is not refused half way. */
export function readOnSlowly<Row>(
  lanes: Lanes,
  merchant: Holder,
  statement: Sql<Row>,
): Promise<Row[]> {
  return gateOf(lanes).within(merchant, () => lanes.read(statement, limits.slowReadMs))
}

const tooMany = () =>
  new GatewayError('800.120.100', {
    status: 429,
    retryAfterSeconds: 1,
    description:
      'too many requests, try again later: other searches and lists of this merchant wait',
  })

/** Half of the read connections. One merchant leaves one of them to the others. */
export function halfOfReads(lanes: Lanes, mostMs: number, refusal: () => Error): SharedPlaces {
  const places = Math.max(1, Math.floor((lanes.pools.read.options.max ?? 1) / 2))
  return new SharedPlaces(places, Math.max(1, places - 1), mostMs, refusal)
}

function gateOf(lanes: Lanes): SharedPlaces {
  const known = gates.get(lanes)
  if (known !== undefined) return known
  const gate = halfOfReads(lanes, limits.slowReadMs, tooMany)
  gates.set(lanes, gate)
  return gate
}
