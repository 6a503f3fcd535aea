/** The acquirer's treatment of an operation, and the part of it that the engine learns. */

export type Amount = 'same' | 'less' | 'more' | 'other currency'

export type Fate = {
  /** The result in its books. `coming`: the request is delayed and arrives the next night. */
  readonly becomes: 'done' | 'accepted' | 'declined' | 'pending' | 'nothing' | 'coming'
  readonly amount: Amount
  /**
   * `unreachable`: the port refuses connections, so that not one byte is written. `late`: after the
   * deadline, when a delayed request arrives.
   */
  readonly answer: 'truth' | 'lost' | 'unreachable' | 'late'
  /** The number of enquiries answered "not found" in spite of the books. */
  readonly hidden: number
  /** The answer to a repeat under the same key. */
  readonly repeat: 'truth' | 'unreachable' | 'lost'
  /** The result of a reversal by key. */
  readonly undo: 'works' | 'too late' | 'no answer' | 'later'
}

export const approving: Fate = {
  becomes: 'done',
  amount: 'same',
  answer: 'truth',
  hidden: 0,
  repeat: 'truth',
  undo: 'works',
}

/** Short, listing only unusual parts. */
export function shownFate(fate: Fate): string {
  const words: string[] = [fate.becomes]
  if (fate.amount !== 'same') words.push(fate.amount)
  if (fate.answer !== 'truth') words.push(`answer ${fate.answer}`)
  if (fate.hidden > 0) words.push(`hidden from ${fate.hidden} enquiries`)
  if (fate.repeat !== 'truth') words.push(`repeat ${fate.repeat}`)
  if (fate.undo !== 'works') words.push(`undo ${fate.undo}`)
  return words.join(', ')
}
