/** Entries of the operators' list about messages of acquirers, without card data. */

import { type AttentionKind, addAttention } from '../attention/store.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { paymentByAttempt } from '../payment/store-read.ts'

export type About = {
  readonly connector: string
  readonly account: string
  readonly eventId: string
  /** Digest of one content among several under the same id: each content has its own entry. */
  readonly digest?: string
  /** The operation's key, when the message names one. */
  readonly key: string | null
}

/**
 * The entry of the list, linked to the payment where one exists. Only the account of a payment can create an entry of
 * that payment here; a message for another account gets one without a payment. An event id that comes again with another
 * content is listed for the payment, whichever account of its merchant heard it (`listContent`).
 */
export async function entryAbout(
  engine: Pick<Engine, 'lanes'>,
  kind: Extract<AttentionKind, 'event' | 'unclaimed'>,
  about: About,
  detail: Readonly<Record<string, unknown>>,
): Promise<Sql> {
  const { connector, account, key } = about
  const [named] = key === null ? [] : await engine.lanes.single(paymentByAttempt(key))
  const isOwn = named?.connector === connector && (named.account_id ?? internalAccount) === account
  const place = placeOf(about, isOwn ? named.id : null, named !== undefined && !isOwn)
  const { paymentId, attemptKey, reference } = place
  const whole = { ...place.detail, ...detail }
  return addAttention(newId(), kind, paymentId, attemptKey, 0, whole, reference)
}

/**
 * The beginning of an entry about a message.
 *
 * @param isOthers Whether the key is that of a payment which the entry does not name.
 */
export function placeOf(
  { connector, account, eventId, digest, key }: About,
  paymentId: string | null,
  isOthers: boolean,
) {
  // Other merchant numbers have the same event ids; a payment has one account.
  const said = digest === undefined ? eventId : `${eventId} says ${digest}`
  return {
    paymentId,
    attemptKey: isOthers ? null : key,
    detail: { connector, account, event: eventId, ...(isOthers ? { key } : {}) },
    reference: paymentId === null ? `${connector} ${account} ${said}` : said,
  }
}

/** The account name for payments without an account. */
export const internalAccount = 'internal'
