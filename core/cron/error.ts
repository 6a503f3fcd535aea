/** The fields of a schedule, in the order of an expression. */
export const cronFields = [
  'second',
  'minute',
  'hour',
  'dayOfMonth',
  'month',
  'dayOfWeek',
  'year',
] as const

export type CronField = (typeof cronFields)[number]

/**
 * A schedule that cannot be read. The text that was sent is not repeated in the message: it may be
 * anything, the position says where to look.
 */
export class CronError extends Error {
  override readonly name = 'CronError'
  /** The field that is wrong; `expression` for the number of fields and the length. */
  readonly field: CronField | 'expression'
  /** Offset of the first wrong character: in the expression when it came in one, else in the field. */
  readonly position: number
  /** Whether `position` counts from the start of an expression. */
  readonly inExpression: boolean
  /** What is wrong. */
  readonly reason: string
  /** What would be right. */
  readonly remedy: string

  constructor(
    field: CronField | 'expression',
    at: { readonly position: number; readonly inExpression: boolean },
    reason: string,
    remedy: string,
  ) {
    const place = at.inExpression && field !== 'expression' ? `expression (${field})` : field
    super(`${place}, position ${at.position}: ${reason}; ${remedy}`)
    this.field = field
    this.position = at.position
    this.inExpression = at.inExpression
    this.reason = reason
    this.remedy = remedy
  }
}
