/**
 * Builds the notification of an event: the usual view of the resource, at the time of the event.
 */
import { resultDescription } from '@tollgate/schemas'
import { buildNumber } from '../caller/embedder.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { paymentsById, toPayment } from '../payment/store-read.ts'
import type { Payment, PaymentState } from '../payment/types.ts'
import { paymentView } from '../payment/view.ts'
import { formerContents, registrationsById, toRegistration } from '../registration/store.ts'
import type { Registration } from '../registration/types.ts'
import { registrationView } from '../registration/view.ts'
import { nextOf } from '../schedule/schedules.ts'
import { schedulesById, toSchedule } from '../schedule/store.ts'
import { asOf } from '../schedule/store-then.ts'
import type { Schedule } from '../schedule/types.ts'
import { scheduleView } from '../schedule/view.ts'
import {
  type Action,
  actionOf,
  isMadeBy,
  type NotificationType,
  sequenceOf,
  typesOf,
  verificationType,
} from './notified-events.ts'

/** An event in the form of its row. */
export type StoredEvent = {
  readonly id: string
  readonly resource: string
  /** Counts the events of the resource. */
  readonly seq: number
  readonly channelId: string
  /** `payment.approved`, `schedule.missed` … */
  readonly type: string
  readonly at: Date
  readonly data: Readonly<Record<string, unknown>>
}

/** One message about one event. */
export type Notification = {
  /** The same in every attempt and every replay: `webhook-id`. */
  readonly id: string
  readonly event: StoredEvent
  readonly type: NotificationType
  /** Counts the notifications about the resource: `webhook-sequence`. */
  readonly sequence: number
  /** Absent for payments. */
  readonly action?: Action
  /** JSON text: `{ type, action?, payload }`. */
  readonly body: string
}

/** The event's id; a second notification of the same event gets an id of its own. */
export function notificationId(event: Pick<StoredEvent, 'id' | 'type'>, type: NotificationType) {
  const isSecond = type === 'REGISTRATION' && isMadeBy(event.type)
  return isSecond ? `${event.id}-registration` : event.id
}

/** An event whose rows cannot produce a notification. */
export class Untellable extends Error {
  override readonly name = 'Untellable'
  readonly event: StoredEvent

  constructor(event: StoredEvent, cause: unknown) {
    super('an event cannot be told', { cause })
    this.event = event
  }
}

/**
 * The notifications of these events, in their order. Some events have none. An event that cannot be told
 * yields an error in its place and does not affect others. One statement reads the rows of each kind of
 * resource.
 */
export async function tellableOf(
  engine: Engine,
  events: readonly StoredEvent[],
): Promise<(Notification | Untellable)[]> {
  const resources = await readResources(engine, events)
  return events.flatMap((event): (Notification | Untellable)[] => {
    try {
      return ofEvent(event, resources)
    } catch (error) {
      return [new Untellable(event, error)]
    }
  })
}

function ofEvent(event: StoredEvent, resources: Resources): Notification[] {
  const payment = resources.payments.get(event.resource)
  const types = typesOf(event, payment !== undefined && isMaking(payment))
  return types.flatMap((type) => {
    const payload = payloadOf(event, type, resources)
    return payload === undefined ? [] : [notification(event, type, payload)]
  })
}

function notification(event: StoredEvent, type: NotificationType, payload: object): Notification {
  const action = actionOf(event.type, type)
  return {
    id: notificationId(event, type),
    event,
    type,
    sequence: sequenceOf(type, event),
    ...(action === undefined ? {} : { action }),
    body: JSON.stringify({ type, ...(action === undefined ? {} : { action }), payload }),
  }
}

/** `seq` counts its events. */
type Numbered = Payment & { readonly seq: number }

type Resources = {
  readonly payments: ReadonlyMap<string, Numbered>
  readonly registrations: ReadonlyMap<string, Registration>
  /** Contents of registrations at earlier events, by id and sequence number. */
  readonly former: ReadonlyMap<string, Registration['request']>
  /** Settings of the registrations' channels. */
  readonly settings: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  readonly schedules: ReadonlyMap<string, Schedule>
}

async function readResources(engine: Engine, events: readonly StoredEvent[]): Promise<Resources> {
  const idsOf = (noun: string) => [
    ...new Set(events.filter(({ type }) => type.startsWith(noun)).map(({ resource }) => resource)),
  ]
  const [payments, schedules] = await Promise.all([
    readAll(
      idsOf('payment.'),
      (ids) => engine.lanes.read(paymentsById(ids)),
      (row): Numbered => ({ ...toPayment(row), seq: row.seq }),
    ),
    readAll(idsOf('schedule.'), (ids) => engine.lanes.read(schedulesById(ids)), toSchedule),
  ])
  const made = [...payments.values()].flatMap((payment) => {
    if (payment.paymentType === verificationType) return [payment.id]
    return isMaking(payment) ? [payment.registrationId!] : []
  })
  const registrations = await readAll(
    [...idsOf('registration.'), ...made],
    (ids) => engine.lanes.read(registrationsById(ids, null)),
    toRegistration,
  )
  const channels = new Set([...registrations.values()].map(({ channelId }) => channelId))
  const settings = await Promise.all(
    [...channels].map(async (id) => [id, await engine.directory.settings(id)] as const),
  )
  const earlier = events.flatMap((event) => {
    const told = registrationAt(event, payments.get(event.resource))
    return told !== undefined && told.seq < (registrations.get(told.id)?.seq ?? 0) ? [told] : []
  })
  const contents = earlier.length === 0 ? [] : await engine.lanes.read(formerContents(earlier))
  const former = new Map(contents.map(({ id, seq, request }) => [`${id} ${seq}`, request]))
  return { payments, schedules, registrations, former, settings: new Map(settings) }
}

async function readAll<Row, Thing extends { readonly id: string }>(
  ids: readonly string[],
  read: (ids: readonly string[]) => Promise<Row[]>,
  to: (row: Row) => Thing,
): Promise<Map<string, Thing>> {
  const rows = ids.length === 0 ? [] : await read(ids)
  return new Map(rows.map(to).map((thing) => [thing.id, thing]))
}

const isMaking = (payment: Payment) =>
  payment.registrationId !== null && payment.request.createRegistration === 'true'

/** The registration that an event is about, and its sequence number then. */
function registrationAt(
  event: StoredEvent,
  payment: Payment | undefined,
): { readonly id: string; readonly seq: number } | undefined {
  const isOwn = payment === undefined || payment.paymentType === verificationType
  const id = isOwn ? event.resource : payment.registrationId
  // The payment that created the registration comes before all changes.
  return id === null ? undefined : { id, seq: isMadeBy(event.type) ? 0 : event.seq }
}

function payloadOf(
  event: StoredEvent,
  type: NotificationType,
  { payments, registrations, former, settings, schedules }: Resources,
): object | undefined {
  const payment = payments.get(event.resource)
  if (type === 'PAYMENT') return payment && paymentPayload(event, payment)
  if (type === 'REGISTRATION') {
    const at = registrationAt(event, payment)
    const registration = registrations.get(at?.id ?? '')
    if (at === undefined || registration === undefined) return undefined
    const own = settings.get(registration.channelId) ?? {}
    const ndc = payment?.checkoutId ?? event.id
    const request = former.get(`${at.id} ${at.seq}`) ?? registration.request
    return registrationView({ ...registration, request }, own, ndc, buildNumber, event.at)
  }
  const schedule = schedules.get(event.resource)
  return schedule && schedulePayload(event, schedule)
}

/** State and result come from the event, regardless of the payment's present state. */
function paymentPayload(event: StoredEvent, payment: Numbered): object {
  const state = (event.data.state ?? payment.state) as PaymentState
  const resultCode = (event.data.code ?? payment.resultCode) as string
  const isSame = payment.state === state && payment.resultCode === resultCode
  // It may have failed since, and be approved for another amount.
  const isAsThen =
    isSame && (payment.seq === event.seq || payment.approvedMinor === approvedOf(payment, event))
  const then = isAsThen ? payment : asOfThen(payment, event, state, resultCode)
  // Any browser with the redirect counts as the shopper, so notifications do not contain it.
  const {
    nextActions: _,
    redirect: _redirect,
    ...view
  } = paymentView(then, undefined, payment.checkoutId ?? event.id, buildNumber)
  const { forex } = payment.request as { forex?: { amount?: string; currency?: string } }
  return {
    ...view,
    ...(view.amount === undefined
      ? {}
      : {
          presentationAmount: forex?.amount ?? view.amount,
          presentationCurrency: forex?.currency ?? view.currency,
        }),
  }
}

/** With the acquirer's data of that time, as far as the event kept them. */
function asOfThen(
  payment: Payment,
  event: StoredEvent,
  state: PaymentState,
  resultCode: string,
): Payment {
  const { approvedMinor: _, ...answer } = thenOf(event)
  const approvedMinor = state === 'approved' ? approvedOf(payment, event) : null
  return { ...payment, state, resultCode, approvedMinor, finalBy: null, answer }
}

const thenOf = ({ data }: StoredEvent) =>
  (data.then ?? {}) as { readonly approvedMinor?: string; readonly [name: string]: unknown }

/** The amount that an event approved; null where it approved none. */
function approvedOf({ amount }: Payment, event: StoredEvent): bigint | null {
  if (event.data.state !== 'approved') return null
  return BigInt(thenOf(event).approvedMinor ?? amount.minor)
}

function schedulePayload(event: StoredEvent, now: Schedule): object {
  const schedule = asOf(now, event.data)
  const about = { ndc: event.id, buildNumber, now: event.at }
  const view = { ...scheduleView(schedule, nextOf(schedule), about), event: event.type }
  if (event.type === 'schedule.missed') {
    const { from, to, count } = event.data
    const range = { from: wireTime(from), to: wireTime(to), count: String(count) }
    return { ...view, missed: [range] }
  }
  if (event.type === 'schedule.execution.failed') {
    const { execution: id, at, code } = event.data as Record<string, string>
    const result = { code, description: resultDescription(code as never) }
    const failed = { id, scheduledAt: wireTime(at), state: 'FAILED', attempts: 0, result }
    return { ...view, executions: [failed] }
  }
  return view
}

const wireTime = (text: unknown) => wireTimestamp(new Date(text as string))
