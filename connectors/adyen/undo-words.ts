/**
 * What was asked and told about the payments of one name: facts as they came, and no conclusions. Adyen tells them in
 * any order, and repeats them. `undo-judgement.ts` says what follows from them.
 */
import type { Item } from './signature.ts'

export type Words = {
  /** Of the operation, once its reversal was asked for. */
  readonly amount?: { readonly minor: string; readonly currency: string }
  /** Adyen's references of payments that a webhook told as authorised. */
  readonly authorised: readonly string[]
  /** Of payments that the engine told: it knows them from a report, an operator, or another account. */
  readonly reported: readonly string[]
  /** Of payments that a webhook told as refused. */
  readonly refused: readonly string[]
  /** Our own requests. */
  readonly tries: readonly Try[]
  readonly told: readonly Told[]
}

export type Try = {
  readonly round: number
  /** The payment that it names by Adyen's reference, which also undoes a captured one. Else it names our reference. */
  readonly of?: string
  /** Adyen's reference of the try, once its answer told it. */
  readonly psp?: string
  /** Adyen refused the request, or its login, which says nothing about the payment. */
  readonly answer?: 'refused' | 'login'
  /** While it was under way, the payment was taken back in another way: the next try has another name. */
  readonly isPassed?: true
}

/** A webhook about a cancellation: a try of ours, or one under the payment's own name, as in the Customer Area. */
export type Told = {
  /** `returned`: Adyen gave the money back, and it came back to the merchant later. */
  readonly is: 'done' | 'failed' | 'returned'
  readonly psp: string
  /** The payment; or the cancellation, for a failure with a reference of its own. Empty where it is not told. */
  readonly original: string
  readonly eventCode: string
  readonly value: number
  readonly currency: string
  /** The try that it names by our own reference. */
  readonly round?: number
  /** It came after the reversal was asked for, and is claimed for the amount of the operation. */
  readonly isAsked?: true
  /** The engine heard that another payment of the name stood, and hears the same of a repeat. */
  readonly isNoted?: true
}

export const noWords: Words = { authorised: [], reported: [], refused: [], tries: [], told: [] }

export const toldBy = (is: Told['is'], item: Item, round: number | undefined): Told => ({
  is,
  psp: item.pspReference,
  original: item.originalReference,
  eventCode: item.eventCode,
  value: item.value,
  currency: item.currency,
  ...(round === undefined ? {} : { round }),
})

export const isSame = (one: Told, other: Told): boolean =>
  one.is === other.is && one.psp === other.psp && (one.round ?? 0) === (other.round ?? 0)

/** With a word. A repeat adds nothing but the payment that the first one did not name. */
export function withTold(words: Words, word: Told): Words {
  const known = words.told.find((one) => isSame(one, word))
  if (known === undefined) return { ...words, told: bounded([...words.told, word]) }
  if (known.original !== '' || word.original === '') return words
  return amended(words, { ...known, original: word.original })
}

export const amended = (words: Words, word: Told): Words => ({
  ...words,
  told: words.told.map((one) => (isSame(one, word) ? word : one)),
})

export const withPayment = (
  words: Words,
  list: 'authorised' | 'reported' | 'refused',
  psp: string,
): Words =>
  words[list].includes(psp) || words[list].length === most
    ? words
    : { ...words, [list]: [...words[list], psp] }

export const withTry = (words: Words, made: Try): Words => ({
  ...words,
  tries: words.tries.some(({ round }) => round === made.round)
    ? words.tries.map((one) => (one.round === made.round ? made : one))
    : [...words.tries, made].slice(-most),
})

const most = 64

/** A failure says the least, so the oldest failure makes room. */
function bounded(told: readonly Told[]): readonly Told[] {
  if (told.length <= most) return told
  const least = Math.max(
    told.findIndex(({ is }) => is === 'failed'),
    0,
  )
  return told.toSpliced(least, 1)
}
