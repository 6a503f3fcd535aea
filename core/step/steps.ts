/** Reads step logs: by id for callers who may see the resource, by any of its numbers for operators. */
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, shortId } from '../ids.ts'
import { formatAmount } from '../money.ts'
import type { Payment } from '../payment/types.ts'
import { type Audience, inOrder, type Step } from '../transcript/types.ts'
import { notificationSteps, stepsOfDelivery } from './deliveries.ts'
import {
  amountText,
  type Candidates,
  type Found,
  finders,
  findNamed,
  findReferenced,
  type Kind,
  plainId,
} from './find.ts'
import { paymentSteps } from './payment.ts'
import { refusedRequest } from './refused-request.ts'
import { executionSteps, registrationSteps, scheduleSteps } from './resources.ts'

/** A resource with everything that happened to it. */
export type Inspected = {
  /** `request`: one that was refused, so that nothing came of it. */
  readonly kind: Kind | 'request'
  readonly id: string
  /** Facts about the resource and its state, by name. */
  readonly facts: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

/** The embedding program and the command line see names and reasons; tokens do not. */
const audienceOf = (caller: Caller): Audience =>
  caller.entityId === null ? 'operator' : 'merchant'

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
  const named = await findNamed(engine, reference)
  if (named !== undefined) return inspected(engine, named)
  const plain = plainId(reference)
  const refused = isId(plain) ? await refusedRequest(engine, plain) : []
  if (refused.length > 0) return { kind: 'request', id: plain, facts: {}, steps: refused }
  const found = await findReferenced(engine, reference, days)
  return 'candidates' in found ? found : inspected(engine, found)
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
