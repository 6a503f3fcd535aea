/**
 * The rules of the sums. Every change of a payment moves it between two places, and the difference
 * of the two places is the change of the sums, so every move has an inverse. Pure.
 */
import type { Effect } from './operation-kinds.ts'
import type { AttemptState, PaymentState } from './types.ts'

/** Columns of a balance that payments add to. */
export const sumNames = [
  'authorised',
  'increasing',
  'capturing',
  'captured',
  'reversing',
  'reversed',
  'refunding',
  'refunded',
] as const

export type SumName = (typeof sumNames)[number]

/** Differences in minor units, and in the number of captures. */
export type Sums = { readonly [Name in SumName]: bigint } & { readonly captures: number }

/** The place of a payment in the sums: open (reserved), done, or gone (counts for nothing). */
export type Place = 'open' | 'done' | 'gone'

/**
 * A payment's contribution to a balance at a place, in multiples of its amount; `captures` as a
 * count.
 */
type Share = { readonly [Name in SumName | 'captures']?: 1 | -1 }

type Shares = {
  /** On the balance of the reservation. */
  readonly own: { readonly open: Share; readonly done: Share }
  /** On the authorisation that gets a reversed capture's amount back. */
  readonly returned?: { readonly done: Share }
  /** The permanent mark of `sequence=FINAL`, or of a replacement on the replaced authorisation. */
  readonly mark?: Mark
}

export type Mark = 'capture_final_by' | 'refund_final_by' | 'reverse_final_by' | 'closed_by'

const nothing: Shares = { own: { open: {}, done: {} } }

/** The complete rules of the sums. */
export const shares: Readonly<Record<Effect, Shares>> = {
  verification: nothing,
  authentication: nothing,
  authorisation: nothing,
  sale: nothing,
  undo: nothing,
  chargeback: nothing,
  'chargeback-reversal': nothing,
  increase: { own: { open: { increasing: 1 }, done: { authorised: 1 } } },
  replacement: { own: { open: {}, done: {} }, mark: 'closed_by' },
  capture: {
    own: { open: { capturing: 1, captures: 1 }, done: { captured: 1, captures: 1 } },
    mark: 'capture_final_by',
  },
  release: { own: { open: { reversing: 1 }, done: { reversed: 1 } }, mark: 'reverse_final_by' },
  void: {
    own: { open: { reversing: 1 }, done: { reversed: 1 } },
    returned: { done: { captured: -1, captures: -1 } },
    mark: 'reverse_final_by',
  },
  refund: { own: { open: { refunding: 1 }, done: { refunded: 1 } }, mark: 'refund_final_by' },
}

/** Effects that use up what another payment has left. */
export const consuming: ReadonlySet<Effect> = new Set(['capture', 'release', 'void', 'refund'])

/** Effects that an acquirer cannot undo: a late success of these counts as done at once. */
export const cannotBeUndone: ReadonlySet<Effect> = new Set(['release', 'void'])

export const noSums: Sums = {
  authorised: 0n,
  increasing: 0n,
  capturing: 0n,
  captured: 0n,
  reversing: 0n,
  reversed: 0n,
  refunding: 0n,
  refunded: 0n,
  captures: 0,
}

function times(share: Share, amount: bigint): Sums {
  const sums: { [Name in SumName]: bigint } & { captures: number } = { ...noSums }
  for (const name of sumNames) sums[name] = BigInt(share[name] ?? 0) * amount
  sums.captures = share.captures ?? 0
  return sums
}

export function minus(to: Sums, from: Sums): Sums {
  const sums: { [Name in SumName]: bigint } & { captures: number } = { ...noSums }
  for (const name of sumNames) sums[name] = to[name] - from[name]
  sums.captures = to.captures - from.captures
  return sums
}

/** A payment's contribution to the balance of its reservation, at a place. */
export function sumsAt(effect: Effect, amount: bigint, place: Place): Sums {
  return place === 'gone' ? noSums : times(shares[effect].own[place], amount)
}

/** The move of a payment between two places. */
export type Move = {
  /** On the balance of the reservation. */
  readonly own: Sums
  /** On the authorisation of a reversed capture. */
  readonly returned: Sums
  /** The change of the payment's mark. */
  readonly mark: { readonly name: Mark; readonly is: 'taken' | 'released' } | null
}

/**
 * @param isMarked Whether the payment sets its mark: a replacement always does, others with
 * `sequence=FINAL`.
 * @param own Its amounts on the balance of the reservation, where they differ from the amount.
 */
export function moveBetween(
  effect: Effect,
  amount: bigint,
  from: Place,
  to: Place,
  isMarked: boolean,
  own: { readonly from: bigint; readonly to: bigint } = { from: amount, to: amount },
): Move {
  const { mark, returned } = shares[effect]
  const back = (place: Place) =>
    place === 'done' && returned !== undefined ? times(returned.done, amount) : noSums
  const isKept = (place: Place) => place !== 'gone'
  return {
    own: minus(sumsAt(effect, own.to, to), sumsAt(effect, own.from, from)),
    returned: minus(back(to), back(from)),
    mark:
      mark === undefined || !isMarked || isKept(from) === isKept(to)
        ? null
        : { name: mark, is: isKept(to) ? 'taken' : 'released' },
  }
}

/** The place of a payment in the sums, from its state and its attempt's state. */
export function placeOf(effect: Effect, state: PaymentState, attempt: AttemptState): Place {
  if (state === 'approved') return 'done'
  if (attempt === 'late') return cannotBeUndone.has(effect) ? 'done' : 'open'
  return state === 'declined' || state === 'expired' ? 'gone' : 'open'
}
