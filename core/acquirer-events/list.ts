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
 * The entry of the list, linked to the payment where one exists. Only the account of a payment can
 * create an entry of that payment; another account's message gets an entry without a payment.
 */
export async function entryAbout(
  engine: Pick<Engine, 'lanes'>,
  kind: Extract<AttentionKind, 'event' | 'unclaimed'>,
  { connector, account, eventId, digest, key }: About,
  detail: Readonly<Record<string, unknown>>,
): Promise<Sql> {
  const [named] = key === null ? [] : await engine.lanes.single(paymentByAttempt(key))
  const isOwn = named?.connector === connector && (named.account_id ?? internalAccount) === account
  const payment = isOwn ? named : undefined
  // Other merchant numbers have the same event ids; a payment has one account.
  const said = digest === undefined ? eventId : `${eventId} says ${digest}`
  const reference = payment === undefined ? `${connector} ${account} ${said}` : said
  const isOthers = named !== undefined && !isOwn
  return addAttention(
    newId(),
    kind,
    payment?.id ?? null,
    isOthers ? null : key,
    0,
    { connector, account, event: eventId, ...(isOthers ? { key } : {}), ...detail },
    reference,
  )
}

/** The account name for payments without an account. */
export const internalAccount = 'internal'
