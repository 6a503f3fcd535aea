/** The steps of a registration, a schedule, or one execution of a schedule. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { idTimeMs } from '../ids.ts'
import { formatAmount } from '../money.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import { shownFields } from '../redaction/classes.ts'
import type { Registration } from '../registration/types.ts'
import { schedulesOf } from '../schedule/store.ts'
import type { Schedule } from '../schedule/types.ts'
import { type Audience, inOrder, type Step } from '../transcript/types.ts'
import { briefOf, changeOf, decisionOf, inWords, jobStep, waitingOf } from './derive.ts'
import { paymentSteps } from './payment.ts'
import {
  auditOf,
  type BriefPaymentRow,
  type ExecutionRecord,
  lastExecutionsOf,
  laterEvents,
  missedDueTimes,
  paymentsById,
  paymentsWith,
  type RecordRow,
  recordsOf,
  timersOf,
} from './store-read.ts'

const shown = 100

/** Shows each change once: from its record, not from its event. */
const recorded = new Set([
  'registration.updated',
  'registration.removed',
  'schedule.created',
  'schedule.changed',
  'schedule.cancelled',
  'schedule.missed',
  'schedule.execution.failed',
])

const recordNames: Readonly<Record<string, string>> = {
  RR: 'changed by its owner',
  TE: 'kept for longer',
  DR: 'removed',
  SD: 'made',
  RS: 'given other times',
  DS: 'cancelled',
}

function recordOf(row: RecordRow): Step & { about: string } {
  const reference = row.merchant_transaction_id
  return {
    at: new Date(idTimeMs(row.id)),
    name: 'changed',
    outcome: row.type,
    text: `${recordNames[row.type] ?? row.type}${reference === null ? '' : `, ${reference}`}`,
    about: row.id,
  }
}

const paymentOf = (row: BriefPaymentRow): Step & { about: string } => ({
  at: new Date(idTimeMs(row.id)),
  name: 'payment',
  outcome: row.state,
  text: briefOf(row),
  about: row.id,
})

/** Ids of one process are in the order of their creation, also within a millisecond. */
const asMade = <Made extends { readonly about: string }>(steps: readonly Made[]): Made[] =>
  steps.toSorted((one, other) => (one.about < other.about ? -1 : 1))

/**
 * The steps of a registration on `channels` (null: any). Every channel of a merchant may charge the
 * registration, and one channel's charges are not visible to the others.
 */
export async function registrationSteps(
  engine: Engine,
  registration: Registration,
  channels: readonly string[] | null,
  audience: Audience,
): Promise<Step[]> {
  const { id } = registration
  const { lanes } = engine
  const [records, events, audit, payments, made, schedules, timers] = await Promise.all([
    lanes.read(recordsOf(id, limits.shownSteps)),
    lanes.read(laterEvents(id, limits.shownSteps)),
    lanes.read(auditOf(id, limits.shownSteps)),
    lanes.read(paymentsWith(id, channels, shown)),
    lanes.read(paymentsById([registration.paymentId])),
    lanes.read(schedulesOf(id, channels, null, shown)),
    lanes.read(timersOf([id])),
  ])
  const known = new Map([...made, ...payments].map((row) => [row.id, row]))
  return inOrder([
    {
      at: new Date(idTimeMs(id)),
      name: 'accepted',
      text: `${registration.brand} ${registration.method}, stored by payment ${registration.paymentId}: ${registration.state}`,
      about: registration.paymentId,
      sent: {
        paymentBrand: registration.brand,
        channel: registration.channelId,
        ...shownFields(registration.request),
      },
    },
    ...asMade([
      ...records.map(recordOf),
      ...[...known.values()].map(paymentOf),
      ...schedules.map((row): Step & { about: string } => ({
        at: new Date(idTimeMs(row.id)),
        name: 'schedule',
        outcome: row.next_at === null ? 'ended' : 'waiting',
        text: `${row.payment_type} ${formatAmount(row.amount_minor, row.currency)} ${row.currency} at ${row.expression}`,
        about: row.id,
      })),
    ]),
    ...events
      .filter(({ type }) => type.startsWith('registration.') && !recorded.has(type))
      .map(changeOf),
    ...audit.map((row) => decisionOf(row, audience)),
    ...timers.map(waitingOf),
  ])
}

export async function scheduleSteps(
  engine: Engine,
  schedule: Schedule,
  audience: Audience,
): Promise<Step[]> {
  const { id } = schedule
  const { lanes } = engine
  const [records, events, audit, executions, missed] = await Promise.all([
    lanes.read(recordsOf(id, limits.shownSteps)),
    lanes.read(laterEvents(id, limits.shownSteps)),
    lanes.read(auditOf(id, limits.shownSteps)),
    lanes.read(lastExecutionsOf(id, shown)),
    lanes.read(missedDueTimes(id, shown)),
  ])
  const open = executions.filter((row) => row.payment_id === null && row.failure === null)
  const [paid, timers] = await Promise.all([
    lanes.read(paymentsById(executions.flatMap((row) => row.payment_id ?? []))),
    lanes.read(timersOf(open.map((row) => row.id))),
  ])
  const byId = new Map(paid.map((row) => [row.id, row]))
  const next: Step[] =
    schedule.nextAt === null
      ? []
      : [
          {
            at: schedule.nextAt,
            name: 'waits',
            outcome: 'execution',
            text: 'its next charge is due',
          },
        ]
  return inOrder([
    {
      at: new Date(idTimeMs(id)),
      name: 'accepted',
      text: `${schedule.paymentType} ${formatAmount(schedule.amount.minor, schedule.amount.currency)} ${schedule.amount.currency} at ${schedule.expression} ${schedule.zone}, registration ${schedule.registrationId}`,
      about: schedule.registrationId,
      sent: { channel: schedule.channelId, ...shownFields(schedule.request) },
    },
    ...records.filter(({ type }) => type !== 'SD').map(recordOf),
    ...events
      .filter(({ type }) => type.startsWith('schedule.') && !recorded.has(type))
      .map(changeOf),
    ...executions.map((row) => executionOf(row, byId.get(row.payment_id ?? ''))),
    ...missed.map(
      (row): Step => ({
        at: row.created_at,
        name: 'missed',
        outcome: 'missed',
        text: `${row.count} from ${row.first_at.toISOString()} to ${row.last_at.toISOString()}, never charged`,
      }),
    ),
    ...audit.map((row) => decisionOf(row, audience)),
    ...timers.map(waitingOf),
    ...next,
  ])
}

function executionOf(row: ExecutionRecord, payment: BriefPaymentRow | undefined): Step {
  const became =
    row.failure !== null
      ? `no payment could be made: ${inWords(row.failure)}`
      : payment === undefined
        ? 'not charged yet'
        : briefOf(payment)
  const before = row.earlier.length === 0 ? '' : `, after ${row.earlier.length} declined`
  return {
    at: row.created_at,
    name: 'execution',
    outcome: row.failure !== null ? 'failed' : (payment?.state ?? 'due'),
    text: `for ${row.at.toISOString()}: ${became}${before}`,
    about: row.payment_id ?? row.id,
  }
}

/** One execution of a schedule with everything about each payment that was made for it. */
export async function executionSteps(
  engine: Engine,
  row: ExecutionRecord,
  audience: Audience,
): Promise<Step[]> {
  const ids = [...row.earlier, ...(row.payment_id === null ? [] : [row.payment_id])]
  const [timers, jobs, ...payments] = await Promise.all([
    engine.lanes.read(timersOf([row.id])),
    engine.jobs.find([{ executionId: row.id }]),
    ...ids.map(async (id) => {
      const [found] = await engine.lanes.read(paymentById(id, null))
      return found === undefined ? [] : paymentSteps(engine, toPayment(found), audience)
    }),
  ])
  const own = (payments as Step[][]).flat().filter((step) => step.name !== 'execution')
  const [current] = await engine.lanes.read(
    paymentsById(row.payment_id === null ? [] : [row.payment_id]),
  )
  return inOrder([
    executionOf(row, current),
    ...jobs.map(jobStep),
    ...own,
    ...timers.map(waitingOf),
  ])
}
