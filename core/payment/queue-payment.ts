/** Writes a payment in a transaction of the embedding program. Its commit queues the payment. */
import { limits, sadFields } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import { violated } from '../db/database.ts'
import { inOpenTransaction, type Run, type TransactionClient } from '../db/open-transaction.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { acceptOf } from './accept-statement.ts'
import { type Idempotency, replayed } from './idempotency.ts'
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
      'Authentication needs the shopper, and a queued payment is sent later: authenticate first and send the external 3-D Secure values, or use create.',
  })
}

/** Tries of the attempt's key, when older payments used the same. */
const keyTries = 8

/**
 * Writes with `write` and queues the attempt, in the client's transaction.
 *
 * @param write Writes the rows under the attempt's key of this number; undefined: it wrote nothing.
 * @returns what was written, or undefined.
 */
export async function queueWithin<Written extends { readonly key: string }>(
  engine: Engine,
  client: TransactionClient,
  connector: string,
  write: (run: Run, no: number) => Promise<Written | undefined>,
): Promise<Written | undefined> {
  for (let no = 1; ; no += 1) {
    try {
      return await inOpenTransaction(engine.lanes, client, async (run) => {
        const written = await write(run, no)
        if (written === undefined) return undefined
        await run(queueAttempt(written.key, newId(), limits.queuedLookMs))
        await engine.jobs.sendWithin(client, written.key, connector)
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
  client: TransactionClient,
  row: AcceptRow,
  keyNumber: (no: number) => string,
): Promise<string | undefined> {
  const queued = await queueWithin(engine, client, row.connector!, async (run, no) => {
    const key = keyNumber(no)
    const now = { ...row, attempt_key: key }
    const [written] = await run(acceptOf(now).one(now))
    return written === undefined ? undefined : { key }
  })
  return queued?.key
}

/** The payment of an idempotency key, which the same transaction may have written. */
export function replayedWithin(
  engine: Engine,
  client: TransactionClient,
  idempotency: Idempotency,
): Promise<Payment> {
  return inOpenTransaction(engine.lanes, client, (run) =>
    replayed({ lanes: { single: run } }, idempotency),
  )
}
