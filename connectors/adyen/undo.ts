/**
 * The reversal of a payment by its key. Adyen answers no enquiry about a payment, takes every reversal, and tells its
 * end by a webhook. So a record keeps what was asked for, and what webhooks told since.
 */
import type {
  Context,
  HttpAnswer,
  Json,
  Money,
  Operation,
  Records,
  Reversed,
} from '@tollgate/plugin-kit'
import { jsonOf, readError, takenAs } from './answers.ts'
import { paymentOf } from './payments.ts'
import { undoReferenceOf } from './references.ts'

/** What is known about the reversal of one payment. */
export type Undo = {
  /** Tries so far. */
  readonly round: number
  /** `open`: no try is under way. */
  readonly state: 'open' | 'asked' | 'failed' | 'done'
  /** By Adyen's reference of the payment, which also undoes a captured one, or by our own reference. */
  readonly by: 'payment' | 'reference'
  /** Adyen's reference of the payment, once it is known. */
  readonly payment?: string
  /** Whether the payment was authorised, once it is known. */
  readonly authorised?: boolean
  /** The last try that Adyen carried out as a refund, and whose money came back to the merchant later. */
  readonly returned?: number
  readonly minor: string
  readonly currency: string
}

export const undoName = (key: string): string => `undo:${key}`

export const readUndo = (value: Json | undefined): Undo | undefined =>
  value === undefined ? undefined : (value as unknown as Undo)

export const amountOf = ({ minor, currency }: Undo): Money => ({ minor: BigInt(minor), currency })

/** Changes the record of a key, unless there is none. Several webhooks can arrive at once. */
export async function amendUndo(
  records: Records,
  key: string,
  change: (known: Undo) => Undo,
): Promise<Undo | undefined> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await records.get(undoName(key))
    const known = readUndo(value)
    if (value === undefined || known === undefined) return undefined
    const next = change(known)
    if (await records.swap(undoName(key), value, next as unknown as Json)) return next
  }
  throw new Error('the record of a reversal changes all the time')
}

const mostTries = 8

type Post = (path: string, body: object, idempotencyKey: string) => Promise<HttpAnswer>

/**
 * Undoes a payment by its key. `nothing` needs proof: Adyen knows no payment of this name, or told that it was
 * refused, and nobody told the engine its reference. A request that arrives later is told by a webhook, and reversed
 * by the next call.
 */
export async function undo(
  operation: Operation,
  { records, account }: Context<unknown, { readonly merchantAccount: string }>,
  post: Post,
): Promise<Reversed> {
  // A check of a card moves no money.
  if (operation.kind === 'verify') return { is: 'nothing' }
  const plan = await planned(operation, records)
  if ('is' in plan) return plan
  const { merchantAccount } = account
  const { key } = operation
  const reference = undoReferenceOf(key, plan.round)
  const isByPayment = plan.by === 'payment' && plan.payment !== undefined
  const answer = isByPayment
    ? await post(
        `/payments/${encodeURIComponent(plan.payment)}/reversals`,
        { merchantAccount, reference },
        reference,
      )
    : await post('/cancels', { merchantAccount, paymentReference: key, reference }, reference)
  const json = jsonOf(answer)
  const of: Readonly<Record<string, string>> = isByPayment
    ? { paymentPspReference: plan.payment }
    : { paymentReference: key }
  const reversal = takenAs(answer, json, of)
  if (reversal !== undefined) return { is: 'requested', refs: { reversal } }
  const refused = readError(answer, json)
  if (refused === undefined) return unknownFor(`Adyen answered with HTTP ${answer.status}`)
  // The next try has a name of its own, because Adyen repeats its answer to a known one.
  await amendUndo(records, key, (known) =>
    known.round === plan.round && known.state === 'asked' ? { ...known, state: 'open' } : known,
  )
  return unknownFor(`Adyen refused the reversal: HTTP ${refused.status}, error ${refused.code}`)
}

const unknownFor = (why: string): Reversed => ({ is: 'unknown', why })

/** The record of the try that is to be sent, written before it is sent; or the end that is known already. */
async function planned(operation: Operation, records: Records): Promise<Undo | Reversed> {
  const { key, amount, refs } = operation
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await records.get(undoName(key))
    const known = readUndo(value)
    if (known?.state === 'done') return { is: 'reversed' }
    const told = refs?.payment
    // The engine may know of an authorisation from a report, an operator, or the webhook of another account.
    const payment = known?.authorised === true ? (known.payment ?? told) : (told ?? known?.payment)
    if (told === undefined && (await isNothing(known, key, records))) return { is: 'nothing' }
    // The same name again: Adyen does it once.
    if (known?.state === 'asked') return known
    const next: Undo = {
      round: (known?.round ?? 0) + 1,
      state: 'asked',
      by: payment === undefined ? 'reference' : 'payment',
      ...(payment === undefined ? {} : { payment }),
      ...authorisedBy(known, told),
      ...(known?.returned === undefined ? {} : { returned: known.returned }),
      minor: String(amount.minor),
      currency: amount.currency,
    }
    if (await records.swap(undoName(key), value, next as unknown as Json)) return next
  }
  return unknownFor('the record of the reversal changes all the time')
}

/** Whether Adyen knows no payment of this name, or told that it was refused, as far as our own records say. */
async function isNothing(known: Undo | undefined, key: string, records: Records): Promise<boolean> {
  if (known === undefined) return false
  if (known.authorised === false) return true
  if (known.state === 'failed' && known.payment === undefined) return true
  return isAbandoned(known, key, records)
}

/**
 * Neither by our reference nor by its own could Adyen take back a payment whose shopper was sent away, and it never told
 * that it is authorised. If it is after all, that webhook is still to come, and the payment is taken back then.
 */
async function isAbandoned({ state, by }: Undo, key: string, records: Records): Promise<boolean> {
  if (state !== 'failed' || by !== 'payment') return false
  const { isAway, psp } = await paymentOf(records, key)
  return isAway === true && psp === undefined
}

/** The engine has a reference of a payment that it undoes only where the payment was authorised. */
function authorisedBy(known: Undo | undefined, told: string | undefined): { authorised?: boolean } {
  if (told !== undefined) return { authorised: true }
  return known?.authorised === undefined ? {} : { authorised: known.authorised }
}
