/** The expected balances around a payment, computed independently in a few lines. */
import { amountOf, type Cell, type Subject, type Sums, whole } from './cells.ts'

export type Place = 'open' | 'done' | 'gone'

export type Balance = Sums & {
  readonly excess: number
  readonly isClosed: boolean
  /** Refunds and reversals wait until an operator closes an entry. */
  readonly isFrozen: boolean
}

export type Balances = {
  readonly own: Balance | null
  readonly parent: Balance | null
  readonly returned: Balance | null
  /** The amount of an entry beyond the limits. */
  readonly beyond: number | null
}

/** Refunds and reversals of the payment wait; for an increment, those of its root. */
export const frozen = ({ own, parent, ...more }: Balances): Balances => ({
  ...more,
  own: own === null ? null : { ...own, isFrozen: true },
  parent: parent === null || own !== null ? parent : { ...parent, isFrozen: true },
})

/** Follow-ups of the payment wait, and those of the payment it was taken from. */
export const allFrozen = ({ own, parent, ...more }: Balances): Balances => ({
  ...more,
  own: own === null ? null : { ...own, isFrozen: true },
  parent: parent === null ? null : { ...parent, isFrozen: true },
})

/** The amount that a payment adds to the balance of its reservation. */
function share(subject: Subject, place: Place, amount: number): Partial<Sums> {
  if (place === 'gone') return {}
  switch (subject) {
    case 'capture':
      return { [place === 'open' ? 'capturing' : 'captured']: amount, captures: 1 }
    case 'refund':
      return { [place === 'open' ? 'refunding' : 'refunded']: amount }
    case 'increase':
      return { [place === 'open' ? 'increasing' : 'authorised']: amount }
    case 'release':
    case 'void':
    case 'void of a capture':
      return { [place === 'open' ? 'reversing' : 'reversed']: amount }
    default:
      return {}
  }
}

/**
 * The balances with the payment at this place.
 *
 * @param moved Its amount on the balance of its reservation.
 */
export function sums(
  cell: Cell,
  place: Place,
  hasFailed = false,
  moved: number = amountOf(cell.subject),
): Balances {
  const { subject, situation } = cell
  const amount = amountOf(subject)
  const isAuthorising = subject === 'authorisation' || subject === 'replacement'
  const isTaking =
    subject === 'sale' || subject === 'credit' || subject === 'capture' || subject === 'refund'
  const stands = place === 'done' || hasFailed
  const own =
    stands && (isAuthorising || isTaking)
      ? balance(
          isAuthorising ? 'authorisation' : subject === 'refund' ? 'refund' : 'sale',
          [isAuthorising ? { authorised: amount } : { captured: amount }, situation.own ?? {}],
          hasFailed || situation.closes === 'own',
        )
      : null
  const whileDone = place === 'done' ? (situation.parentWhileDone ?? {}) : {}
  const parentIs = parentOf(subject)
  const parent =
    parentIs === null
      ? null
      : balance(
          parentIs.kind,
          [parentIs.sums, share(subject, place, moved), situation.parent ?? {}, whileDone],
          situation.closes === 'parent' ||
            // A replacement that failed after its captures still stands for what they took.
            (subject === 'replacement' && (place !== 'gone' || (own?.captured ?? 0) > 0)),
        )
  const returned =
    subject !== 'void of a capture'
      ? null
      : balance(
          'authorisation',
          [
            { authorised: whole },
            place === 'done' ? {} : { captured: amount, captures: 1 },
            situation.returned ?? {},
          ],
          false,
        )
  return {
    own,
    parent,
    returned,
    beyond: hasFailed ? beyondOf(cell, own, parent, returned) : null,
  }
}

/** The refunded or used amount of a failed payment that nothing returns. Null: not listed. */
function beyondOf(
  { situation, subject }: Cell,
  own: Balance | null,
  parent: Balance | null,
  returned: Balance | null,
): number | null {
  const used = own === null ? 0 : own.refunded + own.refunding
  const taken = own === null || own.authorised === 0 ? 0 : own.captured + own.capturing
  const beyond = used + taken + (parent?.excess ?? 0) + (returned?.excess ?? 0)
  const isChargedBack = situation.chargedBack !== undefined && subject !== 'refund'
  return beyond > 0 || isChargedBack ? beyond : null
}

function parentOf(subject: Subject): { kind: Kind; sums: Partial<Sums> } | null {
  switch (subject) {
    case 'authorisation':
    case 'sale':
    case 'credit':
    case 'undo':
      return null
    case 'void':
    case 'refund':
      return { kind: 'sale', sums: { captured: whole } }
    case 'void of a capture':
      return { kind: 'sale', sums: { captured: amountOf(subject) } }
    default:
      return { kind: 'authorisation', sums: { authorised: whole } }
  }
}

type Kind = 'authorisation' | 'sale' | 'refund'

const none: Sums = {
  authorised: 0,
  increasing: 0,
  capturing: 0,
  captured: 0,
  reversing: 0,
  reversed: 0,
  refunding: 0,
  refunded: 0,
  captures: 0,
}
export const sumNames = Object.keys(none) as readonly (keyof Sums)[]

function balance(kind: Kind, shares: readonly Partial<Sums>[], isClosed: boolean): Balance {
  const sum = (name: keyof Sums) => shares.reduce((all, one) => all + (one[name] ?? 0), 0)
  const all = Object.fromEntries(sumNames.map((name) => [name, sum(name)])) as Sums
  const used =
    kind === 'authorisation'
      ? all.captured + all.capturing + all.reversed + all.reversing - all.authorised
      : kind === 'sale'
        ? all.refunded + all.refunding + all.reversed + all.reversing - all.captured
        : 0
  return { ...all, excess: Math.max(0, used), isClosed, isFrozen: false }
}
