/**
 * The cells of the table of late words: the payment, the state of its sums, and the reported word.
 */

export const subjects = [
  'authorisation',
  'sale',
  'credit',
  'capture',
  'release',
  'void',
  'void of a capture',
  'refund',
  'increase',
  'replacement',
  'undo',
] as const
export type Subject = (typeof subjects)[number]

export const standings = [
  'undecided',
  'pending',
  'reversing',
  'approved',
  'accepted',
  'declined',
  'expired',
  'late',
  'late, may fail',
] as const
export type Standing = (typeof standings)[number]

export const words = [
  'approved',
  'approved for less',
  'approved for more',
  'approved in another currency',
  'approved for what the wire cannot say',
  'accepted',
  'declined',
  'pending',
  'unknown',
  'reversed',
  'reversed for less',
  'not reversed',
] as const
export type Word = (typeof words)[number]

/** The way in which the acquirer undoes a late success. */
export type Undo = 'by its key' | 'by a reversal' | 'in vain'

export type Sums = {
  readonly authorised: number
  readonly increasing: number
  readonly capturing: number
  readonly captured: number
  readonly reversing: number
  readonly reversed: number
  readonly refunding: number
  readonly refunded: number
  readonly captures: number
}

/** An event before the word, and its effect on balances. Amounts in hundredths. */
export type Situation = {
  readonly name: string
  readonly steps: readonly Step[]
  readonly own?: Partial<Sums>
  readonly parent?: Partial<Sums>
  /** The effect on the parent while the payment itself is done. */
  readonly parentWhileDone?: Partial<Sums>
  readonly returned?: Partial<Sums>
  readonly closes?: 'own' | 'parent'
  /** The amount charged back on the payment itself. */
  readonly chargedBack?: number
}

export type Step = {
  readonly on: 'own' | 'parent' | 'returned'
  readonly does: 'capture' | 'reverse' | 'refund' | 'replace' | 'charge back'
  /** Without an amount, a reversal covers the whole rest. */
  readonly amount?: number
}

export type Cell = {
  readonly subject: Subject
  readonly standing: Standing
  readonly word: Word
  readonly situation: Situation
  readonly undo: Undo
}

/** The amount of first payments, and of the payments that follow-ups refer to. */
export const whole = 9200
export const part = 6000

/** Subjects that move the amount of a first payment. */
const ofWhole: readonly Subject[] = ['authorisation', 'sale', 'credit', 'void', 'undo']

/** Hundredths above the amount in “approved for more”. */
export const more = 100

export const amountOf = (subject: Subject): number => (ofWhole.includes(subject) ? whole : part)

const untouched: Situation = { name: 'untouched', steps: [] }

const took = (name: string, amount: number): Situation => ({
  name,
  steps: [{ on: 'own', does: 'capture', amount }],
  own: { captured: amount, captures: 1 },
})

/** Follow-ups on an approved authorisation. */
const ofAuthorisations = (amount: number): readonly Situation[] => [
  took('captured in part', amount / 2),
  took('captured', amount),
  { name: 'released', steps: [{ on: 'own', does: 'reverse' }], own: { reversed: amount } },
  { name: 'replaced', steps: [{ on: 'own', does: 'replace', amount: whole }], closes: 'own' },
]

const gaveBack = (name: string, amount: number): Situation => ({
  name,
  steps: [{ on: 'own', does: 'refund', amount }],
  own: { refunded: amount },
})

const chargedBack = (name: string, amount: number): Situation => ({
  name,
  steps: [{ on: 'own', does: 'charge back', amount }],
  chargedBack: amount,
})

/** Follow-ups on captured money. */
const ofSales = (amount: number): readonly Situation[] => [
  gaveBack('refunded in part', amount / 2),
  gaveBack('refunded', amount),
  chargedBack('charged back in part', amount / 2),
  chargedBack('charged back', amount),
]

const standing: Readonly<Record<Subject, readonly Situation[]>> = {
  authorisation: ofAuthorisations(whole),
  replacement: ofAuthorisations(part),
  sale: [
    ...ofSales(whole),
    { name: 'reversed', steps: [{ on: 'own', does: 'reverse' }], own: { reversed: whole } },
  ],
  credit: [],
  undo: [],
  capture: [
    ...ofSales(part),
    {
      name: 'reversed',
      steps: [{ on: 'own', does: 'reverse' }],
      own: { reversed: part },
      parentWhileDone: { captured: -part, captures: -1 },
    },
    {
      name: 'its authorisation replaced',
      steps: [{ on: 'parent', does: 'replace', amount: whole }],
      closes: 'parent',
    },
  ],
  refund: [
    chargedBack('charged back', part),
    {
      name: 'beside another one',
      steps: [{ on: 'parent', does: 'refund', amount: whole - part }],
      parent: { refunded: whole - part },
    },
  ],
  release: [
    {
      name: 'the rest captured',
      steps: [{ on: 'parent', does: 'capture', amount: whole - part }],
      parent: { captured: whole - part, captures: 1 },
    },
  ],
  void: [],
  'void of a capture': [
    {
      name: 'captured again',
      steps: [{ on: 'returned', does: 'capture', amount: whole }],
      returned: { captured: whole, captures: 1 },
    },
  ],
  increase: [
    {
      name: 'captured',
      steps: [{ on: 'parent', does: 'capture', amount: whole + part }],
      parent: { captured: whole + part, captures: 1 },
    },
  ],
}

const taken: Situation = {
  name: 'another one captured everything',
  steps: [{ on: 'parent', does: 'capture', amount: whole }],
  parent: { captured: whole, captures: 1 },
}
const released: Situation = {
  name: 'its authorisation released',
  steps: [{ on: 'parent', does: 'reverse' }],
  parent: { reversed: whole },
}
const replaced: Situation = {
  name: 'its authorisation replaced',
  steps: [{ on: 'parent', does: 'replace', amount: whole }],
  closes: 'parent',
}

/** Operations made in place of a payment that was declined. */
const instead: Readonly<Record<Subject, readonly Situation[]>> = {
  authorisation: [],
  sale: [],
  credit: [],
  undo: [],
  capture: [taken, released, replaced],
  release: [taken, replaced],
  increase: [taken, released, replaced],
  replacement: [taken, released, replaced],
  refund: [
    {
      name: 'another one refunded everything',
      steps: [{ on: 'parent', does: 'refund', amount: whole }],
      parent: { refunded: whole },
    },
    {
      name: 'the sale reversed',
      steps: [{ on: 'parent', does: 'reverse' }],
      parent: { reversed: whole },
    },
  ],
  void: [
    {
      name: 'the sale refunded',
      steps: [{ on: 'parent', does: 'refund', amount: part }],
      parent: { refunded: part },
    },
  ],
  'void of a capture': [
    {
      name: 'the capture refunded',
      steps: [{ on: 'parent', does: 'refund', amount: part }],
      parent: { refunded: part },
    },
    {
      name: 'the rest captured',
      steps: [{ on: 'returned', does: 'capture', amount: whole - part }],
      returned: { captured: whole - part, captures: 1 },
    },
  ],
}

function situationsOf(subject: Subject, is: Standing): readonly Situation[] {
  if (is === 'approved' || is === 'accepted') return [untouched, ...standing[subject]]
  if (is === 'declined') return [untouched, ...instead[subject]]
  return [untouched]
}

/** The state of sums matters for words that move them, and for one that must not. */
const moving: readonly Word[] = ['approved', 'approved for less', 'accepted', 'declined']

/** Ways to differ from the requested amount, beside the first one. */
const otherwise: readonly Word[] = [
  'approved for more',
  'approved in another currency',
  'approved for what the wire cannot say',
]

function wordsIn(subject: Subject, is: Standing, situation: Situation): readonly Word[] {
  if (situation !== untouched) return moving
  const isOnce = subject === 'undo' || is === 'reversing'
  return isOnce ? words.filter((word) => !otherwise.includes(word)) : words
}

/** A late success is undone in each possible way. */
function undosOf(
  subject: Subject,
  is: Standing,
  situation: Situation,
  word: Word,
): readonly Undo[] {
  const isTakenBack =
    subject !== 'undo' &&
    is === 'declined' &&
    situation === untouched &&
    (word === 'approved' || word === 'accepted')
  return isTakenBack ? ['by its key', 'by a reversal', 'in vain'] : ['by its key']
}

/** A reversal of the engine's own is never a late success by a word. */
const standingsOf = (subject: Subject): readonly Standing[] =>
  subject === 'undo' ? standings.filter((is) => !is.startsWith('late')) : standings

export const cells: readonly Cell[] = subjects.flatMap((subject) =>
  standingsOf(subject).flatMap((is) =>
    situationsOf(subject, is).flatMap((situation) =>
      wordsIn(subject, is, situation).flatMap((word) =>
        undosOf(subject, is, situation, word).map((undo) => ({
          subject,
          standing: is,
          situation,
          word,
          undo,
        })),
      ),
    ),
  ),
)

export const nameOf = ({ subject, standing: is, situation, word, undo }: Cell): string =>
  `${subject}, ${is}, ${situation.name}: ${word}${undo === 'by its key' ? '' : `, undone ${undo}`}`
