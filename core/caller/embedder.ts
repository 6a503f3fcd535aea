/** The options of an embedding program's calls. */
import type { By } from '../audit/actor.ts'
import type { TransactionClient } from '../db/program-client.ts'
import { refuseUnknownOptions, requestOptions } from './call-options.ts'
import type { Caller } from './caller.ts'
import { everyRight } from './rights.ts'

/** What every call can have. */
export type CallOptions = {
  readonly idempotencyKey?: string
  /** The caller; the embedding program itself by default. */
  readonly caller?: Caller
  /** The person behind the request, for the audit trail. */
  readonly by?: By
}

/** Options of a call that sends at once. */
export type RequestOptions = CallOptions & { readonly client?: never }

/** Options of a call that may need two people. */
export type AgreedOptions = RequestOptions & {
  /** The proposal that a second person confirmed. Without it, the call only creates a proposal. */
  readonly proposal?: string | undefined
}

/** Options of a payment that is written in a transaction of the embedding program. */
export type AcceptOptions = CallOptions & {
  /**
   * A client of `pg` on the gateway's database, after its `BEGIN`. Its `COMMIT` queues the payment, its
   * `ROLLBACK` leaves no trace of it.
   */
  readonly client: TransactionClient
}

/** The embedding program: acts for every entity of its own database. */
export const embedder: Caller = { id: 'embedder', entityId: null, rights: everyRight }

/**
 * The caller of an embedding program's call, and the person behind it.
 *
 * @param known The names that the options of this call can have.
 * @throws GatewayError 200.300.404 naming each option that the call does not take.
 */
export function callerIn(
  options: (CallOptions & { readonly proposal?: string | undefined }) | undefined,
  known: readonly string[] = requestOptions,
): Caller {
  refuseUnknownOptions(options, known)
  const { caller = embedder, by, proposal } = options ?? {}
  if (by === undefined && proposal === undefined) return caller
  return {
    ...caller,
    ...(by === undefined ? {} : { by }),
    ...(proposal === undefined ? {} : { proposal }),
  }
}

/** Version in every response as buildNumber. */
export const buildNumber = 'tollgate-0.1.0'
