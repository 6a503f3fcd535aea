/** Writes a payment in a transaction of the embedding program. Its commit queues the payment. */
import { limits, sadFields } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import { violated } from '../db/database.ts'
import type { OpenTransaction } from '../db/open-transaction.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { acceptOf } from './accept-statement.ts'
import { findReplay, type Idempotency, replayed } from './idempotency.ts'
import type { AcceptRow } from './store-first.ts'
import { queueAttempt } from './store-queued.ts'
import type { Payment } from './types.ts'

const unstorable = new Set(sadFields)

/**
 * Nothing is sent in the request, and values that must not be stored are gone afterwards.
 *
 * @throws GatewayError 200.300.404 naming each such field.
 */
export function refuseUnstorable({ names }: Request): void {
  const held = names.filter(([name]) => unstorable.has(name))
  if (held.length === 0) return
  throw new GatewayError('200.300.404', {
    parameterErrors: held.map(([name]) => ({
      name,
      message:
        'must not be stored, so a queued payment cannot have it: leave it out, or send the payment with create',
    })),
  })
}

/** @throws GatewayError: the shopper has to be there. */
export function refuseAuthentication(): never {
  throw new GatewayError('600.200.200', {
    description:
      'Authentication needs the shopper, and a queued payment is sent later: send the payment with create.',
  })
}

/** Tries of the attempt's key, when older payments used the same. */
const keyTries = 8

/**
 * Writes with `write` and queues the attempt, in the program's transaction.
 *
 * @param write Writes the rows under the attempt's key of this number; undefined: it wrote nothing.
 * @returns what was written, or undefined.
 */
export async function queueWithin<Written extends { readonly key: string }>(
  engine: Engine,
  within: OpenTransaction,
  connector: string,
  write: (no: number) => Promise<Written | undefined>,
): Promise<Written | undefined> {
  for (let no = 1; ; no += 1) {
    try {
      return await within.undoable(async () => {
        const written = await write(no)
        if (written === undefined) return undefined
        await within.run(queueAttempt(written.key, newId(), limits.queuedLookMs))
        await engine.jobs.sendWithin(within, written.key, connector)
        return written
      })
    } catch (error) {
      if (violated(error) !== 'attempt_pkey' || no > keyTries) throw error
    }
  }
}

/** @returns the key of the attempt; undefined when the idempotency key has an earlier payment. */
export async function queueFirst(
  engine: Engine,
  within: OpenTransaction,
  row: AcceptRow,
  keyNumber: (no: number) => string,
): Promise<string | undefined> {
  const queued = await queueWithin(engine, within, row.connector!, async (no) => {
    const key = keyNumber(no)
    const now = { ...row, attempt_key: key }
    const [written] = await within.run(acceptOf(now).one(now))
    return written === undefined ? undefined : { key }
  })
  return queued?.key
}

const readerOf = (within: OpenTransaction) => ({
  lanes: { single: <Row>(statement: Sql<Row>) => within.run(statement) },
})

/** The payment of an idempotency key, or undefined. The same transaction may have written it. */
export const findReplayWithin = (
  within: OpenTransaction,
  idempotency: Idempotency | null,
): Promise<Payment | undefined> => findReplay(readerOf(within), idempotency)

/** The payment of an idempotency key, which the same transaction may have written. */
export const replayedWithin = (
  within: OpenTransaction,
  idempotency: Idempotency,
): Promise<Payment> => replayed(readerOf(within), idempotency)
