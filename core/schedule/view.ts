/** The responses about schedules. */
import { resultDescription } from '@tollgate/schemas'
import { type Answered, type Draft, listResult, type ViewOf } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import { shortId } from '../ids.ts'
import { formatAmount } from '../money.ts'
import { approvedCode, doneResult } from '../payment/decide.ts'
import { echoed } from '../payment/stored-request.ts'
import type { StoredJob } from './parse-job.ts'
import type { Execution, MissedRange, Schedule } from './types.ts'

export type ScheduleView = Omit<ScheduleAnswer, 'job'> & { job: StoredJob }

type ScheduleAnswer = ViewOf<
  'schedules.get',
  | 'shortId'
  | 'paymentType'
  | 'amount'
  | 'currency'
  | 'registrationId'
  | 'job'
  | 'nextExecutions'
  | 'state'
  | 'timeZone'
  | 'createdAt'
>

export type PreviewView = Answered & {
  job: StoredJob
  timeZone: string
  nextExecutions: string[]
}

export type ExecutionView = {
  id: string
  scheduledAt: string
  state: Uppercase<Execution['state']>
  paymentId?: string
  attempts: number
  result?: { code: string; description: string }
}

/** The fields of every response. */
export type Envelope = {
  /** The gateway's number of this request. */
  readonly ndc: string
  readonly buildNumber: string
  readonly now: Date
}

const resultOf = (code: string) => ({ code, description: resultDescription(code) })

const wireTimes = (times: readonly Date[]) => times.map((time) => wireTimestamp(time))

/** @param next the next due times, at most as many as responses show. */
export function scheduleView(
  schedule: Schedule,
  next: readonly Date[],
  { ndc, buildNumber, now }: Envelope,
): ScheduleView {
  const view: Draft = {
    ...echoed(schedule.request),
    id: schedule.id,
    shortId: shortId(schedule.shortNo),
    paymentType: schedule.paymentType,
    amount: formatAmount(schedule.amount.minor, schedule.amount.currency),
    currency: schedule.amount.currency,
    registrationId: schedule.registrationId,
    result: resultOf(approvedCode[schedule.mode]),
    job: schedule.job,
    nextExecutions: wireTimes(next),
    state: stateOf(schedule),
    timeZone: schedule.zone,
    createdAt: wireTimestamp(schedule.createdAt),
    buildNumber,
    timestamp: wireTimestamp(now),
    ndc,
  }
  if (schedule.merchantTransactionId !== null) {
    view.merchantTransactionId = schedule.merchantTransactionId
  }
  if (schedule.effectiveEnd !== null) {
    const { effectiveEnd, endAt } = schedule
    view.effectiveDate = wireTimestamp(
      endAt !== null && endAt < effectiveEnd ? endAt : effectiveEnd,
    )
  }
  return view as ScheduleView
}

function stateOf({ cancelledAt, nextAt }: Schedule): ScheduleView['state'] {
  if (cancelledAt === null) return nextAt === null ? 'ENDED' : 'WAITING'
  return nextAt === null ? 'CANCELLED' : 'ENDING'
}

export function previewView(
  id: string,
  plan: { readonly fields: StoredJob; readonly zone: string },
  next: readonly Date[],
  environment: 'test' | 'live',
  { ndc, buildNumber, now }: Envelope,
): PreviewView {
  return {
    id,
    result: doneResult(environment),
    job: plan.fields,
    timeZone: plan.zone,
    nextExecutions: wireTimes(next),
    buildNumber,
    timestamp: wireTimestamp(now),
    ndc,
  }
}

function executionView(execution: Execution): ExecutionView {
  return {
    id: execution.id,
    scheduledAt: wireTimestamp(execution.at),
    state: execution.state.toUpperCase() as ExecutionView['state'],
    ...(execution.paymentId === null ? {} : { paymentId: execution.paymentId }),
    attempts: execution.attempts,
    ...(execution.code === null ? {} : { result: resultOf(execution.code) }),
  }
}

const missedView = ({ first, last, count }: MissedRange) => ({
  from: wireTimestamp(first),
  to: wireTimestamp(last),
  count: String(count),
})

/** The common fields of responses about several resources. */
function bare(id: string, { ndc, buildNumber, now }: Envelope): Answered {
  return { id, result: listResult(), buildNumber, timestamp: wireTimestamp(now), ndc }
}

type PageOf<Entry> = { readonly entries: readonly Entry[]; readonly nextCursor?: string }

const cursorOf = ({ nextCursor }: PageOf<unknown>) =>
  nextCursor === undefined ? {} : { nextCursor }

export type SchedulesView = Answered & { schedules: ScheduleView[]; nextCursor?: string }

export function schedulesView(
  id: string,
  page: PageOf<{ readonly schedule: Schedule; readonly next: readonly Date[] }>,
  about: Envelope,
): SchedulesView {
  const schedules = page.entries.map(({ schedule, next }) => scheduleView(schedule, next, about))
  return { ...bare(id, about), schedules, ...cursorOf(page) }
}

export type MissedView = { from: string; to: string; count: string }

export type ExecutionsView = Answered & {
  executions: ExecutionView[]
  missed: MissedView[]
  nextCursor?: string
}

export function executionsView(
  id: string,
  page: PageOf<Execution> & { readonly missed: readonly MissedRange[] },
  about: Envelope,
): ExecutionsView {
  return {
    ...bare(id, about),
    executions: page.entries.map(executionView),
    missed: page.missed.map(missedView),
    ...cursorOf(page),
  }
}
