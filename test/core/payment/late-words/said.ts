/** The words of the acquirer, and their amounts. */
import {
  accepted,
  declined,
  type Found,
  type Money,
  type Outcome,
  pending,
  type Refs,
  type ReversalEnd,
  unknown,
} from '@tollgate/plugin-kit'
import { more, type Standing, type Word } from './cells.ts'

/** The currency of a payment, and its minor units of a hundredth. */
export type Amounts = { readonly currency: 'EUR' | 'KWD'; readonly unit: 1 | 10 }

/** Of an acquirer that has said nothing yet. */
export function unsaid(standing: Standing): Found {
  if (standing === 'expired') return { is: 'notFound' }
  return standing === 'reversing' ? { is: 'requested' } : unknown('no answer')
}

export function outcomeOf(word: Word, refs: Refs, amount: Money): Outcome | ReversalEnd {
  switch (word) {
    case 'accepted':
      return accepted(refs, 'event')
    case 'declined':
      return declined('800.100.203', { refs })
    case 'pending':
      return pending('event', { refs })
    case 'unknown':
      return unknown('it is not known')
    case 'reversed':
    case 'reversed for less':
      return { is: 'reversed', refs }
    case 'not reversed':
      return { is: 'notReversed', refs, why: 'the reversal failed' }
    default:
      return { is: 'approved', refs, amount }
  }
}

export const money = ({ unit, currency }: Amounts, hundredths: number) => ({
  minor: BigInt(hundredths * unit),
  currency: currency as string,
})

export function moneyOf(played: Amounts, word: Word, amount: number) {
  const same = money(played, amount)
  switch (word) {
    case 'approved for less':
    case 'reversed for less':
      return money(played, amount / 2)
    case 'approved for more':
      return money(played, amount + more)
    case 'approved in another currency':
      return { ...same, currency: 'USD' }
    case 'approved for what the wire cannot say':
      return { ...same, minor: 9255n }
    default:
      return same
  }
}
