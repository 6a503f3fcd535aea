/**
 * The reversal of a payment by its key. Adyen answers no enquiry about a payment, takes every reversal, and tells its
 * end by a webhook. So a record keeps what was asked for, and what webhooks told since.
 */
import type { Context, HttpAnswer, Operation, Records, Reversed } from '@tollgate/plugin-kit'
import { jsonOf, readError, takenAs } from './answers.ts'
import { paymentOf } from './payments.ts'
import { undoReferenceOf } from './references.ts'
import { judge } from './undo-judgement.ts'
import { amendWords, noteCancellation } from './undo-record.ts'
import { type Try, type Words, withPayment, withTold, withTry } from './undo-words.ts'

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
  const { round, of: payment } = plan
  const reference = undoReferenceOf(key, round)
  const answer =
    payment === undefined
      ? await post('/cancels', { merchantAccount, paymentReference: key, reference }, reference)
      : await post(
          `/payments/${encodeURIComponent(payment)}/reversals`,
          { merchantAccount, reference },
          reference,
        )
  const json = jsonOf(answer)
  const of: Readonly<Record<string, string>> =
    payment === undefined ? { paymentReference: key } : { paymentPspReference: payment }
  const reversal = takenAs(answer, json, of)
  if (reversal !== undefined) {
    try {
      await bind(records, key, round, reversal)
    } catch {
      // The webhook of its success also has our own reference.
      log.warn({}, "Adyen's reference of a reversal could not be kept")
    }
    return { is: 'requested', refs: { reversal } }
  }
  const refused = readError(answer, json)
  if (refused === undefined) return unknownFor(`Adyen answered with HTTP ${answer.status}`)
  // The next try has a name of its own, because Adyen repeats its answer to a known one.
  await amendWords(records, key, (words) =>
    withAnswer(words, round, { answer: refused.isOfAccess ? 'login' : 'refused' }),
  )
  return unknownFor(`Adyen refused the reversal: HTTP ${refused.status}, error ${refused.code}`)
}

const unknownFor = (why: string): Reversed => ({ is: 'unknown', why })

/** Keeps which try Adyen calls by this reference. Its money may have come back before anybody knew. */
async function bind(records: Records, key: string, round: number, psp: string): Promise<void> {
  await amendWords(records, key, (words) => withAnswer(words, round, { psp }))
  const { returned } = await noteCancellation(records, psp, { key, round })
  if (returned !== undefined) await amendWords(records, key, (words) => withTold(words, returned))
}

function withAnswer(words: Words, round: number, answer: Partial<Try>): Words {
  const made = words.tries.find((one) => one.round === round)
  if (made === undefined || Object.keys(answer).every((name) => name in made)) return words
  return withTry(words, { ...answer, ...made })
}

/** The try that is to be sent, written before it is sent; or the end that is known already. */
async function planned(
  { key, amount, refs }: Operation,
  records: Records,
): Promise<Try | Reversed> {
  const isAway = (await paymentOf(records, key)).isAway === true
  let plan: Try | Reversed = { is: 'nothing' }
  await amendWords(records, key, (known) => {
    const told = refs?.payment
    const heard = told === undefined ? known : withPayment(known, 'reported', told)
    plan = planFor(heard, isAway)
    if ('is' in plan || heard.tries.includes(plan)) return heard
    const { minor, currency } = amount
    return withTry({ ...heard, amount: { minor: String(minor), currency } }, plan)
  })
  return plan
}

function planFor(words: Words, isAway: boolean): Try | Reversed {
  const { isOver, isNothing, isVain, underWay, next } = judge(words)
  if (isOver) return { is: 'reversed' }
  // A shopper who was sent away may never have paid. If the payment is authorised after all, that webhook is still to
  // come, and the payment is taken back then.
  if (isNothing || (isVain && isAway)) return { is: 'nothing' }
  // The same name again: Adyen does it once.
  if (underWay !== undefined) return underWay
  const round = (words.tries.at(-1)?.round ?? 0) + 1
  return next === undefined ? { round } : { round, of: next }
}
