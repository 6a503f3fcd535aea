/** Times that lie ahead, as people write them on a command line. */
import { UsageError } from './command.ts'

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `90d` in milliseconds; `0` is none. @throws UsageError */
export function lengthOf(option: string, text: string): number {
  if (text === '0') return 0
  const found = /^([0-9]{1,5})([smhd])$/.exec(text)
  if (found === null) throw new UsageError(`--${option} must be a duration such as 30m, 12h or 7d`)
  return Number(found[1]) * units[found[2] as keyof typeof units]
}

/** `90d` from now, or a day or a moment in UTC. @throws UsageError */
export function momentAhead(option: string, text: string): Date {
  if (/^[0-9]{1,5}[smhd]$/.test(text)) return new Date(Date.now() + lengthOf(option, text))
  const found = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d))?$/.exec(text)
  const moment = new Date(`${found?.[1]}T${found?.[2] ?? '00:00:00'}Z`)
  // A day that a month does not have would become one of the next month.
  const isReal = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(found![1]!)
  if (isReal) return moment
  throw new UsageError(
    `--${option} must be a duration such as 90d, or a date or time in UTC: "2027-03-14", "2027-03-14 09:30:00"`,
  )
}
