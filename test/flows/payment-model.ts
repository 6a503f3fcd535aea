/** The expected sums of payments: the rules of the follow-up table, without a database. */

/** The course of one operation: answered at once, or lost and resolved later. */
export type Fate = 'approved' | 'declined' | 'not-sent' | 'lost-approved' | 'lost-declined'

export type Final = { capture: boolean; refund: boolean; reverse: boolean }

/** An authorisation with its increments, or a sale (a capture). All amounts in minor units. */
export type Account = {
  readonly id: string
  readonly kind: 'authorisation' | 'sale'
  readonly final: Final
  /** The authorisation of a captured sale. */
  readonly from: Account | undefined
  readonly wasFinal: boolean
  readonly max: number
  members: string[]
  authorised: number
  captured: number
  capturing: number
  increasing: number
  reversed: number
  reversing: number
  refunded: number
  refunding: number
  captures: number
  closed: boolean
  chargeback: string | undefined
  isOpen: boolean
}

/** The reservation of an operation, and its two ends. */
export type Reservation = { readonly approve: (id: string) => void; readonly giveBack: () => void }

export type Model = {
  readonly accounts: Account[]
  /** Operations with a lost answer, until an enquiry. */
  readonly lost: { id: string; fate: Fate; reservation: Reservation }[]
}

export const newAccount = (
  id: string,
  kind: Account['kind'],
  minor: number,
  more: { from?: Account; wasFinal?: boolean; max?: number } = {},
): Account => ({
  id,
  kind,
  final: { capture: false, refund: false, reverse: false },
  from: more.from,
  wasFinal: more.wasFinal === true,
  max: more.max ?? Number.POSITIVE_INFINITY,
  members: [id],
  authorised: kind === 'authorisation' ? minor : 0,
  captured: kind === 'sale' ? minor : 0,
  capturing: 0,
  increasing: 0,
  reversed: 0,
  reversing: 0,
  refunded: 0,
  refunding: 0,
  captures: 0,
  closed: false,
  chargeback: undefined,
  isOpen: true,
})

const rest = (on: Account) =>
  on.authorised - on.captured - on.capturing - on.reversed - on.reversing

type Asked = { minor: number; final: boolean }
/** A reservation, or the code of the refusal. */
type Decided = Reservation | string

export function capture(model: Model, on: Account, { minor, final }: Asked): Decided {
  if (
    on.final.capture ||
    on.closed ||
    on.reversing > 0 ||
    on.captures >= on.max ||
    minor > rest(on)
  ) {
    return '700.400.100'
  }
  on.capturing += minor
  on.captures += 1
  on.final.capture = final
  const settle = () => {
    on.capturing -= minor
  }
  return {
    approve(id) {
      settle()
      on.captured += minor
      model.accounts.push(newAccount(id, 'sale', minor, { from: on, wasFinal: final }))
    },
    giveBack() {
      settle()
      on.captures -= 1
      if (final) on.final.capture = false
    },
  }
}

/** RV of an authorisation. Without `minor`: the whole rest. */
export function release(
  on: Account,
  { minor, final }: { minor?: number; final: boolean },
): Decided {
  const open = rest(on)
  const isBusy = on.capturing + on.reversing + on.increasing > 0
  const amount = minor ?? open
  if (on.final.reverse || on.closed || isBusy || open <= 0 || amount > open) return '700.400.300'
  on.reversing = amount
  on.final.reverse = final
  return {
    approve() {
      on.reversing = 0
      on.reversed += amount
    },
    giveBack() {
      on.reversing = 0
      if (final) on.final.reverse = false
    },
  }
}

/** RV of a sale: all of it, back to its origin. */
export function undo(on: Account): Decided {
  if (on.chargeback !== undefined) return '700.300.600'
  const isTouched = on.refunded + on.refunding + on.reversed + on.reversing > 0
  if (isTouched || on.final.reverse) return '700.400.300'
  const amount = on.captured
  on.reversing = amount
  return {
    approve() {
      on.reversing = 0
      on.reversed = amount
      if (on.from === undefined) return
      on.from.captured -= amount
      on.from.captures -= 1
      if (on.wasFinal) on.from.final.capture = false
    },
    giveBack() {
      on.reversing = 0
    },
  }
}

export function refund(on: Account, { minor, final }: Asked): Decided {
  if (on.chargeback !== undefined) return '700.300.600'
  const isTooMuch = on.refunded + on.refunding + minor > on.captured
  if (on.final.refund || on.reversed + on.reversing > 0 || isTooMuch) return '700.400.200'
  on.refunding += minor
  on.final.refund = final
  return {
    approve() {
      on.refunding -= minor
      on.refunded += minor
    },
    giveBack() {
      on.refunding -= minor
      if (final) on.final.refund = false
    },
  }
}

const isOver = (on: Account) =>
  on.final.capture ||
  on.closed ||
  on.reversing > 0 ||
  (on.reversed > 0 && on.captured + on.reversed >= on.authorised)

export function increase(on: Account, minor: number): Decided {
  if (isOver(on)) return '700.300.300'
  on.increasing += minor
  return {
    approve(id) {
      on.increasing -= minor
      on.authorised += minor
      on.members.push(id)
    },
    giveBack() {
      on.increasing -= minor
    },
  }
}

export function replace(model: Model, on: Account, minor: number): Decided {
  if (isOver(on) || on.capturing + on.increasing > 0) return '700.300.300'
  on.closed = true
  return {
    approve(id) {
      model.accounts.push(newAccount(id, 'authorisation', minor))
    },
    giveBack() {
      on.closed = false
    },
  }
}
