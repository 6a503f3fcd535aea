/** Valid schedules of every form in the grammar. */
import fc from 'fast-check'

const months = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const days = 'SUN MON TUE WED THU FRI SAT'.split(' ')

const inAnyCase = (name: string) =>
  fc.constantFrom(name, name.toLowerCase(), `${name[0]}${name.slice(1).toLowerCase()}`)

function spelledValue(
  min: number,
  max: number,
  names: readonly string[] = [],
): fc.Arbitrary<string> {
  const number = fc.integer({ min, max })
  const spelled = [
    { weight: 6, arbitrary: number.map(String) },
    { weight: 1, arbitrary: number.map((value) => String(value).padStart(2, '0')) },
  ]
  if (names.length === 0) return fc.oneof(...spelled)
  return fc.oneof(...spelled, {
    weight: 6,
    arbitrary: fc.constantFrom(...names).chain(inAnyCase),
  })
}

/** Values, ranges and steps, and lists of them. */
function textOf(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const value = spelledValue(min, max, names)
  const isYear = min === 1970
  const range = fc.tuple(value, value).map((ends) => (isYear ? ends.sort() : ends).join('-'))
  // Units of time begin with 0, and take no step of their whole length.
  const span = max - min + (min === 0 ? 0 : 1)
  const step = fc.oneof(
    fc.integer({ min: 1, max: Math.min(7, span) }),
    fc.integer({ min: 1, max: span }),
  )
  const stepped = fc
    .tuple(fc.oneof(value, range, fc.constantFrom('*', '')), step)
    .map(([start, every]) => `${start}/${every}`)
  const item = fc.oneof(
    { weight: 4, arbitrary: value },
    { weight: 2, arbitrary: range },
    { weight: 3, arbitrary: stepped },
  )
  return fc.oneof(
    { weight: 5, arbitrary: item },
    {
      weight: 2,
      arbitrary: fc.array(item, { minLength: 2, maxLength: 4 }).map((all) => all.join()),
    },
  )
}

const orStar = (text: fc.Arbitrary<string>, weight = 1) =>
  fc.oneof({ weight: 3, arbitrary: text }, { weight, arbitrary: fc.constant('*') })

const dayOfMonth = fc.oneof(
  { weight: 4, arbitrary: orStar(textOf(1, 31)) },
  { weight: 1, arbitrary: fc.constantFrom('L', 'l', 'LW', 'lw', '1W', '31W', '30w', '29W', '31') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 31 }).map((day) => `${day}W`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }).map((before) => `L-${before}`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }).map((before) => `L-${before}W`) },
)
const dayValue = spelledValue(1, 7, days)
const dayOfWeek = fc.oneof(
  { weight: 4, arbitrary: orStar(textOf(1, 7, days)) },
  { weight: 1, arbitrary: dayValue.map((day) => `${day}L`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(dayValue, fc.integer({ min: 1, max: 5 }))
      .map(([day, nth]) => `${day}#${nth}`),
  },
  { weight: 1, arbitrary: fc.constantFrom('L', 'l') },
)
const dayFields = fc.oneof(
  dayOfMonth.map((day) => [day, '?'] as const),
  dayOfWeek.map((day) => ['?', day] as const),
)
/** Mostly every year, because a walk to a distant one is slow. */
const year = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(undefined, '*') },
  { weight: 2, arbitrary: textOf(1970, 2099) },
)
const blank = fc.constantFrom(' ', ' ', ' ', '  ', '\t')

/** Any schedule. */
export const expression: fc.Arbitrary<string> = fc
  .tuple(
    orStar(textOf(0, 59)),
    orStar(textOf(0, 59)),
    orStar(textOf(0, 23)),
    orStar(textOf(1, 12, months), 3),
    dayFields,
    year,
    blank,
  )
  .map(([second, minute, hour, month, [dayInMonth, dayInWeek], inYear, between]) =>
    [second, minute, hour, dayInMonth, month, dayInWeek, inYear]
      .filter((field) => field !== undefined)
      .join(between),
  )

/** A schedule that runs on most days, so that clock changes affect it. */
export const dailyExpression: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(fc.constantFrom('0', '30', '*'), textOf(0, 59)),
    orStar(textOf(0, 59)),
    orStar(textOf(0, 23), 2),
    fc.constantFrom('* * ?', '*/2 * ?', '? * *', '? * MON-FRI', '? * SAT,SUN', 'L * ?', '1 * ?'),
  )
  .map((fields) => fields.join(' '))

/** Seconds since 1970, around ends of months and years, leap days, and anywhere. */
export const instant: fc.Arbitrary<number> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -100_000, max: Date.UTC(2100, 0, 2) / 1000 }) },
  {
    weight: 3,
    arbitrary: fc
      .record({
        year: fc.integer({ min: 1970, max: 2099 }),
        month: fc.integer({ min: 0, max: 11 }),
        away: fc.integer({ min: -2 * 86_400, max: 2 * 86_400 }),
      })
      .map(({ year, month, away }) => Date.UTC(year, month, 1) / 1000 + away),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        year: fc.integer({ min: 1970, max: 2099 }),
        month: fc.integer({ min: 0, max: 12 }),
        away: fc.integer({ min: -1, max: 1 }),
      })
      .map(({ year, month, away }) => Date.UTC(year, month, 1) / 1000 + away),
  },
)
