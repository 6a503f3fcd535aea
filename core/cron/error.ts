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
 * A schedule that cannot be parsed. The message gives the position and never the text, which may be
 * anything.
 */
export class CronError extends Error {
  override readonly name = 'CronError'
  /** The wrong field; `expression` for the number of fields and the length. */
  readonly field: CronField | 'expression'
  /** Offset of the first wrong character: in the expression, or in a field sent by itself. */
  readonly position: number
  /** Whether `position` counts from the start of an expression. */
  readonly inExpression: boolean
  /** The error. */
  readonly reason: string
  /** The correction. */
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
