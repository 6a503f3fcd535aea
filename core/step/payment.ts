/** The steps of one payment. */
import { limits } from '@tollgate/schemas'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { idTimeMs, lowestIdAt, shortId } from '../ids.ts'
import { shownAmount } from '../money.ts'
import { attemptByKey } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { shownFields, withoutPersons } from '../redaction/classes.ts'
import { type ReadStepRow, stepsOf } from '../transcript/store.ts'
import { type Audience, inOrder, type Step } from '../transcript/types.ts'
import {
  attentionOf,
  decisionOf,
  exchangeOf,
  flat,
  followUpOf,
  inWords,
  jobStep,
  receivedOf,
  resolvedOf,
  settlementOf,
  waitingOf,
} from './derive.ts'
import {
  attentionHistory,
  auditOf,
  type EventRow,
  eventsOfKey,
  executionOfPayment,
  firstEvent,
  followUpsOf,
  laterEvents,
  settlementsOf,
  timersOf,
} from './store-read.ts'

/** Clocks of machines may differ by this time, and a payment settles first within this time. */
const apartMs = 2_000
const firstWithinMs = 150_000

export async function paymentSteps(
  engine: Engine,
  payment: Payment,
  audience: Audience,
): Promise<Step[]> {
  // Steps still in this process's memory belong to the payment as well.
  await engine.steps.flush()
  const read = <Row>(statement: Sql<Row>) => engine.lanes.read(statement)
  const most = limits.shownSteps
  const key = payment.attemptKey
  const { chainId, scheduleId } = payment
  const refs = [key, ...(chainId === null ? [] : [payment.id])]
  const subjects = [
    { attemptKey: key },
    ...(chainId === null ? [] : [{ authorisationId: payment.id }]),
  ]
  // One query per queue. A merchant's view of a decided payment needs no jobs.
  const isLookedUp = audience === 'operator' || isOpen(payment)
  const [
    [attempt],
    calls,
    events,
    attention,
    audit,
    timers,
    received,
    followUps,
    settlements,
    executions,
    jobs,
  ] = await Promise.all([
    read(attemptByKey(key)),
    read(stepsOf(payment.id, most)),
    eventsOfPayment(engine, payment),
    read(attentionHistory(payment.id, most)),
    read(auditOf(payment.id, most)),
    read(timersOf(refs)),
    read(eventsOfKey(key, most)),
    read(followUpsOf(payment.id, most)),
    read(settlementsOf(payment.id, most)),
    scheduleId === null ? [] : read(executionOfPayment(payment.id, scheduleId, payment.createdAt)),
    isLookedUp ? engine.jobs.find(subjects) : [],
  ])
  // An attempt that was authenticated first is sent later.
  const isSentAtOnce = payment.answer.authentication === undefined
  const sentAt = isSentAtOnce ? attempt?.sent_at : undefined
  const acceptedAt = sentAt ?? new Date(idTimeMs(payment.id))
  return inOrder([
    ...executions.map(
      (row): Step => ({
        at: row.created_at,
        name: 'execution',
        text: `due by schedule ${row.schedule_id} for ${row.at.toISOString()}`,
        about: row.id,
      }),
    ),
    acceptedOf(payment, acceptedAt, attempt),
    ...jobs.map(jobStep),
    ...received.map(receivedOf),
    ...exchangesOf(payment, calls, audience),
    ...audit.map((row) => decisionOf(row, audience)),
    ...attention.map((row) => attentionOf(row, payment.amount.currency)),
    ...settledOf(payment, events, causeOf(attempt, audit)),
    ...attention.flatMap((row) => resolvedOf(row, audience)),
    ...settlements.map(settlementOf),
    ...followUps.map((row) => followUpOf(row, new Date(idTimeMs(row.id)))),
    ...leaseOf(attempt),
    ...timers.map(waitingOf),
  ])
}

const isOpen = ({ state }: Payment) =>
  state === 'processing' || state === 'pending' || state === 'unknown'

type AttemptRow = {
  readonly lease: number
  readonly lease_until: Date | null
  readonly state: string
  readonly kind: string
  readonly enquiries: number
  readonly questions: number
  readonly settled_by: string | null
}

function acceptedOf(payment: Payment, at: Date, attempt: AttemptRow | undefined): Step {
  const { amount } = payment
  const money =
    payment.effect === 'verification'
      ? {}
      : { amount: shownAmount(amount.minor, amount.currency), currency: amount.currency }
  const facts = {
    paymentType: payment.paymentType,
    ...money,
    ...(payment.brand === null ? {} : { paymentBrand: payment.brand }),
  }
  const about = payment.referencedId ?? payment.registrationId
  const notes = [
    `${Object.values(facts).join(' ')} to ${payment.connector}, mode ${payment.mode}`,
    ...(payment.referencedId === null ? [] : [`on ${payment.referencedId}`]),
    ...(payment.registrationId === null ? [] : [`registration ${payment.registrationId}`]),
    ...(payment.clockId === null ? [] : [`test clock ${payment.clockId}`]),
  ]
  return {
    at,
    name: 'accepted',
    text: notes.join(', '),
    sent: {
      ...facts,
      ...shownFields(payment.request),
      shortId: shortId(payment.shortNo),
      channel: payment.channelId,
      operation: attempt?.kind ?? '',
      key: payment.attemptKey,
    },
    ...(about === null ? {} : { about }),
  }
}

/** Calls that carry no operation out. */
const asks = new Set([
  'enquire',
  'reverseByKey',
  'authenticate',
  'completeAuthentication',
  'enquireAuthentication',
])

/** The answer of an ordinary call is stored with the payment, and shown with the call. */
function exchangesOf(payment: Payment, rows: readonly ReadStepRow[], audience: Audience): Step[] {
  const { refs, details, avs, cvv, networkTxId, advice } = payment.answer
  // Named for what they are: the answers to checks, and no code itself.
  const checks = { address: avs, code: cvv }
  const known = flat({ refs, details, checks, networkTxId, advice })
  const plain = withoutPersons(known, payment.request)
  const money = moneyOf(payment)
  return rows.map((row) => {
    return !asks.has(row.name)
      ? exchangeOf(row, money, plain, audience)
      : exchangeOf(row, '', {}, audience)
  })
}

const moneyOf = ({ effect, amount }: Payment) =>
  effect === 'verification'
    ? ''
    : `${shownAmount(amount.minor, amount.currency)} ${amount.currency}`

/** Every change of state, from its event; for a payment that changed once, from its row. */
async function eventsOfPayment(engine: Engine, payment: Payment): Promise<EventRow[]> {
  const later = await engine.lanes.read(laterEvents(payment.id, limits.shownSteps))
  const ofPayment = later.filter(({ type }) => type.startsWith('payment.'))
  if (ofPayment.length === 0) return []
  const startMs = idTimeMs(payment.id)
  const fromMs = startMs - apartMs
  const toMs = Math.min(idTimeMs(ofPayment[0]!.id) + apartMs, startMs + firstWithinMs)
  const first = await engine.lanes.read(
    firstEvent(payment.id, lowestIdAt(fromMs), lowestIdAt(toMs)),
  )
  return [...first, ...ofPayment]
}

/**
 * The cause of the last change of state. Undefined where the row names a later word: a late success, and its end,
 * leave the state as it was, and have entries and decisions of their own.
 */
function causeOf(
  attempt: AttemptRow | undefined,
  audit: readonly { readonly action: string }[],
): string | undefined {
  const isEnded = audit.some(({ action }) => lateEnds.has(action))
  return attempt?.state === 'late' || isEnded ? undefined : (attempt?.settled_by ?? undefined)
}

const lateEnds = new Set(['late-success-reversed', 'late-success-failed', 'payment.given-back'])

function settledOf(
  payment: Payment,
  events: readonly EventRow[],
  settledBy: string | undefined,
): Step[] {
  const by = settledBy === undefined ? {} : { by: settledBy }
  if (events.length === 0) {
    if (payment.settledAt === null) return []
    return [stateStep(payment.settledAt, payment.state, payment.resultCode, by)]
  }
  return events.map((event, index) => {
    const { state, code } = event.data as { state?: string; code?: string }
    const isLast = index === events.length - 1
    return stateStep(event.at, state ?? event.type, code ?? '', isLast ? by : {})
  })
}

function stateStep(at: Date, state: string, code: string, by: { by?: string }): Step {
  return { at, name: 'settled', outcome: state, text: code === '' ? '' : inWords(code), ...by }
}

/** The lease, while a process holds it: until then, no other process can settle. */
function leaseOf(attempt: AttemptRow | undefined): Step[] {
  if (attempt?.lease_until == null) return []
  const { lease, lease_until } = attempt
  const times = attempt.enquiries + attempt.questions
  const asked = times === 0 ? '' : `, asked ${times} times so far`
  const text = `lease ${lease} ends: until then only its holder can settle${asked}`
  return [{ at: lease_until, name: 'waits', outcome: 'lease', text }]
}
