/**
 * The expected result of a word, written from the decisions alone as a small table, without the
 * engine's tables.
 */
import { allFrozen, type Balances, frozen, type Place, sums } from './balances.ts'
import { amountOf, type Cell, more, type Standing, type Subject, type Word } from './cells.ts'

type Comes =
  | 'nothing'
  | 'done'
  | 'done, may fail'
  | 'declined'
  | 'waits'
  /** The acquirer is asked, and the operation is undone there. */
  | 'undone'
  /** The acquirer is asked, and does not know. */
  | 'undecided'
  | 'final'
  | 'fails'
  | 'contradiction'
  | 'return'
  | 'taken back'
  | 'ends'
  /** The reversal that was requested is done, or was carried out without a request. */
  | 'reversed'
  /** The reversal failed: a late success for operators. */
  | 'stands'
  /** Another amount is reported: follow-ups wait until the payment is decided. */
  | 'held'
  /** A success that does not count is listed. */
  | 'heard'
  /** Another amount than any known one was reversed. */
  | 'asked in vain'
  /** The reversal of a payment that is over failed: a late success for operators. */
  | 'over and stands'

const undecided = {
  approved: 'done',
  otherwise: 'undone',
  accepted: 'done, may fail',
  declined: 'declined',
  pending: 'waits',
  unknown: 'undecided',
  reversed: 'reversed',
  'reversed otherwise': 'asked in vain',
  'not reversed': 'stands',
} as const
/** The acquirer took a reversal: a success is no success until the reversal ends. */
const reversing = {
  approved: 'heard',
  otherwise: 'held',
  accepted: 'heard',
  declined: 'declined',
  pending: 'nothing',
  unknown: 'nothing',
  reversed: 'reversed',
  'reversed otherwise': 'asked in vain',
  'not reversed': 'stands',
} as const
const approved = {
  approved: 'nothing',
  otherwise: 'contradiction',
  accepted: 'nothing',
  declined: 'return',
  pending: 'nothing',
  unknown: 'nothing',
  reversed: 'return',
  'reversed otherwise': 'return',
  'not reversed': 'nothing',
} as const
const over = {
  approved: 'taken back',
  otherwise: 'taken back',
  accepted: 'taken back',
  declined: 'nothing',
  pending: 'nothing',
  unknown: 'nothing',
  reversed: 'nothing',
  'reversed otherwise': 'nothing',
  'not reversed': 'over and stands',
} as const
const late = {
  approved: 'nothing',
  otherwise: 'contradiction',
  accepted: 'nothing',
  declined: 'nothing',
  pending: 'nothing',
  unknown: 'nothing',
  reversed: 'ends',
  'reversed otherwise': 'contradiction',
  'not reversed': 'nothing',
} as const

type Said = keyof typeof undecided

const table: Readonly<Record<Standing, Readonly<Record<Said, Comes>>>> = {
  undecided,
  pending: {
    ...undecided,
    pending: 'nothing',
    unknown: 'nothing',
    // The enquiry still calls it pending, so nobody asks again at once.
    'reversed otherwise': 'undecided',
  },
  reversing,
  approved,
  accepted: { ...approved, approved: 'final', declined: 'fails' },
  declined: over,
  expired: over,
  late,
  'late, may fail': { ...late, declined: 'ends' },
}

function saidBy(word: Word): Said {
  switch (word) {
    case 'approved for less':
    case 'approved for more':
    case 'approved in another currency':
    case 'approved for what the wire cannot say':
      return 'otherwise'
    case 'reversed for less':
      return 'reversed otherwise'
    default:
      return word
  }
}

const before: Readonly<Record<Standing, { state: string; code: string; place: Place }>> = {
  undecided: { state: 'unknown', code: '000.200.001', place: 'open' },
  pending: { state: 'pending', code: '000.200.000', place: 'open' },
  reversing: { state: 'unknown', code: '000.200.001', place: 'open' },
  approved: { state: 'approved', code: '000.100.112', place: 'done' },
  accepted: { state: 'approved', code: '000.100.112', place: 'done' },
  declined: { state: 'declined', code: '800.100.155', place: 'gone' },
  expired: { state: 'expired', code: '100.396.103', place: 'gone' },
  late: { state: 'declined', code: '800.100.155', place: 'open' },
  'late, may fail': { state: 'declined', code: '800.100.155', place: 'open' },
}

const isReversal = (subject: Subject) =>
  subject === 'release' || subject === 'void' || subject === 'void of a capture'

/** The visible state of a payment, amounts in hundredths. */
export type Seen = Balances & {
  readonly state: string
  readonly code: string
  readonly mayFail: boolean
  /** Events since the payment reached its state. */
  readonly events: number
  readonly entries: readonly string[]
  readonly asksBack: boolean
}

/** The state of a cell before its word. */
export const stoodAs = (cell: Cell): Seen => seen(cell, 'nothing')

/** The expected state afterwards. */
export function becomes(cell: Cell): Partial<Seen> {
  const isListed = cell.standing === 'late' && cell.word === 'declined' && isReversal(cell.subject)
  // Nobody undoes a reversal, so an operator has to know that it may have failed.
  const comes = isListed ? 'contradiction' : table[cell.standing][saidBy(cell.word)]
  const { entries, own, parent, returned, beyond, ...answered } = seen(cell, comes)
  // An undone operation is heard once more as a late word, and for a reversal operators decide.
  const isBack = isReversal(cell.subject) || cell.subject === 'undo'
  if (comes === 'undone' && isBack) return answered
  const { asksBack, ...standing } = { ...answered, entries, own, parent, returned, beyond }
  // A late success is enquired again at its next due time in any case.
  return isLate(cell) ? standing : { ...standing, asksBack }
}

const isLate = ({ standing }: Cell) => standing === 'late' || standing === 'late, may fail'

/** Nobody uses an amount that is gone, not even where less was asked for. */
const told = ({ subject, word }: Cell) =>
  amountOf(subject) + (word === 'approved for more' ? more : 0)

/** The words by which a payment is over and its money counts. */
const countsLate: ReadonlySet<Comes> = new Set(['taken back', 'stands', 'over and stands'])

function seen(cell: Cell, comes: Comes): Seen {
  const all = seenBut(cell, comes)
  // What a capture gave back late is captured no second time before an operator decides.
  const isDoubtful = countsLate.has(comes) || (isLate(cell) && all.entries.length > 0)
  return all.returned !== null && isDoubtful
    ? { ...all, returned: { ...all.returned, isFrozen: true } }
    : all
}

function seenBut(cell: Cell, comes: Comes): Seen {
  const { subject, standing, undo } = cell
  const { state, code, place: was } = before[standing]
  const now = { state, code, mayFail: standing === 'accepted', events: 0, asksBack: false }
  const place: Place = isLate(cell) && isReversal(subject) ? 'done' : was
  const entries = isLate(cell) ? ['conflict'] : standing === 'reversing' ? ['undecided'] : []
  const declined = { ...now, state: 'declined', events: 1, mayFail: false }
  switch (comes) {
    case 'nothing':
      return { ...now, entries, ...sums(cell, place) }
    case 'done':
    case 'done, may fail': {
      const mayFail = comes === 'done, may fail'
      const done = { ...now, state: 'approved', code: '000.100.112', events: 1, mayFail }
      return { ...done, entries, ...sums(cell, 'done') }
    }
    case 'declined':
      return { ...declined, code: '800.100.203', entries: [], ...sums(cell, 'gone') }
    case 'reversed':
      return { ...declined, code: '900.100.400', entries: [], ...sums(cell, 'gone') }
    case 'stands': {
      const counts = sums(cell, isReversal(subject) ? 'done' : 'open')
      return { ...declined, code: '900.100.400', entries: ['conflict'], ...counts }
    }
    case 'heard':
      return { ...now, entries: [...entries, 'undecided'], ...sums(cell, 'open') }
    case 'asked in vain':
      return { ...now, entries: ['undecided', 'undecided'], ...sums(cell, 'open') }
    case 'over and stands': {
      if (subject === 'undo') return { ...now, entries: ['conflict'], ...sums(cell, 'gone') }
      const counts = sums(cell, isReversal(subject) ? 'done' : 'open')
      return { ...now, entries: ['conflict'], ...counts }
    }
    case 'held':
      return { ...now, entries: [...entries, 'undecided'], ...allFrozen(sums(cell, 'open')) }
    case 'undone': {
      const undone = { ...declined, code: '900.100.400', asksBack: true }
      return { ...undone, entries, ...sums(cell, 'gone') }
    }
    case 'waits': {
      const waits = { ...now, state: 'pending', code: '000.200.000', events: 1 }
      return { ...waits, entries, ...sums(cell, 'open') }
    }
    case 'undecided':
      return { ...now, entries: ['undecided'], ...sums(cell, 'open') }
    case 'final':
      return { ...now, mayFail: false, entries, ...sums(cell, 'done') }
    case 'contradiction':
      return { ...now, entries: [...entries, 'conflict'], ...waiting(cell, sums(cell, place)) }
    case 'return': {
      // Only received money can be returned.
      if (isReversal(subject) || subject === 'refund' || subject === 'undo')
        return { ...now, entries: ['conflict'], ...waiting(cell, sums(cell, 'done')) }
      return { ...now, entries: ['return'], ...frozen(sums(cell, 'done')) }
    }
    case 'fails': {
      const after = sums(cell, 'gone', true)
      const isListed = after.beyond !== null
      return {
        ...declined,
        code: '800.100.203',
        entries: isListed ? ['late-failure'] : [],
        ...after,
      }
    }
    case 'taken back': {
      // A completed reversal is not undone: it counts, where it counts for anything.
      if (subject === 'undo') return { ...now, entries: ['conflict'], ...sums(cell, 'gone') }
      if (isReversal(subject))
        return { ...now, entries: ['conflict'], ...sums(cell, 'done', false, told(cell)) }
      const asked = { ...now, asksBack: true }
      return undo === 'in vain'
        ? { ...asked, entries: ['conflict'], ...sums(cell, 'open', false, told(cell)) }
        : { ...asked, entries: [], ...sums(cell, 'gone') }
    }
    case 'ends':
      // Nobody asked for the reversal of a reversal.
      if (isReversal(subject) && saidBy(cell.word) === 'reversed')
        return { ...now, entries: [...entries, 'conflict'], ...sums(cell, place) }
      return { ...now, entries: [], ...sums(cell, 'gone') }
  }
}

/** Money with two reported amounts waits for operators; a late success counts until it is undone. */
function waiting(cell: Cell, all: Balances): Balances {
  const said = saidBy(cell.word)
  const isTwoAmounts =
    said === 'otherwise' ||
    (said === 'reversed otherwise' && before[cell.standing].place === 'done')
  return isTwoAmounts ? allFrozen(all) : all
}
