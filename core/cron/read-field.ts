import { CronError } from './error.ts'
import { spanOf, type Unit, ValueSet } from './units.ts'

/** Counts the cost of reading: one for each character read and each value expanded. */
export type Meter = { steps: number }

/** One field inside its text. */
export type Slice = {
  readonly text: string
  readonly start: number
  /** Exclusive. */
  readonly end: number
  readonly inExpression: boolean
}

/** The rule of a field. All kinds but `values` belong to the two day fields. */
export type FieldRule =
  | { readonly kind: 'values'; readonly set: ValueSet }
  /** `?` */
  | { readonly kind: 'none' }
  /** `L`, `L-3`: that many days before the last of the month. */
  | { readonly kind: 'last'; readonly daysBefore: number }
  /** `LW` */
  | { readonly kind: 'lastWeekday' }
  /** `15W` */
  | { readonly kind: 'nearestWeekday'; readonly day: number }
  /** `L-3W`: the same of the day that many days before the last. */
  | { readonly kind: 'nearestWeekdayBefore'; readonly daysBefore: number }
  /** `FRIL`; days of the week count from 1, Sunday. */
  | { readonly kind: 'lastOf'; readonly dayOfWeek: number }
  /** `FRI#3` */
  | { readonly kind: 'nth'; readonly dayOfWeek: number; readonly nth: number }

/** Above every value and step; digits beyond it change nothing. */
const tooLarge = 1_000_000

/**
 * Reads one field. The grammar, in which all items but `alone` may be part of a list:
 *
 *     field = item *("," item)
 *     item  = "*" | value | value "-" value | ["*" | value | value "-" value] "/" number
 *     alone = "?" | "L" | "LW" | "L-" number ["W"] | number "W" | value "L" | value "#" number
 *
 * The reader goes over the text once and never back.
 *
 * @throws CronError
 */
export function readField(unit: Unit, slice: Slice, meter: Meter = { steps: 0 }): FieldRule {
  return new FieldReader(unit, slice, meter).read()
}

class FieldReader {
  readonly #unit: Unit
  readonly #slice: Slice
  readonly #meter: Meter
  readonly #members: Uint8Array
  #position: number

  constructor(unit: Unit, slice: Slice, meter: Meter) {
    this.#unit = unit
    this.#slice = slice
    this.#meter = meter
    this.#members = new Uint8Array(spanOf(unit))
    this.#position = slice.start
  }

  read(): FieldRule {
    if (this.#slice.start === this.#slice.end) this.#fail('nothing is here', this.#writeValues())
    for (let isFirst = true; ; isFirst = false) {
      const start = this.#position
      const alone = this.#item()
      if (alone !== null && (!isFirst || this.#peek() === ',')) {
        this.#fail('?, L, W and # are not part of a list', 'write it alone', start)
      }
      if (this.#position === this.#slice.end) return alone ?? this.#values()
      if (!this.#take(',')) this.#fail('this does not continue the field', this.#writeValues())
    }
  }

  #values(): FieldRule {
    return { kind: 'values', set: new ValueSet(this.#unit, this.#members) }
  }

  /** One item of the list: marks its values, or returns a rule that stands alone. */
  #item(): FieldRule | null {
    const { field, min, max } = this.#unit
    if (this.#peek() === '/' || this.#peek() === '*') {
      const hasStar = this.#take('*')
      if (!hasStar || this.#peek() === '/') this.#markFrom(min, this.#step())
      else this.#mark(min, max, 1)
      return null
    }
    if (field === 'dayOfMonth' || field === 'dayOfWeek') {
      if (this.#take('?')) return { kind: 'none' }
      if (this.#take('L')) return this.#last()
    }
    const first = this.#value()
    if (this.#take('-')) {
      this.#range(first)
      return null
    }
    if (this.#peek() === '/') {
      this.#markFrom(first, this.#step())
      return null
    }
    if (field === 'dayOfMonth' && this.#take('W')) return { kind: 'nearestWeekday', day: first }
    if (field === 'dayOfWeek' && this.#take('L')) return { kind: 'lastOf', dayOfWeek: first }
    if (field === 'dayOfWeek' && this.#take('#')) {
      const nth = this.#number(1, 5, 'a month has no such week', 'write 1 to 5 after #')
      return { kind: 'nth', dayOfWeek: first, nth }
    }
    this.#mark(first, first, 1)
    return null
  }

  /** The text after an `L` at the begin of a field. */
  #last(): FieldRule {
    if (this.#unit.field === 'dayOfWeek') {
      // The last day of every week: its Saturday.
      this.#mark(this.#unit.max, this.#unit.max, 1)
      return this.#values()
    }
    if (this.#take('W')) return { kind: 'lastWeekday' }
    if (!this.#take('-')) return { kind: 'last', daysBefore: 0 }
    const reason = 'no month is that long'
    const daysBefore = this.#number(1, 30, reason, 'write 1 to 30 after L-')
    return { kind: this.#take('W') ? 'nearestWeekdayBefore' : 'last', daysBefore }
  }

  #range(first: number): void {
    const start = this.#position
    const last = this.#value()
    if (last < first && this.#unit.field === 'year') {
      this.#fail('years do not begin again', 'write the earlier year first', start)
    }
    const step = this.#peek() === '/' ? this.#step() : 1
    this.#mark(first, last < first ? last + spanOf(this.#unit) : last, step)
  }

  /** `start/n`. */
  #markFrom(start: number, step: number): void {
    const { field, max } = this.#unit
    if (field === 'month') {
      // A round through the year ends before its start: 4/3 is 4, 7, 10 and 1.
      this.#mark(start, start + spanOf(this.#unit) - 1, step)
    } else if (field === 'dayOfMonth' && step > 1 && start < max) {
      // A round that reaches the 31st is followed by the next on the 1st: 1/5 ends with the 26th.
      this.#mark(start, max - 1, step)
    } else this.#mark(start, max, step)
  }

  /** Marks every `step`th value; a value above the unit's highest wraps around. */
  #mark(first: number, last: number, step: number): void {
    const { min } = this.#unit
    const span = spanOf(this.#unit)
    for (let value = first; value <= last; value += step) {
      this.#meter.steps++
      this.#members[(value - min) % span] = 1
    }
  }

  /** The `/n` of a step. */
  #step(): number {
    this.#take('/')
    const { field } = this.#unit
    const isOfTime = field === 'second' || field === 'minute' || field === 'hour'
    // A step as long as a minute, an hour or a day would be no step: whoever writes it means another field.
    const longest = spanOf(this.#unit) - (isOfTime ? 1 : 0)
    return this.#number(1, longest, 'there is no such step', `write 1 to ${longest} after /`)
  }

  /** A number or a name of this unit. */
  #value(): number {
    const { min, max, names } = this.#unit
    if (isDigit(this.#peek())) {
      return this.#number(min, max, 'there is no such value', this.#writeValues())
    }
    const start = this.#position
    let name = ''
    while (name.length < 3 && isLetter(this.#peek())) {
      name += this.#peek()
      this.#advance()
    }
    const index = names.indexOf(name)
    if (index < 0) this.#fail('this is no value', this.#writeValues(), start)
    return min + index
  }

  /** Decimal digits, with or without leading zeros. */
  #number(min: number, max: number, reason: string, remedy: string): number {
    const start = this.#position
    if (!isDigit(this.#peek())) this.#fail('a number is missing', remedy)
    let value = 0
    while (isDigit(this.#peek())) {
      value = Math.min(value * 10 + Number(this.#peek()), tooLarge)
      this.#advance()
    }
    if (value < min || value > max) this.#fail(reason, remedy, start)
    return value
  }

  /** The character here as a capital; empty at the end. Only ASCII letters have capitals here. */
  #peek(): string {
    if (this.#position === this.#slice.end) return ''
    const character = this.#slice.text[this.#position]!
    return character >= 'a' && character <= 'z' ? character.toUpperCase() : character
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false
    this.#advance()
    return true
  }

  #advance(): void {
    this.#meter.steps++
    this.#position++
  }

  #writeValues(): string {
    const { values, rules } = this.#unit
    return `write ${values} as a value, range, list or step${rules}`
  }

  #fail(reason: string, remedy: string, position = this.#position): never {
    const { inExpression } = this.#slice
    throw new CronError(this.#unit.field, { position, inExpression }, reason, remedy)
  }
}

const isDigit = (character: string): boolean => character >= '0' && character <= '9'
const isLetter = (character: string): boolean => character >= 'A' && character <= 'Z'
