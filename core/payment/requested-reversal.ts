/** An open payment whose reversal by key the acquirer took: only the end of that reversal decides. */
import type { Approved, Found, Outcome, Refs } from '@tollgate/plugin-kit'
import type { Reason as ResultReason } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import {
  isUnderReversal,
  listIfEndOfAnother,
  listIfOfAnother,
  refsOfSuccess,
} from './another-operation.ts'
import type { AttemptContext } from './attempt-context.ts'
import { cancelledByShopper, provenNotCharged, ranOutOfTime } from './decide.ts'
import type { NotReversed } from './late-stands.ts'
import type { Payment, Source } from './types.ts'
import { noteApproval } from './word-during-reversal.ts'

/**
 * The reason of an enquiry: the next look, the end of a pending payment's time, an operator's
 * question, or a shopper who gave up and tries again. For a question the engine sends and takes back
 * nothing. For a new try the engine reverses, and without a proof the payment stays as it is.
 */
export type Reason = 'look' | 'expiry' | 'question' | 'new-try'

/** What an enquiry leads to. */
export type End = {
  readonly outcome: Outcome
  readonly source: Source
  /** The answer proves nothing: a payment that waits for its shopper continues to wait. */
  readonly isNothing?: true
  /** The acquirer took a reversal by key: the code of the payment once it is taken back. */
  readonly requests?: ResultReason
  /** The reversal was asked for, and whether it may be under way. */
  readonly asked?: boolean
  /** The reversal failed. */
  readonly notReversed?: NotReversed
}

/**
 * The acquirer was asked to take the payment back. Only the end of that reversal decides, or proof that
 * nothing moved.
 *
 * @returns `unheard`: the acquirer knows nothing of the request, and is asked again.
 */
export async function endOfReversal(
  engine: Engine,
  work: AttemptContext,
  found: Found,
  why: Reason,
): Promise<End | 'unheard'> {
  const code = work.payment.answer.reversal?.code ?? reasonOf[why]
  const text = 'its reversal was requested'
  switch (found.is) {
    case 'reversed':
      return { outcome: reversedAs(work.payment, found.refs, code), source: 'reversal' }
    case 'notReversed':
      return { ...left(found.refs ?? {}, found.why), notReversed: found }
    case 'declined':
      return { outcome: found, source: 'enquiry' }
    case 'requested':
      return { ...left(found.refs ?? {}, text), source: sourceOf(why), requests: code }
    case 'notSent':
    case 'notFound':
      return why === 'question' ? left({}, text) : 'unheard'
    case 'approved':
    case 'accepted':
      await noteApproval(engine, work.payment, found)
      return left(found.refs ?? {}, text)
    default:
      return left(found.refs ?? {}, text)
  }
}

/** The same without what is about another operation than the success that was told. */
export async function withoutAnother(
  engine: Pick<Engine, 'lanes'>,
  payment: Payment,
  end: End,
): Promise<End> {
  const { outcome, source, notReversed } = end
  if (outcome.is === 'notSent') return end
  const word = notReversed ?? outcome
  const is = source === 'reversal' && word.is === 'declined' ? 'reversed' : word.is
  if (await listIfEndOfAnother(engine, payment, word, is)) {
    // The acquirer may have carried out a request that this process did not record yet.
    const asked = payment.answer.reversal === undefined ? { asked: true } : {}
    return { ...left({}, 'the acquirer ended another operation under its key'), ...asked }
  }
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  // Without a request, the success before was for another amount, which becomes a late word.
  if (!isSuccess || !isUnderReversal(payment)) return end
  if (!(await listIfOfAnother(engine, payment, outcome, 'while its reversal was under way')))
    return end
  return { ...end, outcome: { ...outcome, refs: refsOfSuccess(payment, outcome) } }
}

/** The end of a payment that was taken back by its key. */
export const reversedAs = (
  { answer }: Payment,
  refs: Refs = {},
  code: ResultReason = provenNotCharged,
) => ({ is: 'declined', reason: answer.reversal?.code ?? code, refs }) as const

/** The payment stays as it is. */
export const left = (refs: Refs, why: string): End => ({
  outcome: { is: 'unknown', refs, why },
  source: 'enquiry',
  isNothing: true,
})

export const ofOtherAmount = 'approved for another amount or currency'

/** For an operator's question nothing is undone, and the payment's money stays frozen. */
export async function leftOther(
  engine: Engine,
  { payment }: AttemptContext,
  found: Approved,
): Promise<End> {
  await noteApproval(engine, payment, found)
  return left(refsOfSuccess(payment, found), ofOtherAmount)
}

export const sourceOf = (reason: Reason): Source => (reason === 'expiry' ? 'expiry' : 'reversal')

/** The code of a payment that was undone. */
export const reasonOf = {
  look: provenNotCharged,
  question: provenNotCharged,
  expiry: ranOutOfTime,
  'new-try': cancelledByShopper,
} as const satisfies Record<Reason, string>
