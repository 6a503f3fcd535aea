import type { TranscriptEntry } from '../net/http.ts'

/** A step, ordered by the database's clock. Every value is safe to show. */
export type Step = {
  readonly at: Date
  /**
   * An operation at the acquirer (`debit`, `enquire`, `reverseByKey`), or `accepted`, `settled`,
   * `repeated`, `wallet`, `acquirer-event`, `attention`, `attention-resolved`, `decision`, `job`, `follow-up`,
   * `execution`, `missed`, `changed`, `payment`, `schedule`, `notification`, `waits`.
   */
  readonly name: string
  readonly text: string
  readonly outcome?: string
  /** Id of another resource that it is about. */
  readonly about?: string
  /**
   * The actor: an operator's name, `engine`, or the source of a decision (`answer`, `enquiry`,
   * `event`).
   */
  readonly by?: string
  readonly durationUs?: number
  readonly sent?: Readonly<Record<string, string>>
  readonly answered?: Readonly<Record<string, string>>
  /** The call's exchange with the acquirer, scrubbed. */
  readonly requests?: readonly TranscriptEntry[]
}

/** Names of people and their reasons are for operators; a merchant's token sees that one decided. */
export type Audience = 'operator' | 'merchant'

/** By time; steps of one instant keep the given order. */
export const inOrder = (steps: readonly Step[]): Step[] =>
  steps.toSorted((one, other) => one.at.getTime() - other.at.getTime())
