/** What operators have to know about messages of acquirers. Nothing of card data is in it. */

import { type AttentionKind, addAttention } from '../attention/store.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { paymentByAttempt } from '../payment/store-read.ts'

export type About = {
  readonly connector: string
  readonly account: string
  readonly eventId: string
  /** Digest of one content among several that came under this id: each is an entry of its own. */
  readonly digest?: string
  /** Of the operation, as far as the message names one. */
  readonly key: string | null
}

/**
 * The entry of the list, of the payment where there is one. Nobody but the account that a payment was
 * made with can put one there: what others say of it stands by itself.
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
  // Event ids are unique per account only; a payment has one account.
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

/** What stands for the account of payments that have none. */
export const internalAccount = 'internal'
