import type { FieldRule } from './read-field.ts'

/** Days of a month as bits: bit 0 is the 1st. */
type DayMask = number

export type DayField = 'dayOfMonth' | 'dayOfWeek'

/**
 * A month is determined by its length and the weekday (0, Sunday) of its 1st: 28 kinds. The days of
 * a rule are computed once per kind, so that a search only looks them up.
 */
export const monthKind = (length: number, firstWeekday: number): number =>
  (length - 28) * 7 + firstWeekday

/** The days on which the rule of a day field fires, for each kind of month. */
export function dayMasks(field: DayField, rule: FieldRule): Int32Array {
  const masks = new Int32Array(4 * 7)
  for (let length = 28; length <= 31; length++) {
    for (let firstWeekday = 0; firstWeekday < 7; firstWeekday++) {
      masks[monthKind(length, firstWeekday)] = maskOf(field, rule, length, firstWeekday)
    }
  }
  return masks
}

const bit = (day: number): DayMask => 1 << (day - 1)

/** Days that the month does not have are left out and never moved. */
function maskOf(field: DayField, rule: FieldRule, length: number, firstWeekday: number): DayMask {
  /** Of 1 (Sunday) to 7, as in the expression. */
  const dayOfWeek = (day: number) => ((day - 1 + firstWeekday) % 7) + 1
  const firstOf = (wanted: number) => 1 + ((wanted - 1 - firstWeekday + 7) % 7)
  const isWeekday = (day: number) => dayOfWeek(day) !== 1 && dayOfWeek(day) !== 7
  /** Two days away only when the nearer weekday lies in another month. */
  const nearest = (wanted: number) =>
    [0, -1, 1, 2, -2]
      .map((away) => wanted + away)
      .find((day) => day >= 1 && day <= length && isWeekday(day))!
  switch (rule.kind) {
    case 'none':
      return 0
    case 'values': {
      let mask = 0
      for (let day = 1; day <= length; day++) {
        const value = field === 'dayOfMonth' ? day : dayOfWeek(day)
        if (rule.set.has(value)) mask |= bit(day)
      }
      return mask
    }
    case 'last':
      return rule.daysBefore < length ? bit(length - rule.daysBefore) : 0
    case 'lastWeekday':
      return bit([length, length - 1, length - 2].find(isWeekday)!)
    case 'nearestWeekday':
      return rule.day > length ? 0 : bit(nearest(rule.day))
    case 'nearestWeekdayBefore':
      return rule.daysBefore < length ? bit(nearest(length - rule.daysBefore)) : 0
    case 'lastOf': {
      const first = firstOf(rule.dayOfWeek)
      return bit(first + 7 * Math.floor((length - first) / 7))
    }
    case 'nth': {
      const day = firstOf(rule.dayOfWeek) + 7 * (rule.nth - 1)
      return day <= length ? bit(day) : 0
    }
  }
}
