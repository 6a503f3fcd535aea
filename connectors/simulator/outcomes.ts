import {
  approved,
  declined,
  type Found,
  type Money,
  type Outcome,
  type Pending,
  pending,
  type Redirect,
  type Refs,
  type Reversed,
  unknown,
} from '@tollgate/plugin-kit'
import { isPending, isResultCode, resultAdvice } from '@tollgate/schemas'
import type { Answer, Reversal } from './answer.ts'
import { reasonFor } from './reasons.ts'

/** The acquirer's code of an approval. */
const done = '00'

/** What an enquiry at this acquirer finds: it reverses at once. */
export type SimulatorFound = Exclude<Found, { is: 'requested' | 'reversed' | 'notReversed' }>

/** The acquirer's answer as an outcome, the same for every transport. */
export function toFound(answer: Answer, asked: Money, redirect?: Redirect): SimulatorFound {
  const { code, avs, cvv } = answer
  const shown = {
    code,
    ...(avs === undefined ? {} : { avs }),
    ...(cvv === undefined ? {} : { cvv }),
  }
  const refs: Refs = answer.reference === undefined ? {} : { reference: answer.reference }
  switch (answer.status) {
    case 'approved':
      if (code !== done) return unknown('approved with a code that is no approval', { refs })
      return approved(refs, {
        ...shown,
        ...(answer.networkTxId === undefined ? {} : { networkTxId: answer.networkTxId }),
        ...(answer.amount === undefined || isSame(answer.amount, asked)
          ? {}
          : { amount: answer.amount }),
      })
    case 'declined': {
      const reason = reasonFor(code)
      const advice = resultAdvice(reason)
      return declined(reason, {
        ...shown,
        refs,
        ...(advice === undefined ? {} : { advice }),
        ...(answer.text === undefined ? {} : { text: answer.text }),
      })
    }
    case 'pending':
      return pending(nextOf(answer, redirect), {
        ...shown,
        refs,
        ...(isResultCode(code) && isPending(code) ? { reason: code } : {}),
        ...(answer.expiresAt === undefined ? {} : { expiresAt: new Date(answer.expiresAt) }),
      })
    case 'notFound':
      return { is: 'notFound', why: 'the acquirer knows no operation with this key' }
  }
}

/** Like `toFound`, for the answer to an operation, where an unknown key is a fault. */
export function toOutcome(answer: Answer, asked: Money, redirect?: Redirect): Outcome {
  const found = toFound(answer, asked, redirect)
  return found.is === 'notFound'
    ? { is: 'unknown', why: 'the acquirer does not know the operation it received' }
    : found
}

export function toReversed({ status, code, reference }: Reversal): Reversed {
  const refs: Refs = reference === undefined ? {} : { reference }
  if (status !== 'refused') return { is: status, refs }
  return { is: 'refused', why: `the acquirer refused: ${code}`, reason: reasonFor(code) }
}

function nextOf({ wait }: Answer, redirect: Redirect | undefined): Pending['next'] {
  if (wait === 'shopper') return redirect ?? 'event'
  return wait === undefined || wait === 'event' ? 'event' : { poll: wait.pollMs }
}

const isSame = (one: Money, other: Money): boolean =>
  one.minor === other.minor && one.currency === other.currency
