/** What an acquirer does with an operation, and what it lets us know of it. */

export type Amount = 'same' | 'less' | 'more' | 'other currency'

export type Fate = {
  /** What its books will say. `coming`: the request is on its way and arrives the next night. */
  readonly becomes: 'done' | 'accepted' | 'declined' | 'pending' | 'nothing' | 'coming'
  readonly amount: Amount
  /**
   * `unreachable`: nobody listens at its port, so that not one byte is written. `late`: after the
   * deadline, when what was coming arrives.
   */
  readonly answer: 'truth' | 'lost' | 'unreachable' | 'late'
  /** So many enquiries still say "not found" of what is in its books. */
  readonly hidden: number
  /** What a repeat under the same key meets. */
  readonly repeat: 'truth' | 'unreachable' | 'lost'
  /** Whether a reversal by the key works. */
  readonly undo: 'works' | 'too late' | 'no answer'
}

export const approving: Fate = {
  becomes: 'done',
  amount: 'same',
  answer: 'truth',
  hidden: 0,
  repeat: 'truth',
  undo: 'works',
}

/** In few words, and only what is not ordinary. */
export function shownFate(fate: Fate): string {
  const words: string[] = [fate.becomes]
  if (fate.amount !== 'same') words.push(fate.amount)
  if (fate.answer !== 'truth') words.push(`answer ${fate.answer}`)
  if (fate.hidden > 0) words.push(`hidden from ${fate.hidden} enquiries`)
  if (fate.repeat !== 'truth') words.push(`repeat ${fate.repeat}`)
  if (fate.undo !== 'works') words.push(`undo ${fate.undo}`)
  return words.join(', ')
}
