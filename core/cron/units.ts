import type { CronField } from './error.ts'

/** The allowed content of a field. */
export type Unit = {
  readonly field: CronField
  /** Lowest and highest value. */
  readonly min: number
  readonly max: number
  /** Names of the values from `min` on. */
  readonly names: readonly string[]
  /** The allowed values and symbols, for error texts. */
  readonly values: string
  readonly rules: string
}

const monthNames = [
  'JAN',
  'FEB',
  'MAR',
  'APR',
  'MAY',
  'JUN',
  'JUL',
  'AUG',
  'SEP',
  'OCT',
  'NOV',
  'DEC',
]
const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

export const firstYear = 1970
export const lastYear = 2099

const unit = (
  field: CronField,
  min: number,
  max: number,
  names: readonly string[] = [],
  rules = '',
): Unit => ({
  field,
  min,
  max,
  names,
  values: `${min} to ${max}${names.length > 0 ? ` or ${names[0]} to ${names.at(-1)}` : ''}`,
  rules,
})

export const units: Readonly<Record<CronField, Unit>> = {
  second: unit('second', 0, 59),
  minute: unit('minute', 0, 59),
  hour: unit('hour', 0, 23),
  dayOfMonth: unit('dayOfMonth', 1, 31, [], ', or ?, L, L-3, LW, L-3W, 15W'),
  month: unit('month', 1, 12, monthNames),
  dayOfWeek: unit('dayOfWeek', 1, 7, dayNames, ', or ?, L, 6L, 6#3'),
  year: unit('year', firstYear, lastYear),
}

/** The number of values of a unit: the longest useful step. */
export const spanOf = ({ min, max }: Unit): number => max - min + 1

/** The expanded values of one field. */
export class ValueSet {
  readonly #min: number
  /** For each value of the unit, and for the one after its last: the next member, or -1. */
  readonly #next: Int16Array

  /** `members` holds a 1 for each value of the unit that belongs to the set. */
  constructor(unit: Unit, members: Uint8Array) {
    this.#min = unit.min
    this.#next = new Int16Array(spanOf(unit) + 1).fill(-1)
    for (let value = unit.max; value >= unit.min; value--) {
      const index = value - unit.min
      this.#next[index] = members[index] === 1 ? value : this.#next[index + 1]!
    }
  }

  has(value: number): boolean {
    return this.next(value) === value
  }

  /** The first member at or above `from` (of the unit, or one above its last), or -1. */
  next(from: number): number {
    return this.#next[from - this.#min]!
  }
}
