import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import type { Sql } from '../db/sql.ts'
import { GatewayError } from '../errors.ts'
import { type Holder, SharedRoom } from '../process/shared-room.ts'

type Gate = SharedRoom<() => void>

const gates = new WeakMap<Lanes, Gate>()

/**
 * A potentially slow read. Slow reads use at most half of the read connections, so that a search
 * through ten years does not delay the read of a payment. One merchant leaves a place to the others.
 *
 * @param merchant Undefined for the embedding program and for operators, whose reads wait without a limit.
 * @throws GatewayError 429 when too many reads of the merchant wait already.
 */
export async function readSlowly<Row>(
  lanes: Lanes,
  merchant: Holder,
  statement: Sql<Row>,
): Promise<Row[]> {
  const gate = gateOf(lanes)
  if (!gate.isFreeFor(merchant) && isCrowded(gate, merchant)) throw tooMany()
  return readOnSlowly(lanes, merchant, statement)
}

/** The same for a request that has begun to read: it is not refused half way. */
export async function readOnSlowly<Row>(
  lanes: Lanes,
  merchant: Holder,
  statement: Sql<Row>,
): Promise<Row[]> {
  const gate = gateOf(lanes)
  if (gate.isFreeFor(merchant)) gate.take(merchant)
  else {
    await new Promise<void>((enter) => {
      const enters = () => {
        gate.take(merchant)
        enter()
      }
      gate.waitFor(merchant, enters)
    })
  }
  try {
    return await lanes.read(statement, limits.slowReadMs)
  } finally {
    gate.leave(merchant)
    gate.next()?.()
  }
}

const isCrowded = (gate: Gate, merchant: Holder) =>
  merchant !== undefined && gate.waitingOf(merchant) >= limits.slowReadsWaiting

const tooMany = () =>
  new GatewayError('800.120.100', {
    status: 429,
    retryAfterSeconds: 1,
    description:
      'too many requests, try again later: other searches and lists of this merchant wait',
  })

function gateOf(lanes: Lanes): Gate {
  const known = gates.get(lanes)
  if (known !== undefined) return known
  const places = Math.max(1, Math.floor((lanes.pools.read.options.max ?? 1) / 2))
  const gate: Gate = new SharedRoom(places, Math.max(1, places - 1))
  gates.set(lanes, gate)
  return gate
}
