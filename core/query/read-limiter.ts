import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import type { Sql } from '../db/sql.ts'

type Gate = { free: number; readonly waiting: (() => void)[] }

const gates = new WeakMap<Lanes, Gate>()

/**
 * A potentially slow read. Slow reads use at most half of the read connections, so that a search
 * through ten years does not delay the read of a payment.
 */
export async function readSlowly<Row>(lanes: Lanes, statement: Sql<Row>): Promise<Row[]> {
  const gate = gateOf(lanes)
  if (gate.free > 0) gate.free -= 1
  else await new Promise<void>((enter) => gate.waiting.push(enter))
  try {
    return await lanes.read(statement, limits.slowReadMs)
  } finally {
    const next = gate.waiting.shift()
    if (next === undefined) gate.free += 1
    else next()
  }
}

function gateOf(lanes: Lanes): Gate {
  const known = gates.get(lanes)
  if (known !== undefined) return known
  const gate = {
    free: Math.max(1, Math.floor((lanes.pools.read.options.max ?? 1) / 2)),
    waiting: [],
  }
  gates.set(lanes, gate)
  return gate
}
