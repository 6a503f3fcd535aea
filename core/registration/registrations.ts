/** The operations on registrations, for embedders and for the hosted surface alike. */
import { actorOf } from '../audit/actor.ts'
import { businessNow } from '../business-time/time.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { OpenTransaction } from '../db/open-transaction.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { refuseManyNumbers } from '../payment/distinct-number.ts'
import { findReplay, idempotencyOf } from '../payment/idempotency.ts'
import { shownNumbers } from '../payment/instrument.ts'
import { type Done, payFirst } from '../payment/payments.ts'
import { storedFor } from '../payment/sealed-numbers.ts'
import { refuseRegisteredNumber } from '../payment/stored-number.ts'
import {
  accountPart,
  noticeAt,
  numbersOf as numbersSent,
  withoutSecrets,
} from '../payment/stored-request.ts'
import type { StoredRequest } from '../payment/types.ts'
import { checkAccount } from '../request/account.ts'
import { checkCountries } from '../request/address.ts'
import { refuse, textOf } from '../request/values.ts'
import { changed, numbersOf, refuseTooMuch, withAccount, withAgreement } from './account.ts'
import {
  changeRegistration,
  registrationById,
  removeRegistration,
  toRegistration,
  withFingerprint,
} from './store.ts'
import type { Change, Registration } from './types.ts'

/**
 * Stores an account without a payment. Returns its verification, which has the registration's id;
 * the registration is usable after the approval.
 */
export async function createRegistration(
  engine: Engine,
  caller: Caller,
  request: Request,
  idempotencyKey: string | undefined,
): Promise<Done> {
  const { fields } = request
  const addressee = await engine.directory.addressee(caller, textOf(fields, 'entityId'))
  const entityId = textOf(fields, 'entityId') ?? addressee.id
  const path = '/v1/registrations'
  const idempotency = idempotencyOf(engine, idempotencyKey, entityId, path, request.names)
  return payFirst(engine, addressee, request, idempotency, { only: 'verification', caller })
}

/** Pays with a stored account. */
export async function payWithRegistration(
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
  idempotencyKey: string | undefined,
  within?: OpenTransaction,
): Promise<Done> {
  const addressee = await engine.directory.addressee(caller, textOf(request.fields, 'entityId'))
  const entityId = textOf(request.fields, 'entityId') ?? addressee.id
  const path = `/v1/registrations/${id}/payments`
  const idempotency = idempotencyOf(engine, idempotencyKey, entityId, path, request.names)
  refuseManyNumbers(engine, addressee, caller, numbersSent(request.fields))
  const earlier = await findReplay(engine, idempotency)
  if (earlier !== undefined) {
    engine.steps.repeated(earlier.id)
    return { payment: earlier, replayed: true }
  }
  const registration = await usableFor(engine, caller, id, addressee)
  refuseRegisteredNumber(registration, request.fields)
  const numbers = await numbersOf(engine, registration)
  await refuseForeignNumbers(engine, registration, addressee.id, numbers)
  const fields = await withAgreement(
    engine,
    withAccount(request.fields, registration, numbers),
    registration,
  )
  const use = {
    ...{ registrationId: registration.id, clockId: registration.clockId, caller },
    ...(within !== undefined && { within }),
  }
  return payFirst(engine, addressee, { ...request, fields }, idempotency, use)
}

/**
 * @throws GatewayError 400 malformed, not final yet, removed or never valid; 404 unknown or
 * foreign.
 */
export async function readRegistration(
  engine: Engine,
  caller: Caller,
  id: string,
  entityId: string | undefined,
): Promise<Registration> {
  const channels = await engine.directory.visible(caller, entityId)
  return usable(await find(engine, id, channels))
}

/** Changes expiry, holder or owner; the number stays. */
export async function updateRegistration(
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
): Promise<Registration> {
  const { fields } = request
  for (;;) {
    const registration = await readRegistration(engine, caller, id, textOf(fields, 'entityId'))
    const numbers = await numbersOf(engine, registration)
    const whole = changed(fields, registration, numbers)
    refuseTooMuch(whole)
    const now = await businessNow(engine, registration.channelId, registration.clockId)
    checkAccount(whole, { now, cvvAsked: false })
    checkCountries(whole)
    refuseRegisteredNumber(registration, fields)
    const content = accountPart(withoutSecrets(whole, shownNumbers(numbers)))
    const change = await changeOf(engine, caller, registration, 'RR', request)
    const [moved] = await engine.lanes.single(
      changeRegistration({
        ...change,
        request: content,
        isNew: true,
        notice: noticeOf(content),
      }),
    )
    if (moved !== undefined) {
      emit(engine, registration.channelId, change.eventId, 'registration.updated', id, moved.seq)
      return { ...registration, request: content, seq: moved.seq }
    }
    // A concurrent change or removal won, so the new state decides.
  }
}

/** Records that a merchant keeps a registration; its content stays the same. */
export async function extendRegistration(
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
): Promise<Registration> {
  for (;;) {
    const { fields } = request
    const registration = await readRegistration(engine, caller, id, textOf(fields, 'entityId'))
    refuseRegisteredNumber(registration, fields)
    const change = await changeOf(engine, caller, registration, 'TE', request)
    const same = { ...change, request: registration.request, isNew: false, notice: null }
    const [moved] = await engine.lanes.single(changeRegistration(same))
    if (moved === undefined) continue
    emit(engine, registration.channelId, change.eventId, 'registration.updated', id, moved.seq)
    return { ...registration, seq: moved.seq }
  }
}

/** Removes a registration permanently. */
export async function endRegistration(
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
): Promise<Registration> {
  const { fields } = request
  const registration = await readRegistration(engine, caller, id, textOf(fields, 'entityId'))
  refuseRegisteredNumber(registration, fields)
  const change = await changeOf(engine, caller, registration, 'DR', request)
  const [moved] = await engine.lanes.single(removeRegistration(change))
  if (moved === undefined) throw new GatewayError('100.150.202')
  emit(engine, registration.channelId, change.eventId, 'registration.removed', id, moved.seq)
  return { ...registration, removedAt: change.at, seq: moved.seq }
}

/** Ids of the caller's usable registrations with the same account, this one included. */
export async function sameAccount(engine: Engine, caller: Caller, id: string): Promise<string[]> {
  const registration = await readRegistration(engine, caller, id, undefined)
  if (registration.fingerprint === null) return [id]
  const channels = await engine.directory.visible(caller, undefined)
  const rows = await engine.lanes.read(withFingerprint(registration.fingerprint, channels))
  return rows.map((row) => row.id)
}

function noticeOf(content: StoredRequest): { timerId: string; at: Date } | null {
  const at = noticeAt(content)
  return at === null ? null : { timerId: newId(), at }
}

async function changeOf(
  engine: Engine,
  caller: Caller,
  registration: Registration,
  type: Change['type'],
  { fields, names }: Request,
): Promise<Change> {
  return {
    id: registration.id,
    seq: registration.seq,
    type,
    recordId: newId(),
    eventId: newId(),
    shortNo: await engine.shortNumbers.take(),
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    at: await businessNow(engine, registration.channelId, registration.clockId),
    by: actorOf(caller),
    names: names.map(([name]) => name),
  }
}

async function find(
  engine: Engine,
  id: string,
  channels: readonly string[] | null,
): Promise<Registration> {
  if (!/^[a-zA-Z0-9]{32}$/.test(id)) throw new GatewayError('100.150.101')
  const [row] = isId(id) ? await engine.lanes.read(registrationById(id, channels)) : []
  if (row === undefined) throw new GatewayError('100.150.200', { status: 404 })
  return toRegistration(row)
}

/** A registration is usable on every channel of its merchant, and on no other. */
export async function usableFor(
  engine: Engine,
  caller: Caller,
  id: string,
  channel: Channel,
): Promise<Registration> {
  const registration = await find(engine, id, await engine.directory.visible(caller, undefined))
  await refuseForeign(engine, registration, channel.id)
  return usable(registration)
}

/** @throws GatewayError 100.150.200 for a channel of another merchant than the registration's. */
export async function refuseForeign(
  engine: Engine,
  registration: Registration,
  channelId: string,
): Promise<void> {
  if (registration.channelId === channelId) return
  const [own, other] = await Promise.all([
    engine.directory.merchantOf(channelId),
    engine.directory.merchantOf(registration.channelId),
  ])
  if (own !== other) throw foreign()
}

/**
 * The same check with the vault's proof, for a charge on another channel than the registration's: a
 * channel moved to another merchant behind the engine's back gains no accounts.
 *
 * @throws GatewayError 100.150.200 for numbers that were not sealed for the channel's merchant.
 */
export async function refuseForeignNumbers(
  engine: Engine,
  registration: Registration,
  channelId: string,
  numbers: Readonly<Record<string, string>>,
): Promise<void> {
  const { channelId: own, instrumentId, fingerprint } = registration
  if (own === channelId || instrumentId === null) return
  const merchantId = await engine.directory.merchantOf(channelId)
  if (!(await storedFor(engine, merchantId, numbers, fingerprint))) throw foreign()
}

const foreign = () =>
  refuse('100.150.200', 'entityId', 'the registration belongs to another merchant')

export function usable(registration: Registration): Registration {
  if (registration.removedAt !== null) throw new GatewayError('100.150.202')
  switch (registration.state) {
    case 'approved':
      return registration
    case 'declined':
    case 'expired':
      throw new GatewayError('100.150.203')
    default:
      throw new GatewayError('100.150.201')
  }
}

function emit(
  engine: Engine,
  channelId: string,
  id: string,
  type: `registration.${'updated' | 'removed'}`,
  resource: string,
  sequence: number,
): void {
  if (!engine.events.wanted) return
  const at = new Date(engine.clock.realMs())
  engine.events.emit({ id, type, resource, channelId, sequence, at, data: {} })
}
