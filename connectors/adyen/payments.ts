/**
 * What is known of payments beyond their names: which are sales, which sent their shopper away, and whose name Adyen's
 * references mean. Webhooks do not always tell, and an answer can be lost.
 */
import type { Json, Records } from '@tollgate/plugin-kit'

type Known = {
  /** Asked for by this account. Others of the merchant hear of it, too. */
  readonly isOwn?: true
  /** Captured at once, without a capture of its own that could fail. */
  readonly isSale?: true
  /** The shopper was sent to a page. Adyen tells by a webhook if the payment is authorised after that. */
  readonly isAway?: true
}

const nameOf = (key: string): string => `payment:${key}`
const nameBy = (pspReference: string): string => `payment-by:${pspReference}`

/** Adds to what is known of a payment. What was known first stays. */
export async function notePayment(records: Records, key: string, news: Known): Promise<Known> {
  // Most payments have no record yet.
  if (await records.swap(nameOf(key), undefined, news as Json)) return news
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await records.get(nameOf(key))
    const known = (value ?? {}) as Known
    const next: Known = { ...news, ...known }
    if (Object.keys(next).length === Object.keys(known).length) return known
    if (await records.swap(nameOf(key), value, next as Json)) return next
  }
  throw new Error('the record of a payment changes all the time')
}

const mostTries = 8

export const paymentOf = async (records: Records, key: string): Promise<Known> =>
  ((await records.get(nameOf(key))) ?? {}) as Known

/** Whether this account asked for the payment. */
export async function isOwnPayment(records: Records, key: string): Promise<boolean> {
  const { isOwn, isSale, isAway } = await paymentOf(records, key)
  return isOwn === true || isSale === true || isAway === true
}

/** Keeps which payment Adyen calls by this reference: a dispute may have no other name of it. */
export async function rememberKey(records: Records, psp: string, key: string): Promise<void> {
  await records.swap(nameBy(psp), undefined, key)
}

export async function keyBy(records: Records, psp: string): Promise<string | undefined> {
  const key = psp === '' ? undefined : await records.get(nameBy(psp))
  return typeof key === 'string' ? key : undefined
}

/** The payment of an operation without an answer: a report or an operator may approve it without any reference. */
const basisName = (key: string): string => `basis:${key}`

export async function rememberBasis(records: Records, key: string, psp: string): Promise<void> {
  await records.swap(basisName(key), undefined, psp)
}

/** Adyen's reference of the payment below an operation that has none itself. */
export async function basisOf(records: Records, key: string): Promise<string | undefined> {
  const psp = await records.get(basisName(key))
  return typeof psp === 'string' ? psp : undefined
}
