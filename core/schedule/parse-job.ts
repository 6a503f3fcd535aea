/** Reads the `job.*` fields of a request. */
import { type Field, groupsByName, type Reason, resultDescription } from '@tollgate/schemas'
import { CronError, type CronField, cronFields, parseCronFields } from '../cron/index.ts'
import { GatewayError } from '../errors.ts'
import { ParameterErrors } from '../request/parameter-errors.ts'
import { instantOfWall, readWall } from './local-time.ts'
import { closeRuns } from './minimum-interval.ts'
import {
  firstDueTime,
  type Length,
  mostUnits,
  type Notice,
  type PeriodUnit,
  periodUnits,
  type SchedulePlan,
} from './plan.ts'

/** The job fields of the request, without `job.`; an empty field counts as absent. */
export type JobFields = { readonly [name in JobFieldName]?: string | undefined }

type JobFieldName =
  | CronField
  | 'name'
  | 'expression'
  | 'startDate'
  | 'endDate'
  | 'noticeUnit'
  | 'noticeNumber'
  | 'noticeCallable'
  | 'durationUnit'
  | 'durationNumber'

/**
 * `job` for storage and responses: the seven time fields with defaults, or those of an expression;
 * other fields as sent. Dates in milliseconds since 1970 UTC.
 */
export type StoredJob = Readonly<Record<CronField, string>> &
  Readonly<Partial<Record<Exclude<JobFieldName, CronField | 'startDate' | 'endDate'>, string>>> & {
    readonly startDate?: number
    readonly endDate?: number
  }

/** A job that can be scheduled. */
export type JobPlan = SchedulePlan & {
  /** Seven fields, in capitals, one blank between them. */
  readonly expression: string
  readonly fields: StoredJob
  /** The first due time. */
  readonly firstAt: Date
}

export type JobRules = {
  /** IANA name of the channel's zone. */
  readonly zone: string
  /** Business time of the creation. */
  readonly nowBusiness: Date
  /** Channel's minimum time between two runs; 0 for none. */
  readonly minimumIntervalMs: number
}

/**
 * Reads a job and requires at least one run. Expects fields that fit their table.
 *
 * @throws GatewayError 400 with `parameterErrors` for every wrong field: 100.250.121 to .125 for a
 * time field, .120 for an expression, a year, fields that do not go together, no run in the future
 * and runs too close to each other; .106 and .107 for duration and notice; 200.300.404 for dates,
 * and where the codes of several fields differ.
 * @throws RangeError for an unknown zone, which no request can contain.
 */
export function readJob(sent: JobFields, rules: JobRules): JobPlan {
  return new JobReader(sent, rules).read()
}

const codes: Readonly<Record<CronField, Reason>> = {
  second: '100.250.122',
  minute: '100.250.122',
  hour: '100.250.121',
  dayOfMonth: '100.250.123',
  month: '100.250.124',
  dayOfWeek: '100.250.125',
  year: '100.250.120',
}
/** The fields for days: one of them has a value, the other `?`. */
const dayFields = ['dayOfMonth', 'dayOfWeek'] as const

const timesWrong: Reason = '100.250.120'
const durationWrong: Reason = '100.250.106'
const noticeWrong: Reason = '100.250.107'

const fieldsOfTable: ReadonlyMap<string, Field> = new Map(
  groupsByName.get('job')?.fields.map((field) => [field.name, field]),
)

type Sent = { readonly [name in JobFieldName]?: string }

class JobReader {
  readonly #sent: Sent
  readonly #rules: JobRules
  readonly #errors = new ParameterErrors()
  /** The first error, for clients that read only the description. */
  #first: string | undefined

  constructor(sent: JobFields, rules: JobRules) {
    this.#sent = Object.fromEntries(
      Object.entries(sent).filter(([, value]) => value !== undefined && value !== ''),
    ) as Sent
    this.#rules = rules
  }

  read(): JobPlan {
    const cron = this.#cron()
    const startAt = this.#date('startDate')
    const endAt = this.#date('endDate')
    this.#checkEnd(startAt, endAt)
    const duration = this.#length('duration', durationWrong)
    const notice = this.#notice(duration)
    if (cron === null) throw this.#refusal()
    this.#stopIfWrong()
    const { zone } = this.#rules
    const plan = { cron, zone, startAt, endAt, effectiveEnd: null, notice, duration }
    const firstAt = this.#firstAt(plan)
    this.#checkInterval(plan)
    return { ...plan, expression: String(cron), fields: this.#stored(plan), firstAt }
  }

  #cron(): SchedulePlan['cron'] | null {
    // Each field alone, so that every wrong field is named.
    for (const field of cronFields) {
      const text = this.#sent[field]
      if (text === undefined) continue
      const error = cronErrorOf(() => parseCronFields({ [field]: text }))
      if (error !== null) this.#add(field, inWords(error), codes[field])
    }
    const { expression } = this.#sent
    if (expression === undefined && !this.#errors.isEmpty) return null
    try {
      return parseCronFields(expression === undefined ? this.#sent : { expression })
    } catch (thrown) {
      if (!(thrown instanceof CronError)) throw thrown
      if (expression !== undefined) this.#add('expression', inWords(thrown), timesWrong)
      else {
        const message = `${thrown.reason}; ${thrown.remedy}`
        for (const name of dayFields) this.#add(name, message, timesWrong)
      }
      return null
    }
  }

  #date(name: 'startDate' | 'endDate'): Date | null {
    const text = this.#sent[name]
    if (text === undefined) return null
    // Runs are at whole seconds.
    const toSeconds = name === 'startDate' ? Math.ceil : Math.floor
    if (/^\d+$/.test(text)) return new Date(toSeconds(Number(text) / 1000) * 1000)
    const wall = readWall(text)
    if (wall !== null) return instantOfWall(wall, this.#rules.zone)
    this.#add(name, 'must be a moment that exists, written yyyy-MM-dd HH:mm:ss')
    return null
  }

  #checkEnd(startAt: Date | null, endAt: Date | null): void {
    if (endAt === null) return
    const { nowBusiness, zone } = this.#rules
    if (startAt !== null && endAt < startAt) {
      this.#add('endDate', 'lies before job.startDate; send a later one, or none')
    } else if (endAt < nowBusiness) {
      this.#add(
        'endDate',
        `lies in the past (times are those of ${zone}); send a later one, or none`,
      )
    }
  }

  /** A length of time from two fields that belong together. */
  #length(kind: 'notice' | 'duration', code: Reason): Length | null {
    const unitName = `${kind}Unit` as const
    const numberName = `${kind}Number` as const
    const { [unitName]: unit, [numberName]: text } = this.#sent
    if (unit === undefined && text === undefined) return null
    if (text !== undefined) this.#require([unitName], `job.${numberName}`, code)
    if (unit !== undefined) this.#require([numberName], `job.${unitName}`, code)
    const isUnit = unit !== undefined && isPeriodUnit(unit)
    if (unit !== undefined && !isUnit) {
      this.#add(unitName, `must be one of ${periodUnits.join(', ')}`, code)
    }
    if (text !== undefined && !/^[0-9]+$/.test(text)) this.#add(numberName, 'must be a number')
    if (!isUnit || text === undefined) return null
    const number = Math.min(Number(text), mostUnits)
    if (kind === 'duration' && number === 0) {
      this.#add(numberName, 'must be 1 or more: a period without length never ends', code)
    }
    return { number, unit }
  }

  #require(names: readonly JobFieldName[], who: string, code: Reason): void {
    for (const name of names) {
      if (this.#sent[name] === undefined) this.#add(name, `is missing: ${who} needs it`, code)
    }
  }

  #notice(duration: Length | null): Notice | null {
    const length = this.#length('notice', noticeWrong)
    const { noticeCallable = 'ANYTIME', noticeNumber } = this.#sent
    const callable = callables.find((one) => one === noticeCallable)
    if (callable === undefined) {
      this.#add('noticeCallable', `must be one of ${callables.join(', ')}`, noticeWrong)
    }
    if (this.#sent.noticeCallable !== undefined) {
      this.#require(['noticeUnit', 'noticeNumber'], 'job.noticeCallable', noticeWrong)
    }
    if (callable === 'DURATION_END' && noticeNumber !== undefined && duration === null) {
      const what = 'notice to the end of a period (DURATION_END)'
      this.#require(['durationUnit', 'durationNumber'], what, durationWrong)
    }
    if (length === null || callable === undefined) return null
    return { ...length, callable }
  }

  #firstAt(plan: SchedulePlan): Date {
    const { nowBusiness } = this.#rules
    const firstAt = firstDueTime(plan, nowBusiness)
    if (firstAt !== null) return firstAt
    const runsWithout = (bounds: Partial<SchedulePlan>) =>
      firstDueTime({ ...plan, ...bounds }, nowBusiness)
    const afterEnd = runsWithout({ endAt: null })
    if (afterEnd !== null) {
      const at = `${afterEnd.toISOString().slice(0, 19)}Z`
      this.#add('endDate', `nothing runs up to then: the first run would be at ${at}`, timesWrong)
    } else if (runsWithout({ startAt: null, endAt: null }) !== null) {
      this.#add('startDate', 'nothing runs after it; send an earlier one, or none', timesWrong)
    } else {
      for (const name of this.#dayFields()) this.#add(name, neverRuns, timesWrong)
    }
    throw this.#refusal()
  }

  /** The day fields of the request; the year without any. */
  #dayFields(): JobFieldName[] {
    if (this.#sent.expression !== undefined) return ['expression']
    const names = ['year', 'month', ...dayFields] as const
    const chosen = names.filter((name) => this.#sent[name] !== undefined)
    return chosen.length === 0 ? ['year'] : chosen
  }

  #checkInterval(plan: SchedulePlan): void {
    const { nowBusiness, minimumIntervalMs } = this.#rules
    const gap = closeRuns(plan, nowBusiness, minimumIntervalMs)
    if (gap === null) return
    const dayField = plan.cron.fields.dayOfMonth === '?' ? 'dayOfWeek' : 'dayOfMonth'
    const field = gap.level === 'day' ? dayField : gap.level
    const name = this.#sent.expression === undefined ? field : 'expression'
    const least = minimumIntervalMs / 1_000
    const message = `runs ${gap.seconds} s after each other; ${least} s is the least allowed here`
    this.#add(name, message, timesWrong)
    throw this.#refusal()
  }

  #stored({ cron, startAt, endAt }: SchedulePlan): StoredJob {
    const { startDate: _start, endDate: _end, ...others } = this.#sent
    return {
      ...others,
      ...cron.fields,
      ...(startAt === null ? {} : { startDate: startAt.getTime() }),
      ...(endAt === null ? {} : { endDate: endAt.getTime() }),
    }
  }

  #add(name: JobFieldName, message: string, code?: Reason): void {
    const field = fieldsOfTable.get(`job.${name}`)
    const value = this.#sent[name]
    this.#first ??= `job.${name} ${message}`
    const known = field === undefined || value === undefined ? {} : { known: { field, value } }
    this.#errors.add(`job.${name}`, message, { ...known, code })
  }

  #stopIfWrong(): void {
    if (!this.#errors.isEmpty) throw this.#refusal()
  }

  #refusal(): GatewayError {
    const { code, parameterErrors } = this.#errors.refusal()
    const description = `${resultDescription(code)}; ${this.#first}`.slice(0, 255)
    return new GatewayError(code, { description, parameterErrors })
  }
}

const neverRuns = 'no run is left: choose days that are still to come, up to 2099'

const callables = ['ANYTIME', 'DURATION_END'] as const

const isPeriodUnit = (text: string): text is PeriodUnit =>
  (periodUnits as readonly string[]).includes(text)

function cronErrorOf(read: () => unknown): CronError | null {
  try {
    read()
    return null
  } catch (thrown) {
    if (thrown instanceof CronError) return thrown
    throw thrown
  }
}

/** Positions count from 0. */
function inWords({ field, position, inExpression, reason, remedy }: CronError): string {
  const where = inExpression && field !== 'expression' ? ` (${field})` : ''
  return `position ${position}${where}: ${reason}; ${remedy}`
}
