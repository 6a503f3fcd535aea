/** Reads step logs: by id for callers who may see the resource, by any of its numbers for operators. */
import { limits } from '@tollgate/schemas'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { idTimeMs, isCheckoutId, isId, shortId, shortNo } from '../ids.ts'
import { exactDecimal, fitsWire, formatAmount } from '../money.ts'
import { captureToCome } from '../payment/capture-to-come.ts'
import { paymentByAttempt, paymentById, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { registrationById, toRegistration } from '../registration/store.ts'
import type { Registration } from '../registration/types.ts'
import { scheduleById, toSchedule } from '../schedule/store.ts'
import type { Schedule } from '../schedule/types.ts'
import { type Audience, inOrder, type Step } from '../transcript/types.ts'
import { notificationSteps, stepsOfDelivery } from './deliveries.ts'
import { paymentOfCheckout, paymentOfRequest } from './of-request.ts'
import { paymentSteps } from './payment.ts'
import { refusedRequest } from './refused-request.ts'
import { executionSteps, registrationSteps, scheduleSteps } from './resources.ts'
import {
  type DeliveryRow,
  deliveryById,
  type ExecutionRecord,
  executionById,
  paymentsByReference,
} from './store-read.ts'

export type Kind = 'payment' | 'registration' | 'schedule' | 'execution' | 'delivery'

/** A resource with everything that happened to it. */
export type Inspected = {
  /** `request`: one that was refused, so that nothing came of it. */
  readonly kind: Kind | 'request'
  readonly id: string
  /** Facts about the resource and its state, by name. */
  readonly facts: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

/** Payments that share a short id or a merchantTransactionId. */
export type Candidates = {
  readonly candidates: readonly {
    readonly id: string
    readonly at: Date
    readonly text: string
  }[]
}

/** The embedding program and the command line see names and reasons; tokens do not. */
const audienceOf = (caller: Caller): Audience =>
  caller.entityId === null ? 'operator' : 'merchant'

type Found =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | { readonly kind: 'registration'; readonly registration: Registration }
  | { readonly kind: 'schedule'; readonly schedule: Schedule }
  | { readonly kind: 'execution'; readonly execution: ExecutionRecord }
  | { readonly kind: 'delivery'; readonly delivery: DeliveryRow }

type Finder = (
  engine: Engine,
  id: string,
  channels: readonly string[] | null,
) => Promise<Found | undefined>

const finders: Readonly<Record<Kind, Finder>> = {
  async payment(engine, id, channels) {
    const [row] = await engine.lanes.read(paymentById(id, channels))
    if (row !== undefined) return { kind: 'payment', payment: toPayment(row) }
    // A capture that does not exist yet has the steps of its authorisation.
    const found = await captureToCome(engine, id, channels)
    return found && { kind: 'payment', payment: found.authorisation }
  },
  async registration({ lanes }, id, channels) {
    const [row] = await lanes.read(registrationById(id, channels))
    return row && { kind: 'registration', registration: toRegistration(row) }
  },
  async schedule({ lanes }, id, channels) {
    const [row] = await lanes.read(scheduleById(id, channels))
    return row && { kind: 'schedule', schedule: toSchedule(row) }
  },
  async execution({ lanes }, id, channels) {
    const [row] = await lanes.read(executionById(id, channels))
    return row && { kind: 'execution', execution: row }
  },
  async delivery({ lanes }, id, channels) {
    // A caller for some entities reads the delivery log of those entities' endpoints only.
    const [row] = channels === null ? await lanes.read(deliveryById(id)) : []
    return row && { kind: 'delivery', delivery: row }
  },
}

function stepsOf(
  engine: Engine,
  found: Found,
  channels: readonly string[] | null,
  audience: Audience,
): Promise<Step[]> {
  switch (found.kind) {
    case 'payment':
      return paymentSteps(engine, found.payment, audience)
    case 'registration':
      return registrationSteps(engine, found.registration, channels, audience)
    case 'schedule':
      return scheduleSteps(engine, found.schedule, audience)
    case 'execution':
      return executionSteps(engine, found.execution, audience)
    case 'delivery':
      return Promise.resolve(inOrder(stepsOfDelivery(found.delivery)))
  }
}

/** Adds the notifications that the caller may see. */
async function withNotifications(
  engine: Engine,
  id: string,
  steps: readonly Step[],
  maySee: (entityId: string) => Promise<boolean>,
): Promise<Step[]> {
  return inOrder([...steps, ...(await notificationSteps(engine, id, maySee))])
}

/** @throws GatewayError 404 when the caller sees no resource of these kinds with this id. */
export async function readSteps(
  engine: Engine,
  caller: Caller,
  kinds: readonly Kind[],
  id: string,
  entityId: string | undefined,
): Promise<Step[]> {
  const channels = await engine.directory.visible(caller, entityId)
  for (const kind of isId(id) ? kinds : []) {
    const found = await finders[kind](engine, id, channels)
    if (found === undefined) continue
    const steps = await stepsOf(engine, found, channels, audienceOf(caller))
    return withNotifications(engine, id, steps, (entity) => engine.directory.acts(caller, entity))
  }
  throw new GatewayError('700.400.580', { status: 404 })
}

/** Maximum number of payments in the response to one number. */
const mostCandidates = 20

/**
 * Finds a resource by any number that an operator has: the id of a payment, registration, schedule,
 * execution or delivery, a key of an attempt, the `ndc` of a response, a short id, a
 * merchantTransactionId. The last two are searched among the payments of the last `days`.
 *
 * @throws GatewayError 404 when no resource has this number.
 */
export async function inspect(
  engine: Engine,
  reference: string,
  days: number,
): Promise<Inspected | Candidates> {
  const plain = reference.replaceAll('-', '').toLowerCase()
  if (isId(plain)) {
    for (const kind of ['payment', 'registration', 'schedule', 'execution', 'delivery'] as const) {
      const found = await finders[kind](engine, plain, null)
      // A registration without a payment has a verification, a payment with the same id.
      const isVerification = found?.kind === 'payment' && found.payment.effect === 'verification'
      if (found !== undefined && !isVerification) return inspected(engine, found)
    }
  }
  const [row] = await engine.lanes.read(paymentByAttempt(reference))
  const payment = row === undefined ? await madeBy(engine, reference, plain) : toPayment(row)
  if (payment !== undefined) return inspected(engine, { kind: 'payment', payment })
  const refused = isId(plain) ? await refusedRequest(engine, plain) : []
  if (refused.length > 0) return { kind: 'request', id: plain, facts: {}, steps: refused }
  const wanted = { shortNo: shortNo(reference) ?? null, merchantTransactionId: reference }
  const search = paymentsByReference(wanted, days, mostCandidates)
  const rows = await engine.lanes.read(search, limits.slowReadMs)
  const [only] = rows
  if (only === undefined) {
    throw new GatewayError('700.400.580', {
      status: 404,
      description: `nothing has the number ${reference}, among ids of all time and other numbers of the last ${days} days`,
    })
  }
  if (rows.length === 1) {
    const found = await finders.payment(engine, only.id, null)
    if (found !== undefined) return inspected(engine, found)
  }
  return {
    candidates: rows.map((one) => ({
      id: one.id,
      at: new Date(idTimeMs(one.id)),
      text: `${one.payment_type} ${amountText(one.amount_minor, one.currency)} ${one.currency} ${one.state} ${one.result_code}`,
    })),
  }
}

/** The payment behind the `ndc` of a response. */
async function madeBy(engine: Engine, ndc: string, plain: string): Promise<Payment | undefined> {
  if (isCheckoutId(ndc)) return paymentOfCheckout(engine, ndc)
  return isId(plain) ? paymentOfRequest(engine, plain) : undefined
}

async function inspected(engine: Engine, found: Found): Promise<Inspected> {
  const own = await stepsOf(engine, found, null, 'operator')
  const isDelivery = found.kind === 'delivery'
  const everybody = async () => true
  const steps = isDelivery ? own : await withNotifications(engine, idOf(found), own, everybody)
  switch (found.kind) {
    case 'payment': {
      const { payment } = found
      return { kind: found.kind, id: payment.id, facts: factsOf(payment), steps }
    }
    case 'registration': {
      const { id, brand, method, channelId, mode, removedAt, state } = found.registration
      const facts = {
        state: removedAt === null ? state : 'removed',
        brand,
        method,
        mode,
        channel: channelId,
      }
      return { kind: found.kind, id, facts, steps }
    }
    case 'schedule': {
      const { id, amount, paymentType, expression, zone, channelId, nextAt } = found.schedule
      const facts = {
        state: nextAt === null ? 'ended' : 'waiting',
        charges: `${paymentType} ${formatAmount(amount.minor, amount.currency)} ${amount.currency}`,
        job: `${expression} ${zone}`,
        channel: channelId,
      }
      return { kind: found.kind, id, facts, steps }
    }
    case 'execution': {
      const { id, at, schedule_id, channel_id } = found.execution
      const facts = { for: at.toISOString(), schedule: schedule_id, channel: channel_id }
      return { kind: found.kind, id, facts, steps }
    }
    case 'delivery': {
      const { id, state, kind, resource, url, attempts } = found.delivery
      const facts = { state, type: kind, of: resource, to: url, tries: String(attempts) }
      return { kind: found.kind, id, facts, steps }
    }
  }
}

function idOf(found: Found): string {
  switch (found.kind) {
    case 'payment':
      return found.payment.id
    case 'registration':
      return found.registration.id
    case 'schedule':
      return found.schedule.id
    case 'execution':
      return found.execution.id
    case 'delivery':
      return found.delivery.id
  }
}

/** For people, with the third decimal that the API does not have. */
const amountText = (minor: bigint, currency: string) =>
  fitsWire(minor, currency) ? formatAmount(minor, currency) : exactDecimal(minor, currency)

function factsOf(payment: Payment): Record<string, string> {
  const { amount } = payment
  const optional = {
    merchantTransactionId: payment.merchantTransactionId,
    brand: payment.brand,
    registration: payment.registrationId,
    schedule: payment.scheduleId,
    refersTo: payment.referencedId,
    acquirerAccount: payment.accountId,
  }
  return {
    state: `${payment.state} ${payment.resultCode}`,
    is:
      payment.effect === 'verification'
        ? payment.paymentType
        : `${payment.paymentType} ${amountText(amount.minor, amount.currency)} ${amount.currency}`,
    shortId: shortId(payment.shortNo),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)),
    connector: `${payment.connector} (${payment.mode})`,
    channel: payment.channelId,
    key: payment.attemptKey,
  } as Record<string, string>
}
