/** Prints the measurements. */
import { type Measurement, median, ratio, type Series } from './rounds.ts'

const columns: readonly [figure: keyof Measurement, title: string, decimals: number][] = [
  ['perSecond', 'payments/s', 0],
  ['p50Ms', 'p50 ms', 2],
  ['p99Ms', 'p99 ms', 2],
  ['nodeMs', 'Node ms', 3],
  ['postgresMs', 'Postgres ms', 3],
  ['loadMs', 'load ms', 3],
  ['walBytes', 'WAL bytes', 0],
]

const nameWidth = 34
const width = (title: string) => Math.max(title.length, 7) + 2

function rowOf(series: Series): string {
  const cells = columns.map(([figure, title, decimals]) => {
    const value = median(series.rounds.map((round) => round[figure]))
    const text = Number.isNaN(value) ? '–' : value.toFixed(decimals)
    return text.padStart(width(title))
  })
  const { letter, title } = series.contestant
  return `${`(${letter}) ${title}`.padEnd(nameWidth)}${cells.join('')}`
}

export function printTable(series: readonly Series[]): void {
  for (const concurrent of new Set(series.map((one) => one.concurrent))) {
    const titles = columns.map(([, title]) => title.padStart(width(title))).join('')
    console.log(`\n${`${concurrent} concurrent`.padEnd(nameWidth)}${titles}`)
    for (const one of series) if (one.concurrent === concurrent) console.log(rowOf(one))
  }
}

/** Compared pairs of contestants, printed when both took part. */
const comparisons: readonly [over: string, under: string][] = [
  ['c', 'b'],
  ['c', 'a'],
  ['c', 'e'],
  ['c', 'f'],
  ['d', 'c'],
  ['d', 'g'],
  ["c'", 'c'],
  ["c'", 'b'],
  ["d'", 'd'],
]

function comparison(series: readonly Series[], over: string, under: string): string | undefined {
  const one = series.find(({ contestant }) => contestant.letter === over)
  const other = series.find(({ contestant }) => contestant.letter === under)
  if (one === undefined || other === undefined) return undefined
  const { median: middle, low, high } = ratio(one, other, 'perSecond')
  const text = `${over}/${under} ${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
  return text.padEnd(26)
}

/** The ratio of two contestants' throughput: the median of the rounds, lowest and highest. */
export function printRatios(series: readonly Series[]): void {
  if (!comparisons.some(([over, under]) => comparison(series, over, under) !== undefined)) return
  console.log('\nRatios of payments/s: median of the rounds (lowest–highest)')
  for (const concurrent of new Set(series.map((one) => one.concurrent))) {
    const level = series.filter((one) => one.concurrent === concurrent)
    const texts = comparisons.map(([over, under]) => comparison(level, over, under))
    const shown = texts.filter((text) => text !== undefined).join('')
    console.log(`${String(concurrent).padStart(4)} concurrent   ${shown}`.trimEnd())
    if (concurrent === 1) printAloneRatio(level)
  }
}

/** The latency of one request without others. */
function printAloneRatio(level: readonly Series[]): void {
  const find = (letter: string) => level.find(({ contestant }) => contestant.letter === letter)
  const under = find('b')
  for (const letter of ['c', "c'"]) {
    const over = find(letter)
    if (over === undefined || under === undefined) continue
    const { median: middle, low, high } = ratio(over, under, 'p50Ms')
    const range = `(${low.toFixed(2)}–${high.toFixed(2)})`
    console.log(`${''.padStart(18)}p50 of ${letter} is ${middle.toFixed(2)} × that of b ${range}`)
  }
}

/** A short table: first column left-aligned, figures right-aligned. */
export function printRows(
  titles: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const texts = [titles, ...rows].map((row) => row.map(String))
  const widths = titles.map((_, column) =>
    Math.max(...texts.map((row) => (row[column] ?? '').length)),
  )
  for (const row of texts) {
    const cells = row.map((text, column) =>
      column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]! + 2),
    )
    console.log(`  ${cells.join('')}`)
  }
}
