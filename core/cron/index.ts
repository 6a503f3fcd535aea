/**
 * Cron schedules of seven fields: when does a schedule run next? Depends on nothing else of the
 * engine; the time is given.
 *
 * ```ts
 * const cron = parseCron('0 30 9 ? * MON-FRI')
 * cron.next(new Date('2027-03-26T12:00:00Z'), 'Europe/Berlin') // 2027-03-29T07:30:00.000Z
 * ```
 *
 * Fields, in this order, with a blank or more between them:
 *
 * | field      | values                      | also    | not sent |
 * |------------|-----------------------------|---------|----------|
 * | second     | 0-59                        |         | 0        |
 * | minute     | 0-59                        |         | 0        |
 * | hour       | 0-23                        |         | 0        |
 * | dayOfMonth | 1-31                        | `? L W` | 1        |
 * | month      | 1-12, JAN-DEC               |         | 1        |
 * | dayOfWeek  | 1-7 (1 is Sunday), SUN-SAT  | `? L #` | 1        |
 * | year       | 1970-2099                   |         | `*`      |
 *
 * An expression may leave out the year and nothing else. Where fields are sent one by one, of the
 * two day fields a default gives way to the other; neither sent means day 1 of the month.
 *
 * Every field takes values, lists `1,3,5`, ranges `1-5`, `*` for every value, and steps:
 * - Letters in any case, numbers also with zeros before them (`08`).
 * - A range may wrap (`FRI-MON`, `22-2`, `NOV-FEB`), except in years.
 * - `start/n` takes every nth value from start to the end of the unit; `/n`, also with a `*` before
 *   it, begins with the unit's first value (years: 1970); `a-b/n` takes every nth value up to b, also
 *   round a wrap. n is 1 to the number of values the unit has; in
 *   seconds, minutes and hours one less, because `0/60` would be no step.
 * - In months `start/n` goes on past December until it would meet start: `4/3` is April, July,
 *   October and January.
 * - In dayOfMonth `start/n` with n > 1 leaves the 31st out unless it starts there: `1/5` ends with
 *   the 26th. `1/1` is every day, and a range step is taken at its word.
 *
 * The two day fields:
 * - One chooses days, the other is `?`. An expression with `?` in none or both is refused.
 * - `L` in dayOfMonth is the last day of the month, `L-3` three days before it (never the day of
 *   another month), `LW` the last Monday to Friday, `L-3W` the Monday to
 *   Friday nearest to the third day before it.
 * - `15W` is the Monday to Friday nearest to the 15th: the 14th when that is a Saturday, the 16th when
 *   it is a Sunday. It stays in its month (`1W` may be the 3rd) and does not run in a month that
 *   lacks the day.
 * - `L` in dayOfWeek is every Saturday, `6L` or `FRIL` the last Friday of the month, `6#3` or `FRI#3`
 *   the third. A month without a fifth one has no run.
 * - These stand alone, never in a list.
 * - A day that a month lacks (30 February, 31 April) is left out and not moved.
 *
 * Time zones: a schedule is wall time of one IANA zone.
 * - A time that a clock change skips runs at the first instant after the gap. Several skipped times,
 *   and the one that is due there anyway, are one run.
 * - A time that occurs twice runs once, at its first occurrence.
 *
 * Bounds: a text has at most 256 characters; nothing runs after 2099-12-31 23:59:59 wall time;
 * reading goes over the text once, and a search visits each month to come at most once.
 */
import { Cron } from './cron.ts'
import { type CronField, cronFields } from './error.ts'
import { cut, type Slices, whole } from './plan.ts'
import { readField } from './read-field.ts'
import { units } from './units.ts'

export type { Cron } from './cron.ts'
export { CronError, type CronField, cronFields } from './error.ts'

/** The fields of a schedule as they are sent. Empty counts as not sent. */
export type CronFields = { readonly [field in CronField]?: string | undefined } & {
  /** Six or seven fields in one text; replaces the others. */
  readonly expression?: string | undefined
}

/**
 * Reads an expression of six or seven fields.
 *
 * @throws CronError with the field, the offset in the expression, what is wrong and what would be
 * right.
 */
export function parseCron(expression: string): Cron {
  return new Cron(cut(expression))
}

/**
 * Reads the fields of a schedule that were sent one by one. Those not sent have their defaults; of
 * the two day fields a default gives way to the other field, and a field sent as `?` leaves the other
 * its default 1. An expression beside them replaces them all, but each must be well-formed even so.
 *
 * @throws CronError; its `position` is an offset in the field, or in the expression when
 * `inExpression` says so.
 */
export function parseCronFields(sent: CronFields): Cron {
  if (sent.expression !== undefined && sent.expression !== '') {
    for (const field of cronFields) {
      if (isSent(sent[field])) readField(units[field], whole(field, sent[field]))
    }
    return parseCron(sent.expression)
  }
  const defaults = { ...defaultTexts, ...defaultDays(sent) }
  const text = (field: CronField) => (isSent(sent[field]) ? sent[field] : defaults[field])
  const slices = cronFields.map((field) => [field, whole(field, text(field))])
  return new Cron(Object.fromEntries(slices) as Slices)
}

const isSent = (text: string | undefined): text is string => text !== undefined && text !== ''

const defaultTexts: Readonly<Record<CronField, string>> = {
  second: '0',
  minute: '0',
  hour: '0',
  dayOfMonth: '1',
  month: '1',
  dayOfWeek: '?',
  year: '*',
}

function defaultDays({ dayOfMonth, dayOfWeek }: CronFields) {
  if (dayOfMonth === '?') return { dayOfWeek: '1' }
  if (isSent(dayOfWeek) && dayOfWeek !== '?') return { dayOfMonth: '?' }
  return {}
}
