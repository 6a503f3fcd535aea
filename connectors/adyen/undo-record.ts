/** The records of reversals by key: the words about each name, and what Adyen calls each cancellation. */
import type { Json, Records } from '@tollgate/plugin-kit'
import { noWords, type Told, type Words } from './undo-words.ts'

export const undoName = (key: string): string => `undo:${key}`

async function read(records: Records, key: string) {
  const value = await records.get(undoName(key))
  return { value, words: (value as unknown as Words | undefined) ?? noWords }
}

export const wordsOf = async (records: Records, key: string): Promise<Words> =>
  (await read(records, key)).words

/** Changes the words about a name. Several webhooks can arrive at once. */
export async function amendWords(
  records: Records,
  key: string,
  change: (known: Words) => Words,
): Promise<Words> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const { value, words } = await read(records, key)
    const next = change(words)
    if (next === words) return words
    if (await records.swap(undoName(key), value, next as unknown as Json)) return next
  }
  throw new Error('the record of a reversal changes all the time')
}

const mostTries = 8

/** What is known of a cancellation by Adyen's reference: a failure can come later, and name nothing else. */
type Cancellation = {
  /** Of the payment, once an answer or a success told it. */
  readonly key?: string
  /** The try of ours. */
  readonly round?: number
  /** The first one. Without a key, it may be that of a refund by hand, which the engine never heard of. */
  readonly returned?: Told
}

const cancellationName = (psp: string): string => `undo-try:${psp}`

/** Adds to what is known of a cancellation. What was known first stays, so two words at once miss none of each other. */
export async function noteCancellation(
  records: Records,
  psp: string,
  news: Cancellation,
): Promise<Cancellation> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await records.get(cancellationName(psp))
    const known = (value ?? {}) as Cancellation
    const next = { ...news, ...known }
    if (Object.keys(next).length === Object.keys(known).length) return known
    if (await records.swap(cancellationName(psp), value, next as unknown as Json)) return next
  }
  throw new Error('the record of a cancellation changes all the time')
}

export const cancellationOf = async (records: Records, psp: string): Promise<Cancellation> =>
  ((await records.get(cancellationName(psp))) ?? {}) as Cancellation
