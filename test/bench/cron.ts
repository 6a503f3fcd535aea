/**
 * Measures the search for the next run of a schedule, and checks the result:
 * `npm run bench -- cron`, or `node --conditions=@tollgate/source test/bench/cron.ts` for this one
 * alone.
 *
 * Other libraries take part when they are installed in test/bench/peers. A slow walk over the
 * calendar under Tollgate's rules gives the right result; other libraries have other rules at a
 * clock change.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { CronError, parseCron } from '@tollgate/core/cron'
import fc from 'fast-check'
import { hostile } from '../rig/cron/hostile-texts.ts'
import { nextByDays, referenceOf, wallClock } from '../rig/cron/reference.ts'

type NextAfter = (after: Date) => Date | null
type Library = {
  readonly name: string
  /** Reads an expression, and throws when the library cannot. */
  readonly read: (expression: string, zone: string) => NextAfter
}

const schedules: readonly (readonly [expression: string, zone: string])[] = [
  ['* * * * * ?', 'UTC'],
  ['0 */15 * * * ?', 'UTC'],
  ['0 0 9 ? * MON-FRI', 'UTC'],
  ['0 0 0 L * ?', 'UTC'],
  ['0 0 12 ? * FRI#3', 'UTC'],
  ['0 0 0 29 FEB ?', 'UTC'],
  ['0 0 6 15W * ?', 'UTC'],
  ['0 */15 * * * ?', 'Europe/Berlin'],
  ['0 0 9 ? * MON-FRI', 'Europe/Berlin'],
  ['0 30 2 * * ?', 'America/New_York'],
  ['0 45 1 * * ?', 'Australia/Lord_Howe'],
  ['0 15 2 * * ?', 'Australia/Lord_Howe'],
  ['0 0 0 * * ?', 'Asia/Beirut'],
]

const require = createRequire(new URL('peers/package.json', import.meta.url))

/** The module and its version, or undefined when it is not installed. */
async function peer<Module>(name: string): Promise<(Module & { version: string }) | undefined> {
  let file: string
  try {
    file = require.resolve(name)
  } catch {
    console.log(`${name}: not installed`)
    return undefined
  }
  const folder = file.slice(0, file.lastIndexOf(`${path.sep}${name}${path.sep}`) + name.length + 2)
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  return { ...((await import(pathToFileURL(file).href)) as Module), version }
}

type Croner = {
  Cron: new (
    expression: string,
    options: { timezone: string; paused: boolean },
  ) => { nextRun(after: Date): Date | null }
}
type CronParser = {
  CronExpressionParser: {
    parse(
      expression: string,
      options: { tz: string; currentDate: Date },
    ): { reset(after: Date): void; next(): { toDate(): Date } }
  }
}
type Cronos = {
  CronosExpression: {
    parse(expression: string, options: { timezone: string }): { nextDate(after: Date): Date | null }
  }
}

async function installed(): Promise<Library[]> {
  const libraries: Library[] = [
    {
      name: 'Tollgate',
      read(expression, zone) {
        const cron = parseCron(expression)
        return (after) => cron.next(after, zone)
      },
    },
  ]
  const croner = await peer<Croner>('croner')
  if (croner !== undefined) {
    libraries.push({
      name: `croner ${croner.version}`,
      read(expression, zone) {
        const cron = new croner.Cron(expression, { timezone: zone, paused: true })
        return (after) => cron.nextRun(after)
      },
    })
  }
  const parser = await peer<CronParser>('cron-parser')
  if (parser !== undefined) {
    libraries.push({
      name: `cron-parser ${parser.version}`,
      read(expression, zone) {
        const options = { tz: zone, currentDate: new Date(0) }
        const cron = parser.CronExpressionParser.parse(expression, options)
        return (after) => {
          cron.reset(after)
          return cron.next().toDate()
        }
      },
    })
  }
  const cronos = await peer<Cronos>('cronosjs')
  if (cronos !== undefined) {
    libraries.push({
      name: `cronosjs ${cronos.version}`,
      read(expression, zone) {
        // The library accepts Etc/UTC and not UTC.
        const options = { timezone: zone === 'UTC' ? 'Etc/UTC' : zone }
        const cron = cronos.CronosExpression.parse(expression, options)
        return (after) => cron.nextDate(after)
      },
    })
  }
  return libraries
}

/** Instants of 2024 to 2033 spread over days and hours, the same on every run. */
const instants = Array.from(
  { length: 512 },
  (_, index) => new Date(Date.UTC(2024, 0, 1) + index * 615_539_411),
)

/** Instants within 30 hours before the clock changes of a zone in those years. */
function instantsAtChanges(zone: string): Date[] {
  const clock = wallClock(zone)
  const found: Date[] = []
  for (let at = Date.UTC(2024, 0, 1) / 1000; at < Date.UTC(2034, 0, 1) / 1000; at += 86_400) {
    if (clock(at) - at === clock(at + 86_400) - at - 86_400) continue
    for (let hour = -6; hour <= 24; hour++) found.push(new Date((at + hour * 3_600 + 1_234) * 1000))
  }
  return found
}

/** Median of several rounds, in microseconds per call. */
function measure(next: NextAfter): number {
  const round = (calls: number) => {
    const start = performance.now()
    for (let call = 0; call < calls; call++) next(instants[call % instants.length]!)
    return ((performance.now() - start) * 1000) / calls
  }
  // Long enough for the clock, and short where a call is slow.
  const calls = Math.ceil(Math.min(20_000, 20_000 / round(100)))
  round(calls)
  return Array.from({ length: 7 }, () => round(calls)).toSorted((a, b) => a - b)[3] as number
}

/** The number of instants for which a library agrees with the walk. */
function agreement(next: NextAfter, expected: readonly (number | null)[], from: readonly Date[]) {
  return from.filter((after, index) => {
    try {
      return (next(after)?.getTime() ?? null) === expected[index]
    } catch {
      return false
    }
  }).length
}

const width = 21
const cell = (text: string) => text.padStart(width)

function compare(libraries: readonly Library[]): void {
  const titles = libraries.map(({ name }) => cell(name)).join('')
  console.log(`\nNext run, µs, and right answers${titles.padStart(14 + titles.length)}`)
  const sums = libraries.map(() => ({ right: 0, asked: 0 }))
  for (const [expression, zone] of schedules) {
    const clock = wallClock(zone)
    const reference = referenceOf(expression)
    const from = [...instants, ...(zone === 'UTC' ? [] : instantsAtChanges(zone))]
    const expected = from.map((after) => {
      const at = nextByDays(reference, clock, Math.floor(after.getTime() / 1000))
      return at === null ? null : at * 1000
    })
    const cells = libraries.map(({ read }, index) => {
      let next: NextAfter
      try {
        next = read(expression, zone)
      } catch {
        return cell('not read')
      }
      const right = agreement(next, expected, from)
      const sum = sums[index]!
      sum.right += right
      sum.asked += from.length
      return cell(`${measure(next).toFixed(2)}  ${right}/${from.length}`)
    })
    console.log(`${`${expression}  ${zone}`.padEnd(45)}${cells.join('')}`)
  }
  const cells = sums.map(({ right, asked }) => cell(`${right}/${asked}`))
  console.log(`${'All that could be read'.padEnd(45)}${cells.join('')}`)
}

/** Milliseconds to read a text and to search in it twice. */
function timeOf(text: string, zone: string): number {
  const start = performance.now()
  try {
    const cron = parseCron(text)
    cron.next(new Date(0), zone)
    cron.next(instants[0]!, zone)
  } catch (error) {
    if (!(error instanceof CronError)) throw error
  }
  return performance.now() - start
}

/** The slowest text by the best of five runs, because other processes use the processor, too. */
function slowest(texts: readonly string[], zone: string) {
  let most = { milliseconds: 0, text: '' }
  for (const text of texts) {
    const milliseconds = Math.min(...Array.from({ length: 5 }, () => timeOf(text, zone)))
    if (milliseconds > most.milliseconds) most = { milliseconds, text }
  }
  return most
}

function resist(): void {
  const texts = fc.sample(hostile, { seed: 7, numRuns: 10_000 })
  texts.push('0 0 0 30 2 ?', '0 0 0 31W 2,4,6,9,11 ?', '0 0 0 ? 2 SUN#5 2028-2031')
  console.log('\nReading a hostile text and searching in it twice: the slowest of 10,003')
  for (const zone of ['UTC', 'Africa/Casablanca']) {
    const { milliseconds, text } = slowest(texts, zone)
    const shown = text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text
    console.log(`${zone.padEnd(20)}${milliseconds.toFixed(3)} ms  ${JSON.stringify(shown)}`)
  }
  const reading = measure(() => parseCron('0 0 9 ? * MON-FRI').next(instants[0]!))
  console.log(`Reading 0 0 9 ? * MON-FRI and one search: ${reading.toFixed(2)} µs`)
}

compare(await installed())
resist()
