/** Writes the first commit of a first payment until its fate is known. */
import { outcomeUnknown, sqlState, violated } from '../db/database.ts'
import { databaseUnavailable } from '../db/unavailable.ts'
import type { Engine } from '../engine.ts'
import { acceptOf } from './accept-statement.ts'
import { keyInUse } from './idempotency.ts'
import type { AcceptRow } from './store-first.ts'
import { attemptByKey, paymentById } from './store-read.ts'

/**
 * A repeat after a lost answer finds the row of the first run; a key of an older payment gets the
 * next number. Null: the idempotency key belongs to an earlier payment.
 *
 * @throws GatewayError 800.600.100 while another transaction, which is not committed, holds the key.
 */
export async function writeFirst(
  engine: Engine,
  first: AcceptRow,
  keyNumber: (no: number) => string,
): Promise<AcceptRow | null> {
  let row = first
  for (let no = 1; ; no += 1) {
    try {
      const written = await engine.lanes.group(acceptOf(row), row)
      if (written !== undefined) return row
      return (await isWritten(engine, row)) ? row : null
    } catch (error) {
      // Nothing else that a first payment writes is locked by others for long.
      if (sqlState(error) === '55P03' && row.idempotency_key !== null) throw keyInUse()
      if (sqlState(error) !== '23505')
        throw outcomeUnknown(error) ? databaseUnavailable(error) : error
      if (await isWritten(engine, row)) return row
      if (violated(error) !== 'attempt_pkey' || no > 8) throw error
      row = { ...row, attempt_key: keyNumber(no + 1) }
    }
  }
}

async function isWritten(engine: Engine, row: AcceptRow): Promise<boolean> {
  const [attempt] = await engine.lanes.single(attemptByKey(row.attempt_key))
  if (attempt?.payment_id !== row.id) return false
  return (await engine.lanes.single(paymentById(row.id, null))).length > 0
}
