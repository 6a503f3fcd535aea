/** Accepts a first payment: chooses its channel and acquirer, then commits its rows. */
import { limits } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import { refuseWrongParameters } from '../connector/parameters.ts'
import { violated } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { faultPoint } from '../fault-point.ts'
import type { Places } from '../process/in-flight.ts'
import { amountToAuthenticate } from '../request/amount.ts'
import { refusedAuthentication } from '../request/capabilities.ts'
import type { AuthenticatorTarget, Target } from '../routing/targets.ts'
import { authenticatorMs } from '../three-d-secure/ask.ts'
import { planAuthentication } from '../three-d-secure/plan.ts'
import { replayConstraint } from '../wallet/store.ts'
import type { AttemptContext } from './attempt-context.ts'
import { applyBackPressure } from './back-pressure.ts'
import { callTime, endOf } from './call-time.ts'
import { firstOperation } from './first-operation.ts'
import { type Asked, checkFirst, refuseRepeatedNumber, type Use } from './first-request.ts'
import { attemptKeys, firstPayment, firstRow, sealFirst } from './first-rows.ts'
import { findEarlier, findReplay, type Idempotency, replayed } from './idempotency.ts'
import { hasOtherHolder, SlotTaken } from './in-checkout.ts'
import { instrumentOf } from './instrument.ts'
import { leaseMs } from './lease.ts'
import { type FromWallet, paymentOfToken, replayedToken, withOpenedToken } from './opened-token.ts'
import {
  queueFirst,
  refuseAuthentication,
  refuseUnstorable,
  replayedWithin,
} from './queue-payment.ts'
import { holderOf } from './scheduled.ts'
import { tellFirstCommit } from './telling.ts'
import { beginTrial } from './trial.ts'
import type { Payment } from './types.ts'
import { writeFirst } from './write-first.ts'

/** A first payment that may be sent, or the earlier one that the same idempotency key made. */
export type Accepted =
  | { readonly work: AttemptContext }
  | { readonly replay: Payment }
  /** A transaction of the embedding program holds it. */
  | { readonly queued: Payment }

/**
 * Checks the request, chooses the acquirer, writes the payment. The engine sends nothing before
 * this commit.
 *
 * @param places The caller frees them, whatever comes of the request.
 */
export async function acceptFirst(
  engine: Engine,
  channel: Channel,
  received: Request,
  idempotency: Idempotency | null,
  use: Use,
  places: Places,
): Promise<Accepted> {
  if (use.within !== undefined) refuseUnstorable(received)
  const { request, wallet } = await withOpenedToken(engine, channel, received)
  if (wallet !== undefined) {
    const replay = await usedBefore(engine, wallet, request, use, idempotency)
    if (replay !== undefined) return { replay }
  }
  const asked = await checkFirst(engine, channel, request, use, wallet)
  // The number is counted by now, so an answer from the key cannot confirm a guess.
  const earlier = await findEarlier(engine, idempotency)
  if (earlier !== undefined) return { replay: earlier }
  const { target, authenticator } = await chooseTargets(engine, channel, asked, places)
  if (use.within !== undefined && authenticator !== undefined) refuseAuthentication()
  if (use.inCheckout !== undefined && use.registrationId === undefined) {
    refuseRepeatedNumber(asked)
  }
  const time = callTime(engine, (authenticator ?? target).loaded.connector)
  const keyOf = attemptKeys(engine, target, use, idempotency)
  const payment = await firstPayment(engine, channel, asked, target, keyOf, authenticator)
  const sealed = sealFirst(engine, channel, payment, asked.numbers)
  const lease =
    authenticator === undefined
      ? leaseMs(time.timeoutMs)
      : leaseMs(authenticatorMs(engine, authenticator) + limits.authenticatorEnquiryMs)
  const row = await firstRow(engine, asked, payment, sealed, lease, idempotency)
  const { id } = payment
  const trial = beginTrial(engine, channel, id, request, asked.account, asked.numbers, sealed, use)
  if (use.within !== undefined) {
    // The outcome of a queued payment is counted when it comes, in the process that sends it.
    engine.cardTesting.end(trial)
    await faultPoint('before-T1', id)
    const key = await queueFirst(engine, use.within, row, (no) => keyOf(id, no))
    if (key !== undefined) return { queued: { ...payment, attemptKey: key } }
    return { replay: await replayedWithin(use.within, idempotency!) }
  }
  const write = async () => {
    const at = await use.inCheckout?.makeRoom?.()
    await faultPoint('before-T1', id)
    const now = at === undefined ? row : { ...row, slot_at: at }
    return tellFirstCommit(engine, payment, () => writeFirst(engine, now, (no) => keyOf(id, no)))
  }
  const written = await write().catch(async (error: unknown) => {
    engine.cardTesting.end(trial)
    if (wallet === undefined || violated(error) !== replayConstraint) throw error
    throw await replayedToken(engine, request, wallet)
  })
  if (written === null) {
    engine.cardTesting.end(trial)
    return { replay: await writtenBefore(engine, use, idempotency) }
  }
  await faultPoint('after-T1', id)
  const sent = { ...payment, attemptKey: written.attempt_key }
  return {
    work: {
      payment: sent,
      lease: 1,
      target,
      operation: firstOperation(engine, sent, asked),
      begun: { is: 'first', row: written },
      returns: null,
      trial,
      places,
      ndc: request.ndc,
      ...(authenticator === undefined ? {} : { authenticator }),
      ...endOf(engine, time),
    },
  }
}

/**
 * A token that has a payment is looked up before every check of its card: the card's holder gave it for that payment,
 * and no answer about another request may tell anything of it. The second payment of a press is made with the token of
 * the first one, and with no other.
 *
 * @returns the payment of the same idempotency key. @throws GatewayError 200.300.404 for the token of another payment,
 * SlotTaken when the checkout has another payment by now.
 */
async function usedBefore(
  engine: Engine,
  wallet: FromWallet,
  request: Request,
  { inCheckout }: Use,
  idempotency: Idempotency | null,
): Promise<Payment | undefined> {
  const made = await paymentOfToken(engine, wallet)
  if (made === (inCheckout?.isSecond ? inCheckout.previousId : undefined)) return undefined
  const earlier = await findReplay(engine, idempotency)
  if (earlier !== undefined) return earlier
  // The payment may be that of the same press, which was sent twice.
  if (inCheckout !== undefined && (await hasOtherHolder(engine, inCheckout))) throw new SlotTaken()
  throw await replayedToken(engine, request, wallet)
}

/**
 * The acquirer, and the authenticator where the shopper is authenticated first. An authentication by
 * itself has no acquirer: its authenticator stands in its place.
 */
async function chooseTargets(
  engine: Engine,
  channel: Channel,
  asked: Asked,
  places: Places,
): Promise<{ readonly target: Target; readonly authenticator: AuthenticatorTarget | undefined }> {
  const { use } = asked
  const isAlone = use.only === 'authentication'
  const acquirer = isAlone ? undefined : await chooseTarget(engine, channel, asked, places)
  const authenticator = await planAuthentication(engine, channel, plannedOf(asked), acquirer)
  if (authenticator === undefined && use.inCheckout?.isSecond === true) refuseUnchallenged(acquirer)
  if (authenticator !== undefined) {
    // An account that is only stored has amounts of its own only here.
    amountToAuthenticate(asked.request.fields, asked.amount.currency)
    applyBackPressure(engine, authenticator.loaded.connector, channel.id, places)
  }
  return { target: acquirer ?? authenticator!, authenticator }
}

/** @throws GatewayError: the same request without a challenge would only be declined once more. */
function refuseUnchallenged(acquirer: Target | undefined): void {
  if (acquirer?.loaded.connector.supports.threeDSecure === 'own') return
  throw refusedAuthentication(['threeDSecure.challengeIndicator'], 'nobody challenges this shopper')
}

function plannedOf({ request, mode, paymentType, isVerification, use, account, numbers }: Asked) {
  return {
    fields: request.fields,
    mode,
    paymentType,
    isVerification,
    isScheduled: use.scheduled !== undefined,
    isAtCheckout: use.isAtCheckout === true,
    brand: account.brand,
    card: () => {
      const instrument = instrumentOf(account, request.fields, numbers)
      return instrument?.kind === 'card' ? instrument : undefined
    },
  }
}

/** @throws GatewayError 600.200.* when no acquirer takes the payment, 429 under too much load. */
async function chooseTarget(
  engine: Engine,
  channel: Channel,
  asked: Asked,
  places: Places,
): Promise<Target> {
  const { isVerification, isChained, mode, kind, method, brand, amount } = asked
  const target = await engine.targets.choose(channel, {
    mode,
    kind: isVerification ? null : kind,
    method,
    brand,
    currency: isVerification ? null : amount.currency,
  })
  const { connector } = target.loaded
  // The second step is a capture; a connector without captures could only authorise and release.
  if (isChained && connector.capture === undefined) throw new GatewayError('600.200.400')
  refuseWrongParameters(connector, asked.request.fields)
  applyBackPressure(engine, connector, channel.id, places)
  // A queued payment is admitted again when it is sent.
  if (asked.use.within !== undefined) places.free()
  return target
}

/** The payment that was written first: for the same execution, or under the same key. */
function writtenBefore(
  engine: Engine,
  { scheduled, inCheckout }: Use,
  idempotency: Idempotency | null,
): Promise<Payment> {
  if (inCheckout !== undefined) throw new SlotTaken()
  return scheduled === undefined ? replayed(engine, idempotency!) : holderOf(engine, scheduled)
}
