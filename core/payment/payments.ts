/** The operations on payments, for embedders and for the hosted surface alike. */

import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { TooManyFailures } from '../card-testing/card-testing.ts'
import type { OpenTransaction } from '../db/open-transaction.ts'
import type { Engine } from '../engine.ts'
import type { Addressee } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { Places } from '../process/in-flight.ts'
import { encryptedWallet } from '../request/account.ts'
import { refuse, textOf } from '../request/values.ts'
import { dispatch } from '../routing/dispatch.ts'
import { type Accepted, acceptFirst } from './accept.ts'
import { authenticateFirst } from './authenticate.ts'
import { areTwoStepsUnderWay, asCapture, captureToCome } from './capture-to-come.ts'
import { leftOfChargebacks } from './dispute-fact.ts'
import { refuseManyNumbers } from './distinct-number.ts'
import { execute, settleUnsent } from './execute.ts'
import type { Use } from './first-request.ts'
import { acceptFollowUp, decided, referenced, UnknownReference } from './follow-up.ts'
import { followUpType, practiceOf, refuseUnusable } from './follow-up-rules.ts'
import { findReplay, type Idempotency, idempotencyOf } from './idempotency.ts'
import { postDispute } from './post-dispute.ts'
import { balanceById, paymentById, toBalance, toPayment } from './store-read.ts'
import { numbersOf } from './stored-request.ts'
import { captureSoFar, continueChain } from './two-step.ts'
import type { Balance, Payment } from './types.ts'

export type Done = {
  readonly payment: Payment
  /** The balance, for an approved payment that was read. */
  readonly balance?: Balance
  /** The idempotency key has an earlier payment: this is its present state. */
  readonly replayed?: true
}

/** Creates a payment; a PA with a `referenceUuid` refers to an earlier payment. */
export async function createPayment(
  engine: Engine,
  caller: Caller,
  request: Request,
  idempotencyKey: string | undefined,
  within?: OpenTransaction,
): Promise<Done> {
  const { fields } = request
  const addressee = await engine.directory.addressee(caller, textOf(fields, 'entityId'))
  const reference = textOf(fields, 'referenceUuid')
  if (reference !== undefined) {
    // The request may contain the account. The engine does not use the account, but compares it
    // under the key.
    refuseManyNumbers(engine, addressee, caller, numbersOf(fields))
    return createByReference(engine, caller, reference, request, idempotencyKey, within)
  }
  const entityId = textOf(fields, 'entityId') ?? addressee.id
  const idempotency = idempotencyOf(engine, idempotencyKey, entityId, '/v1/payments', request.names)
  const use = within === undefined ? { caller } : { caller, within }
  return payFirst(engine, addressee, request, idempotency, use)
}

/**
 * Accepts, sends and settles a first payment, on a registration where one is given. For a merchant,
 * the routing rules choose the channel. Two functions, so that no memory holds the request during
 * the call.
 */
export function payFirst(
  engine: Engine,
  addressee: Addressee,
  request: Request,
  idempotency: Idempotency | null,
  use: Use,
): Promise<Done> {
  const { only } = use
  const isWithin = use.within !== undefined
  const places = new Places()
  return acceptOnce(engine, addressee, request, idempotency, use, places)
    .then((accepted) => carryOut(engine, accepted, { only, isWithin, places }))
    .finally(() => places.free())
}

async function carryOut(
  engine: Engine,
  accepted: Accepted,
  {
    only,
    isWithin,
    places,
  }: { readonly only: Use['only']; readonly isWithin: boolean; readonly places: Places },
): Promise<Done> {
  if ('replay' in accepted) {
    // The second step of the earlier payment counts by itself.
    places.free()
    engine.steps.repeated(accepted.replay.id)
    const isChained = accepted.replay.chainId !== null
    // A transaction of the embedding program waits for no acquirer.
    const asNow = isWithin ? captureSoFar : continueChain
    const payment = isChained ? await asNow(engine, accepted.replay) : accepted.replay
    return { payment, replayed: true }
  }
  if ('queued' in accepted) {
    const { queued } = accepted
    return { payment: queued.chainId === null ? queued : asCapture(queued) }
  }
  const { work } = accepted
  const isChained = work.payment.chainId !== null
  // A connector without verification accepts every account as given.
  const { verify } = work.target.loaded.connector
  const pay = only === 'verification' && verify === undefined ? settleUnsent : execute
  const run = work.authenticator === undefined ? pay : authenticateFirst
  const payment = await engine.inFlight.track(
    run(engine, work)
      .finally(() => engine.cardTesting.end(work.trial))
      .then((done) => (isChained ? continueChain(engine, done) : done)),
  )
  return { payment }
}

/**
 * A repeat finds the first payment of its key, whatever the present rules and settings. On success
 * the idempotency row decides; before a refusal, the code looks that row up. Because a known key
 * confirms the number in the request, only numbers within the limits of card testing get this
 * look-up.
 */
async function acceptOnce(
  engine: Engine,
  addressee: Addressee,
  request: Request,
  idempotency: Idempotency | null,
  use: Use,
  places: Places,
): Promise<Accepted> {
  try {
    const channel = dispatch(engine, addressee, request.fields, use)
    return await acceptFirst(engine, channel, request, idempotency, use, places)
  } catch (error) {
    if (!(error instanceof GatewayError) || !mayHaveBeenMade(error, request)) throw error
    if (idempotency === null) throw error
    if (use.registrationId === undefined) {
      refuseManyNumbers(engine, addressee, use.caller, numbersOf(request.fields))
    }
    const earlier = await findReplay(engine, idempotency)
    if (earlier === undefined) throw error
    return { replay: earlier }
  }
}

/**
 * Refusals of the request itself allow a look at its key; refusals of back-pressure do not. The keys of a wallet may be
 * away by the time of a repeat, whose payment they opened before.
 */
const mayHaveBeenMade = (error: GatewayError, { fields }: Request) =>
  error.status === 400 ||
  error instanceof TooManyFailures ||
  (error.status === 503 && encryptedWallet(fields) !== undefined)

async function createByReference(
  engine: Engine,
  caller: Caller,
  reference: string,
  request: Request,
  idempotencyKey: string | undefined,
  within: OpenTransaction | undefined,
): Promise<Done> {
  const practice = practiceOf(request.fields)
  if (textOf(request.fields, 'paymentType') !== 'PA' || practice === undefined) {
    throw refuse(
      '200.300.404',
      'referenceUuid',
      'needs paymentType PA and standingInstruction.industryPractice INCREMENTAL_AUTH or REAUTHORIZATION',
    )
  }
  try {
    return await followUp(engine, caller, reference, request, idempotencyKey, {
      path: '/v1/payments',
      ...(within !== undefined && { within }),
    })
  } catch (error) {
    if (!(error instanceof UnknownReference)) throw error
    throw refuse('200.300.404', 'referenceUuid', 'matches no payment', reference)
  }
}

/** Captures, reverses, refunds or otherwise follows up the payment `id`. */
export async function followUp(
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
  idempotencyKey: string | undefined,
  { path = `/v1/payments/${id}`, within }: { path?: string; within?: OpenTransaction } = {},
): Promise<Done> {
  const type = followUpType(request.fields)
  const original = await referenced(engine, caller, id, type, request.fields)
  const entityId = textOf(request.fields, 'entityId') ?? original.channelId
  const idempotency = idempotencyOf(engine, idempotencyKey, entityId, path, request.names)
  if (type.code === 'CB' || type.code === 'CR') {
    if (within !== undefined)
      throw refuse('700.300.100', 'paymentType', 'cannot be queued', type.code)
    const target = await decided(engine, original)
    refuseUnusable(target, type)
    const posted = postDispute(engine, target, type.code, request, idempotency)
    return engine.inFlight.track(posted)
  }
  const places = new Places()
  try {
    const accepted = await acceptFollowUp(
      engine,
      original,
      type,
      request,
      idempotency,
      within,
      places,
    )
    if ('queued' in accepted) return { payment: accepted.queued }
    if ('replay' in accepted) {
      engine.steps.repeated(accepted.replay.id)
      return { payment: accepted.replay, replayed: true }
    }
    const { work } = accepted
    return withBalance(engine, await engine.inFlight.track(execute(engine, work)))
  } finally {
    places.free()
  }
}

/** An increase belongs to its authorisation, whose balance decides the next actions. */
async function withBalance(engine: Engine, payment: Payment): Promise<Done> {
  if (payment.effect !== 'increase' || payment.state !== 'approved') return { payment }
  const [balance] = await engine.lanes.read(balanceById(payment.rootId))
  return balance === undefined ? { payment } : { payment, balance: toBalance(balance) }
}

/**
 * One payment in its present state. @throws GatewayError 404 when the caller sees no such payment.
 */
export async function readPayment(
  engine: Engine,
  caller: Caller,
  id: string,
  entityId: string | undefined,
): Promise<Done> {
  const channels = await engine.directory.visible(caller, entityId)
  const [row] = isId(id) ? await engine.lanes.read(paymentById(id, channels)) : []
  if (row === undefined) {
    const found = isId(id) ? await captureToCome(engine, id, channels) : undefined
    if (found === undefined) throw new GatewayError('700.400.580', { status: 404 })
    return { payment: asCapture(found.authorisation) }
  }
  const payment = toPayment(row)
  if (payment.state !== 'approved') return { payment }
  const isChargeback = payment.effect === 'chargeback'
  const balanceId = isChargeback ? payment.parentId : payment.rootId
  const [found] = balanceId === null ? [] : await engine.lanes.read(balanceById(balanceId))
  if (found === undefined) return { payment }
  const balance = toBalance(found)
  if (await areTwoStepsUnderWay(engine, payment)) {
    // Until the automatic capture is final, every follow-up of its authorisation is refused.
    return { payment, balance: { ...balance, closedBy: payment.chainId } }
  }
  if (!isChargeback) return { payment, balance }
  const left = await leftOfChargebacks(engine, [id])
  return { payment, balance: { ...balance, chargedBack: left.get(id) ?? 0n } }
}
