import { dayMasks } from './days.ts'
import { CronError, type CronField, cronFields } from './error.ts'
import { type FieldRule, type Meter, readField, type Slice } from './read-field.ts'
import { units, type ValueSet } from './units.ts'

/** A schedule in the form that a search only looks up. */
export type Plan = {
  readonly seconds: ValueSet
  readonly minutes: ValueSet
  readonly hours: ValueSet
  readonly months: ValueSet
  readonly years: ValueSet
  /** Days of the month as bits, by the kind of month (see `monthKind`). */
  readonly dayMasks: ArrayLike<number>
}

/** The longest accepted text, in characters. */
export const longestText = 256

export type Slices = Readonly<Record<CronField, Slice>>

/** Reads all seven fields and checks the two day fields against each other. */
export function planOf(slices: Slices, meter?: Meter): Plan {
  // In the order of the fields, so that the error names the first wrong one.
  const rules = cronFields.map((field) => readField(units[field], slices[field], meter))
  const [seconds, minutes, hours, dayOfMonth, months, dayOfWeek, years] = rules as FieldRules
  const { start: position, inExpression } = slices.dayOfWeek
  const at = { position, inExpression }
  if (dayOfMonth.kind !== 'none' && dayOfWeek.kind !== 'none') {
    const remedy = 'write ? in one of them'
    throw new CronError('dayOfWeek', at, 'both dayOfMonth and dayOfWeek choose days', remedy)
  }
  if (dayOfMonth.kind === 'none' && dayOfWeek.kind === 'none') {
    const remedy = 'choose days in one of them'
    throw new CronError('dayOfWeek', at, 'both dayOfMonth and dayOfWeek are ?', remedy)
  }
  return {
    seconds: setOf(seconds),
    minutes: setOf(minutes),
    hours: setOf(hours),
    months: setOf(months),
    years: setOf(years),
    dayMasks:
      dayOfMonth.kind === 'none'
        ? dayMasks('dayOfWeek', dayOfWeek)
        : dayMasks('dayOfMonth', dayOfMonth),
  }
}

type FieldRules = [
  seconds: FieldRule,
  minutes: FieldRule,
  hours: FieldRule,
  dayOfMonth: FieldRule,
  months: FieldRule,
  dayOfWeek: FieldRule,
  years: FieldRule,
]

function setOf(rule: FieldRule): ValueSet {
  if (rule.kind !== 'values') throw new TypeError('only day fields have rules')
  return rule.set
}

/**
 * Splits an expression at its blanks into seven fields; the year is optional.
 *
 * @throws CronError for a text that is too long, and for another number of fields.
 */
export function cut(expression: string): Slices {
  const fail = (position: number, reason: string, remedy: string): never => {
    throw new CronError('expression', { position, inExpression: true }, reason, remedy)
  }
  if (expression.length > longestText) {
    fail(longestText, 'this is too long', `write at most ${longestText} characters`)
  }
  const remedy =
    'write six or seven: second minute hour dayOfMonth month dayOfWeek and, if wanted, year'
  const slices: Slice[] = []
  for (let position = 0; position < expression.length; ) {
    if (isBlank(expression[position]!)) {
      position++
      continue
    }
    const start = position
    while (position < expression.length && !isBlank(expression[position]!)) position++
    if (slices.length === 7) fail(start, 'this is an eighth field', remedy)
    slices.push({ text: expression, start, end: position, inExpression: true })
  }
  if (slices.length < 6) {
    fail(expression.length, `the expression ends after ${slices.length} fields`, remedy)
  }
  const everyYear = { text: '*', start: 0, end: 1, inExpression: true }
  return Object.fromEntries(
    cronFields.map((field, index) => [field, slices[index] ?? everyYear]),
  ) as Slices
}

const isBlank = (character: string): boolean => character === ' ' || character === '\t'

/** A field sent by itself. @throws CronError when too long. */
export function whole(field: CronField, text: string): Slice {
  if (text.length > longestText) {
    const at = { position: longestText, inExpression: false }
    throw new CronError(field, at, 'this is too long', `write at most ${longestText} characters`)
  }
  return { text, start: 0, end: text.length, inExpression: false }
}
