/** The operations on schedules, for embedders and for the hosted surface alike. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { clockOf } from '../business-time/time.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { refuseWrongParameters } from '../connector/parameters.ts'
import { cronFields } from '../cron/index.ts'
import type { Engine } from '../engine.ts'
import type { Addressee, Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { limitOf, wrongCursor } from '../page/by-id.ts'
import { fitting, portionsOf, weigh } from '../page/portions.ts'
import { modeOf } from '../payment/first-request.ts'
import { idempotencyOf } from '../payment/idempotency.ts'
import { handlerOf } from '../payment/operation-kinds.ts'
import { refuseRegisteredNumber } from '../payment/stored-number.ts'
import { withoutSecrets } from '../payment/stored-request.ts'
import { numbersOf, refuseOtherBrand, withAccount } from '../registration/account.ts'
import { usableFor } from '../registration/registrations.ts'
import type { Registration } from '../registration/types.ts'
import { checkCountries } from '../request/address.ts'
import { checkAmount } from '../request/amount.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { dispatch } from '../routing/dispatch.ts'
import { addOnce, madeBy } from './create.ts'
import { type JobFields, type JobPlan, readJob } from './parse-job.ts'
import { upcoming } from './plan.ts'
import { minimumIntervalMs, zoneOf } from './policy.ts'
import {
  executionsOf,
  missedOf,
  scheduleById,
  scheduleIdsOf,
  schedulesById,
  toSchedule,
} from './store.ts'
import { planOf, timeOf } from './stored-plan.ts'
import type { Execution, MissedRange, Schedule } from './types.ts'

/** A schedule and its next due times. */
export type ScheduleWithNext = { readonly schedule: Schedule; readonly next: readonly Date[] }

export type CreatedSchedule = ScheduleWithNext & { readonly replayed?: true }

const times = ['expression', ...cronFields] as const
const shown = limits.scheduleNextExecutions

/**
 * Charges a registration on a schedule.
 *
 * @throws GatewayError 400 naming each wrong field; 100.150.2xx for an unusable registration,
 * 100.250.1xx for an impossible job.
 */
export async function createSchedule(
  engine: Engine,
  caller: Caller,
  request: Request,
  idempotencyKey: string | undefined,
): Promise<CreatedSchedule> {
  const { fields } = request
  const addressee = await engine.directory.addressee(caller, textOf(fields, 'entityId'))
  const entityId = textOf(fields, 'entityId') ?? addressee.id
  const idempotency = idempotencyOf(
    engine,
    idempotencyKey,
    entityId,
    '/scheduling/v1/schedules',
    request.names,
  )
  const earlier = idempotency === null ? undefined : await madeBy(engine, idempotency)
  if (earlier !== undefined) return { ...withNext(earlier), replayed: true }
  const paymentType = chargedAs(textOf(fields, 'paymentType') ?? '')
  const id = textOf(fields, 'registrationId') ?? ''
  const registration = await usableFor(engine, caller, id, addressee)
  refuseRegisteredNumber(registration, fields)
  refuseOtherBrand(registration, fields)
  checkCountries(fields)
  const channel = dispatch(
    engine,
    addressee,
    await factsOf(engine, addressee, fields, registration),
    {},
  )
  const clockId = await clockOf(engine, channel, fields, registration.clockId)
  const now = await timeOf(engine, clockId)
  const amount = checkAmount(fields, { now, followUp: false })
  const mode = modeOf(engine, fields)
  const target = await engine.targets.choose(channel, {
    mode,
    kind: handlerOf[paymentType]!,
    method: registration.method as never,
    brand: registration.brand,
    currency: amount.currency,
  })
  refuseWrongParameters(target.loaded.connector, fields)
  const plan = readPlan(engine, channel, fields, now)
  const schedule: Schedule = {
    id: newId(),
    channelId: channel.id,
    entityId,
    registrationId: registration.id,
    clockId,
    shortNo: await engine.shortNumbers.take(),
    mode,
    paymentType,
    amount,
    zone: plan.zone,
    expression: plan.expression,
    startAt: plan.startAt,
    endAt: plan.endAt,
    job: plan.fields,
    request: chargeRequest(fields, paymentType, registration),
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    createdAt: now,
    cancelledAt: null,
    effectiveEnd: null,
    nextAt: plan.firstAt,
    seq: 1,
  }
  const { schedule: stored, isNew } = await addOnce(engine, caller, schedule, idempotency)
  return { ...withNext(stored), ...(isNew ? {} : { replayed: true }) }
}

/**
 * The due times of a schedule; stores nothing.
 *
 * @throws GatewayError as the creation, also for an unusable registration where one is named.
 */
export async function previewSchedule(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<{ plan: JobPlan; next: readonly Date[] }> {
  const registrationId = textOf(fields, 'registrationId')
  if (registrationId !== undefined) {
    const addressee = await engine.directory.addressee(caller, textOf(fields, 'entityId'))
    await usableFor(engine, caller, registrationId, addressee)
  }
  const channel = await engine.directory.channel(caller, textOf(fields, 'entityId'))
  const now = await timeOf(engine, await clockOf(engine, channel, fields, null))
  const plan = readPlan(engine, channel, fields, now)
  return { plan, next: upcoming(plan, now, shown) }
}

/** @throws GatewayError 404 700.400.580 when the caller sees no such schedule. */
export async function readSchedule(
  engine: Engine,
  caller: Caller,
  id: string,
  entityId: string | undefined,
): Promise<ScheduleWithNext> {
  const channels = await engine.directory.visible(caller, entityId)
  const [row] = isId(id) ? await engine.lanes.read(scheduleById(id, channels)) : []
  if (row === undefined) throw new GatewayError('700.400.580', { status: 404 })
  return withNext(toSchedule(row))
}

export type Page<Entry> = { readonly entries: readonly Entry[]; readonly nextCursor?: string }

/** Schedules of a registration, newest first. An unknown registration has none. */
export async function listSchedules(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<Page<ScheduleWithNext>> {
  const channels = await engine.directory.visible(caller, textOf(fields, 'entityId'))
  const registrationId = textOf(fields, 'registrationId') ?? ''
  const limit = limitOf(fields)
  const cursor = textOf(fields, 'cursor')
  if (cursor !== undefined && !isId(cursor)) throw wrongCursor(cursor)
  const ids = isId(registrationId)
    ? await engine.lanes.read(scheduleIdsOf(registrationId, channels, cursor ?? null, limit + 1))
    : []
  const entries: ScheduleWithNext[] = []
  let bytes = 0
  for (const portion of await portionsOf(engine, ids.slice(0, limit), ({ id }) => [id])) {
    const found = await engine.lanes.read(schedulesById(portion.map(({ id }) => id)))
    const rows = found.sort((one, other) => (one.id < other.id ? 1 : -1))
    const weights = rows.map(weigh)
    const fit = fitting(weights, bytes)
    entries.push(...rows.slice(0, fit).map((row) => withNext(toSchedule(row))))
    bytes = weights.reduce((sum, weight) => sum + weight, bytes)
    if (bytes > limits.pageBytes) break
  }
  const last = entries.at(-1)
  return last !== undefined && last.schedule.id !== ids.at(-1)?.id
    ? { entries, nextCursor: last.schedule.id }
    : { entries }
}

/** Executions of a schedule, newest first, and its missed due times. */
export async function listExecutions(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<Page<Execution> & { readonly missed: readonly MissedRange[] }> {
  const { schedule } = await readSchedule(engine, caller, id, textOf(fields, 'entityId'))
  const limit = limitOf(fields)
  const cursor = textOf(fields, 'cursor')
  const before = cursor === undefined ? null : new Date(Number(cursor))
  if (before !== null && (!/^[0-9]{1,15}$/.test(cursor!) || Number.isNaN(before.getTime()))) {
    throw wrongCursor(cursor!)
  }
  const [rows, missed] = await Promise.all([
    engine.lanes.read(executionsOf(schedule.id, before, limit + 1)),
    engine.lanes.read(missedOf(schedule.id, 100)),
  ])
  const entries = rows.slice(0, limit).map(
    (row): Execution => ({
      id: row.id,
      at: row.at,
      paymentId: row.payment_id,
      attempts: row.payment_id === null ? 0 : row.earlier + 1,
      state: row.failure !== null ? 'failed' : (row.state ?? 'due'),
      code: row.failure ?? row.result_code,
    }),
  )
  const last = entries.at(-1)
  return {
    entries,
    missed: missed.map((row) => ({ first: row.first_at, last: row.last_at, count: row.count })),
    ...(rows.length > limit && last !== undefined ? { nextCursor: String(last.at.getTime()) } : {}),
  }
}

/** The facts for dispatching rules, from the future payment. A named channel needs no facts. */
async function factsOf(
  engine: Engine,
  addressee: Addressee,
  fields: RequestFields,
  registration: Registration,
): Promise<RequestFields> {
  if (addressee.rules === undefined) return fields
  return withAccount(fields, registration, await numbersOf(engine, registration))
}

/** Reads the times of a request. */
export function readPlan(
  engine: Engine,
  channel: Channel,
  fields: RequestFields,
  now: Date,
  zone = zoneOf(channel.settings),
): JobPlan {
  const job = (groupOf(fields, 'job') ?? {}) as JobFields
  if (!times.some((name) => (job[name] ?? '') !== '')) {
    const message = 'says nothing about when to run: send job.expression, or job.hour and the like'
    throw refuse('100.250.100', 'job', message)
  }
  return readJob(job, {
    zone,
    nowBusiness: now,
    minimumIntervalMs: minimumIntervalMs(channel.settings, engine.environment),
  })
}

export const withNext = (schedule: Schedule): ScheduleWithNext => ({
  schedule,
  next: nextOf(schedule),
})

/** The next due times, as many as responses show. */
export function nextOf(schedule: Schedule): readonly Date[] {
  const { nextAt } = schedule
  return nextAt === null ? [] : [nextAt, ...upcoming(planOf(schedule), nextAt, shown - 1)]
}

function chargedAs(paymentType: string): string {
  if (['PA', 'DB', 'CD'].includes(paymentType)) return paymentType
  throw refuse('100.250.105', 'paymentType', 'must be PA, DB or CD', paymentType)
}

/** The request of each payment: the shopper is absent, so the merchant initiates it. */
function chargeRequest(fields: RequestFields, paymentType: string, registration: Registration) {
  const {
    job: _job,
    registrationId: _id,
    testClock: _clock,
    merchantTransactionId: _reference,
    // The registration has the brand, and no shopper is there to come back.
    paymentBrand: _brand,
    shopperResultUrl: _page,
    ...rest
  } = withoutSecrets(fields, {}) as Record<string, unknown>
  for (const name of ['amount', 'currency', 'paymentType']) delete rest[name]
  refuseTooLarge(rest)
  const standing = groupOf(fields, 'standingInstruction')
  const asMerchant = { mode: 'REPEATED', source: 'MIT' }
  for (const [name, value] of Object.entries(asMerchant)) {
    const sent = textOf(standing, name)
    if (sent === undefined || sent === value) continue
    const message = `must be ${value}: the cardholder is not there when a schedule charges`
    throw refuse('200.300.404', `standingInstruction.${name}`, message, sent)
  }
  const isCard = registration.method === 'card' || registration.method === 'tokenAccount'
  if (standing === undefined && (paymentType === 'CD' || !isCard)) return rest
  const usual = { type: 'RECURRING', recurringType: 'SUBSCRIPTION' }
  const type = textOf(standing, 'type') ?? usual.type
  const kind = type === 'RECURRING' ? usual : { type }
  return { ...rest, standingInstruction: { ...asMerchant, ...kind, ...standing } }
}

/** A process charges many schedules at once, each with its request. */
function refuseTooLarge(request: Readonly<Record<string, unknown>>): void {
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  if (bytesOf(request) <= limits.scheduleRequestBytes) return
  const [largest = ''] = Object.keys(request).sort(
    (one, other) => bytesOf(request[other]) - bytesOf(request[one]),
  )
  const message = `is too long: a schedule keeps ${limits.scheduleRequestBytes} bytes of its request`
  throw refuse('200.300.404', largest, message)
}
