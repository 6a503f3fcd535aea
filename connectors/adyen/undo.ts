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
import { authorisedOf, paymentOf } from './payments.ts'
import { undoReferenceOf } from './references.ts'
import { rememberTry } from './undo-tries.ts'

/** What is known about the reversal of one payment. */
export type Undo = {
  /** Tries so far. */
  readonly round: number
  /** `open`: no try is under way. */
  readonly state: 'open' | 'asked' | 'failed' | 'done'
  /** By Adyen's reference of the payment, which also undoes a captured one, or by our own reference. */
  readonly by: 'payment' | 'reference'
  /** The payment that the last try named by Adyen's reference, or that Adyen could not cancel. */
  readonly payment?: string
  /** Payments of this name that are authorised. A second one can exist, and each has to be taken back. */
  readonly payments?: readonly Authorised[]
  /** The try that took back a payment before anybody told of one: the first one that is told is that payment. */
  readonly unnamed?: number
  /** Adyen's reference of the cancellation that did so, if it was made in another way. */
  readonly unnamedBy?: string
  /** Whether the payment was authorised, once it is known. */
  readonly authorised?: boolean
  /** The last try that Adyen carried out as a refund, and whose money came back to the merchant later. */
  readonly returned?: number
  readonly minor: string
  readonly currency: string
}

type Authorised = {
  readonly psp: string
  /** The try that took it back; 0 for another way. */
  readonly undone?: number
  /** Adyen's reference of the cancellation that did so in another way. */
  readonly undoneBy?: string
  /** The last try that Adyen refused. */
  readonly refused?: number
}

/** With a payment that is known to be authorised. */
export const withAuthorised = (
  payments: readonly Authorised[] = [],
  psp: string,
): readonly Authorised[] =>
  payments.some((one) => one.psp === psp) ? payments : [...payments, { psp }]

/** @param undoneBy Adyen's reference of a cancellation that was made in another way. */
export const takenBack = (psp: string, undone: number, undoneBy?: string): Authorised =>
  undoneBy === undefined ? { psp, undone } : { psp, undone, undoneBy }

/** With a payment that is told now. */
export function withTold(undo: Undo, psp: string): Undo {
  const { unnamed, unnamedBy, ...known } = undo
  const payments = withAuthorised(known.payments, psp)
  if (payments === known.payments) return undo
  const told = unnamed === undefined ? payments : [takenBack(psp, unnamed, unnamedBy)]
  return { ...known, authorised: true, payments: told }
}

/** With a payment whose webhook came before there was a record of the reversal. It was there before all others. */
export const withNoted = (undo: Undo, psp: string | undefined): Undo =>
  psp === undefined ? undo : withTold(undo, psp)

/**
 * Adyen's reference of a payment that was not taken back. One that Adyen refuses to take back waits for its turn, so
 * that it does not keep the others from theirs.
 */
export const standingIn = (payments: readonly Authorised[] = []): string | undefined =>
  payments
    .filter(({ undone }) => undone === undefined)
    .toSorted(({ refused: one = 0 }, { refused: other = 0 }) => one - other)[0]?.psp

/** After the last try, which Adyen refused for the payment that it named. */
export function withRefusal(undo: Undo): Undo {
  const { payment, payments = [], round } = undo
  const told = payments.map((one) => (one.psp === payment ? { ...one, refused: round } : one))
  return { ...undo, payments: told }
}

export const undoName = (key: string): string => `undo:${key}`

export const readUndo = (value: Json | undefined): Undo | undefined =>
  value === undefined ? undefined : inPresentForm(value as unknown as Undo)

/** Earlier versions did not keep which payment a success took back. */
function inPresentForm(undo: Undo): Undo {
  const { state, payments, payment, round } = undo
  if (state !== 'done' || payments !== undefined) return undo
  return payment === undefined
    ? { ...undo, payments: [], unnamed: round }
    : { ...undo, payments: [{ psp: payment, undone: round }] }
}

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
  { records, account, log }: Context<unknown, { readonly merchantAccount: string }>,
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
  if (reversal !== undefined) {
    try {
      await rememberTry(records, reversal, key, plan.round)
    } catch {
      // The webhook of its success also has our own reference.
      log.warn({}, "Adyen's reference of a reversal could not be kept")
    }
    return { is: 'requested', refs: { reversal } }
  }
  const refused = readError(answer, json)
  if (refused === undefined) return unknownFor(`Adyen answered with HTTP ${answer.status}`)
  // The next try has a name of its own, because Adyen repeats its answer to a known one.
  await amendUndo(records, key, (known) => {
    if (known.round !== plan.round || known.state !== 'asked') return known
    // A refused login says nothing about the payment.
    return { ...(refused.isOfAccess ? known : withRefusal(known)), state: 'open' }
  })
  return unknownFor(`Adyen refused the reversal: HTTP ${refused.status}, error ${refused.code}`)
}

const unknownFor = (why: string): Reversed => ({ is: 'unknown', why })

/** The record of the try that is to be sent, written before it is sent; or the end that is known already. */
async function planned(operation: Operation, records: Records): Promise<Undo | Reversed> {
  const { key, amount, refs } = operation
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await records.get(undoName(key))
    const known = readUndo(value) ?? withoutTry(amount)
    const noted = withNoted(known, await authorisedOf(records, key))
    const told = refs?.payment
    // The engine may know of an authorisation from a report, an operator, or the webhook of another account.
    const heard = told === undefined ? noted : withTold(noted, told)
    const isOver = standingIn(heard.payments) === undefined
    const isDone = isOver && heard.state === 'done'
    if (isOver && !isDone && (await isNothing(heard, key, records))) return { is: 'nothing' }
    const next = isDone ? heard : nextTry(heard)
    if (next === known || (await records.swap(undoName(key), value, next as unknown as Json)))
      return isDone ? { is: 'reversed' } : next
  }
  return unknownFor('the record of the reversal changes all the time')
}

/** Whether Adyen knows no payment of this name, or told that it was refused, as far as our own records say. */
async function isNothing(known: Undo, key: string, records: Records): Promise<boolean> {
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

const withoutTry = ({ minor, currency }: Money): Undo => ({
  round: 0,
  state: 'open',
  by: 'reference',
  minor: String(minor),
  currency,
})

/** The try under way, or the next one. The engine has a reference only of a payment that was authorised. */
function nextTry(known: Undo): Undo {
  // The same name again: Adyen does it once.
  if (known.state === 'asked') return known
  const payment = standingIn(known.payments) ?? known.payment
  return {
    ...known,
    round: known.round + 1,
    state: 'asked',
    by: payment === undefined ? 'reference' : 'payment',
    ...(payment === undefined ? {} : { payment }),
  }
}
