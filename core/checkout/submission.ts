/**
 * A shopper presses the pay button. Every press has a nonce: the same nonce is the same payment,
 * whatever sent it twice. The first commit of the payment takes the slot of the checkout, so that
 * of two tries at the same moment one sends something, and the other nothing.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import { embedder } from '../caller/embedder.ts'
import { TooManyFailures } from '../card-testing/card-testing.ts'
import type { Engine } from '../engine.ts'
import type { Addressee } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { TooManyNumbers } from '../payment/distinct-number.ts'
import type { Use } from '../payment/first-request.ts'
import { SlotTaken } from '../payment/in-checkout.ts'
import { isOpen } from '../payment/late-words.ts'
import { payFirst } from '../payment/payments.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { checkAccount } from '../request/account.ts'
import { RepeatedNumber } from '../request/own-number.ts'
import { textOf } from '../request/values.ts'
import { mayReauthenticate, reauthenticate } from '../three-d-secure/soft-decline.ts'
import { type Connection, completeRequest, ownPageOf } from './complete-request.ts'
import { faultsIn } from './faults.ts'
import { find, held, mostTries, nowOf, stateOf } from './find.ts'
import { freeSlot } from './free-slot.ts'
import { refuseHiddenNumbers } from './free-text.ts'
import { refuseForeignPage } from './page.ts'
import { replyAbout, replyOfRefusal, replyOfState, type Submitted } from './reply.ts'
import { unsealed } from './secrets.ts'
import { countRefusal } from './store.ts'
import { chosen, withStored } from './stored-account.ts'
import type { Checkout, Held } from './types.ts'

/** @throws GatewayError 404 for an unknown checkout, 429 and 503 while nothing can be sent. */
export async function submit(
  engine: Engine,
  id: string,
  read: () => Request,
  from: Connection,
): Promise<Submitted> {
  await find(engine, id)
  let submitted: Request | undefined
  try {
    submitted = read()
    refuseHiddenNumbers(submitted.names)
    return await tryOnce(engine, id, submitted.fields, from)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return await refused(engine, id, error, submitted)
  }
}

/** A few times, because each time another try, an update or a removal may come first. */
const rounds = 5

async function tryOnce(
  engine: Engine,
  id: string,
  submitted: RequestFields,
  from: Connection,
): Promise<Submitted> {
  const nonce = textOf(submitted, 'nonce')!
  for (let round = 1; round <= rounds; round += 1) {
    let now = await held(engine, id)
    const begun = await madeBy(engine, now.checkout, nonce)
    if (begun !== undefined) return repeated(engine, id, begun)
    if (await mayFollow(engine, now)) {
      // An entry with errors ends nothing.
      await prepare(engine, now.checkout, submitted, from)
      await freeSlot(engine, now.payment!)
      now = await held(engine, id)
    }
    if ((await stateOf(engine, now)) !== 'free') return replyOfState(engine, now)
    try {
      const payment = await pay(engine, now, submitted, nonce, from)
      return replyAbout(engine, await held(engine, id), payment)
    } catch (error) {
      if (!(error instanceof SlotTaken)) throw error
    }
  }
  return replyOfState(engine, await held(engine, id))
}

/** Whether another try could follow, if the one under way ended: else it is left in peace. */
async function mayFollow(engine: Engine, now: Held): Promise<boolean> {
  const { payment } = now
  if (payment === null || !isOpen(payment.state)) return false
  const ended: Held = { ...now, payment: { ...payment, state: 'declined' }, attempt: 'declined' }
  return (await stateOf(engine, ended)) === 'free'
}

/** A press that is checked, with everything that its payment needs. */
type Prepared = {
  readonly addressee: Addressee
  readonly request: Request
  readonly registrationId: string | undefined
}

async function pay(
  engine: Engine,
  { checkout, payment: previous }: Held,
  submitted: RequestFields,
  nonce: string,
  from: Connection,
): Promise<Payment> {
  const prepared = await prepare(engine, checkout, submitted, from)
  const payment = await begin(engine, prepared, checkout, { previous, nonce, isSecond: false })
  const settings = await engine.directory.settings(payment.channelId)
  if (!mayReauthenticate(payment, { settings })) return payment
  return payAgain(engine, prepared, payment, nonce)
}

async function prepare(
  engine: Engine,
  checkout: Checkout,
  submitted: RequestFields,
  from: Connection,
): Promise<Prepared> {
  const addressee = await engine.directory.channel(embedder, checkout.entityId)
  refuseForeignPage(addressee, checkout, submitted)
  const registration = await chosen(engine, addressee, checkout, submitted)
  const secrets = await unsealed(engine, checkout)
  const complete = completeRequest(checkout, secrets, submitted, registration?.brand, from)
  const request =
    registration === undefined
      ? complete
      : await withStored(engine, addressee, registration, complete)
  checkAccount(request.fields, { now: await nowOf(engine, checkout), cvvAsked: false })
  return {
    addressee,
    request: withChallenge(request, submitted),
    registrationId: registration?.id,
  }
}

/** The issuer wants the shopper authenticated: one second payment asks for a challenge. */
async function payAgain(
  engine: Engine,
  prepared: Prepared,
  declined: Payment,
  nonce: string,
): Promise<Payment> {
  const { checkout, payment } = await held(engine, declined.checkoutId!)
  if (payment?.id !== declined.id) return declined
  const again = { ...prepared, request: reauthenticate(prepared.request) }
  try {
    return await begin(engine, again, checkout, { previous: payment, nonce, isSecond: true })
  } catch (error) {
    if (error instanceof SlotTaken || error instanceof GatewayError) return declined
    throw error
  }
}

type Press = {
  readonly previous: Payment | null
  readonly nonce: string
  readonly isSecond: boolean
}

async function begin(
  engine: Engine,
  { addressee, request, registrationId }: Prepared,
  checkout: Checkout,
  press: Press,
): Promise<Payment> {
  const use = await useOf(engine, addressee, checkout, press)
  const whole = registrationId === undefined ? use : { ...use, registrationId }
  return (await payFirst(engine, addressee, request, null, whole)).payment
}

async function useOf(
  engine: Engine,
  { settings }: Addressee,
  checkout: Checkout,
  { previous, nonce, isSecond }: Press,
): Promise<Use> {
  const now = await nowOf(engine, checkout)
  // A page that only a browser named is never called, and not kept for later tries.
  const resultUrl = ownPageOf(checkout) ?? null
  return {
    clockId: checkout.clockId,
    isAtCheckout: true,
    ...(checkout.kind === 'registration' ? { only: 'verification' } : {}),
    inCheckout: {
      checkoutId: checkout.id,
      version: checkout.version,
      previousId: previous?.id ?? checkout.paymentId,
      nonce,
      isSecond,
      tries: mostTries(settings),
      now,
      resultUrl,
      callbackAt: resultUrl === null ? null : callbackAt(checkout, now),
    },
  }
}

/** The merchant's page is called 29 minutes after the checkout was made, or at once if that is over. */
function callbackAt({ createdAt }: Checkout, now: Date): Date {
  const due = createdAt.getTime() + limits.shopperResultCallbackMs
  return new Date(Math.max(due, now.getTime()))
}

/** Kept with the payment: the way back from a frame differs from that of a tab. */
function withChallenge(request: Request, submitted: RequestFields): Request {
  const challenge = textOf(submitted, 'challenge')
  return challenge === undefined
    ? request
    : { ...request, fields: { ...request.fields, challenge } as RequestFields }
}

/** The payment of this press, when it was begun before. */
async function madeBy(
  engine: Engine,
  { nonces, earlier, paymentId }: Checkout,
  nonce: string,
): Promise<Payment | undefined> {
  const id = [...earlier, paymentId][nonces.lastIndexOf(nonce)]
  if (!nonces.includes(nonce) || id == null) return undefined
  const [row] = await engine.lanes.single(paymentById(id, null))
  return row === undefined ? undefined : toPayment(row)
}

/** The first press answers for both: its payment is waited for, and nothing else is sent. */
async function repeated(engine: Engine, id: string, begun: Payment): Promise<Submitted> {
  const untilMs = engine.clock.elapsedMs() + limits.checkoutRepeatWaitMs
  let payment = begun
  let pauseMs = lookAgainMs.first
  while (payment.state === 'processing' && engine.clock.elapsedMs() < untilMs) {
    if (engine.inFlight.over) break
    await new Promise((resume) => setTimeout(resume, pauseMs))
    pauseMs = Math.min(2 * pauseMs, lookAgainMs.most)
    const [row] = await engine.lanes.single(paymentById(payment.id, null))
    if (row === undefined) break
    payment = toPayment(row)
  }
  return replyAbout(engine, await held(engine, id), payment)
}

const lookAgainMs = { first: 50, most: 1_000 }

/** Refusals that look like a decline, so that nobody learns from them, and count as a try. */
const isCounted = (error: GatewayError): boolean =>
  error instanceof TooManyFailures ||
  error instanceof TooManyNumbers ||
  error instanceof RepeatedNumber

/** A refusal is about the shopper's entry, about too many tries, or about the gateway itself. */
async function refused(
  engine: Engine,
  id: string,
  error: GatewayError,
  submitted: Request | undefined,
): Promise<Submitted> {
  if (isCounted(error)) {
    await engine.lanes.single(countRefusal(id))
    return replyOfRefusal(engine, await held(engine, id))
  }
  if (error.status !== 400) throw error
  const { errors, isOurs } = faultsIn(error, submitted?.names)
  if (isOurs) {
    const fields = error.parameterErrors.map(({ name }) => name).join(' ')
    engine.log.warn(
      { checkout: id.slice(0, 8), code: error.code, fields },
      'a checkout cannot be paid as it was made',
    )
  }
  return { state: 'invalid', errors }
}
