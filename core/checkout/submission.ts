/**
 * A shopper presses the pay button. Every press has a nonce: the same nonce is the same payment,
 * whatever sent it twice. The first commit of the payment takes the slot of the checkout, so that
 * of two tries at the same moment one sends something, and the other nothing.
 */
import { isDeepStrictEqual } from 'node:util'
import type { RequestFields } from '@tollgate/plugin-kit'
import { instrumentGroups, limits } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import { embedder } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import type { Addressee, Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import type { Use } from '../payment/first-request.ts'
import { SlotTaken } from '../payment/in-checkout.ts'
import { shownNumbers } from '../payment/instrument.ts'
import { isOpen } from '../payment/late-word-table.ts'
import { payFirst } from '../payment/payments.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import { numbersOf, withoutSecrets } from '../payment/stored-request.ts'
import type { Payment } from '../payment/types.ts'
import { checkAccount, encryptedWallet } from '../request/account.ts'
import { groupOf, textOf } from '../request/values.ts'
import { dispatch } from '../routing/dispatch.ts'
import { mayReauthenticate, reauthenticate } from '../three-d-secure/soft-decline.ts'
import { refuseOtherBrand } from './brand-flow.ts'
import { mostTries } from './channels.ts'
import { type Connection, completeRequest } from './complete-request.ts'
import { find, held, nowOf, stateOf } from './find.ts'
import { freeSlot } from './free-slot.ts'
import { refuseHiddenNumbers } from './free-text.ts'
import { pageToCall, refuseForeignPage } from './page.ts'
import { refused } from './refused-press.ts'
import { replyAbout, replyOfState, type Submitted } from './reply.ts'
import { unsealed } from './secrets.ts'
import { OtherThanShown, refuseOtherThanShown } from './shown.ts'
import { endPress } from './store.ts'
import { chosen, refuseWithoutCode, withStored } from './stored-account.ts'
import { withToken } from './token-press.ts'
import type { Checkout, Held } from './types.ts'

/**
 * @param isToStore The press was sent to the address of checkouts that only store an account.
 * @throws GatewayError 404 for an unknown checkout, 429 and 503 while nothing can be sent.
 */
export async function submit(
  engine: Engine,
  id: string,
  read: () => Request,
  from: Connection,
  isToStore = false,
): Promise<Submitted> {
  await find(engine, id)
  let submitted: Request | undefined
  const answered = (work: () => Promise<Submitted>) =>
    work().catch((error: unknown): Submitted | Promise<Submitted> => {
      if (error instanceof OtherThanShown) return { state: 'changed' }
      if (!(error instanceof GatewayError)) throw error
      return refused(engine, id, error, submitted)
    })
  return answered(async () => {
    submitted = read()
    refuseHiddenNumbers(submitted.names)
    const { fields } = submitted
    const press = { submitted: fields, nonce: textOf(fields, 'nonce')!, from, isToStore }
    // A refusal is counted before the press ends.
    return withToken(engine, id, submitted, () => answered(() => tryOnce(engine, id, press)))
  })
}

/** A few times, because each time another try, an update or a removal may come first. */
const rounds = 5

async function tryOnce(engine: Engine, id: string, press: Press): Promise<Submitted> {
  let mayFree = true
  for (let round = 1; round <= rounds; round += 1) {
    const now = await held(engine, id)
    const begun = await madeBy(engine, now.checkout, press.nonce)
    const toFree: boolean = begun === undefined && mayFree && (await mayFollow(engine, now))
    if (begun === undefined && !toFree && (await stateOf(engine, now)) !== 'free') {
      return replyOfState(engine, now, press.nonce)
    }
    try {
      const first =
        begun === undefined ? await pay(engine, now, press, toFree) : await ended(engine, begun)
      const payment = await payAgain(engine, first, press)
      return await replyAbout(engine, await held(engine, id), payment, press.nonce)
    } catch (error) {
      if (!(error instanceof SlotTaken)) throw error
      // A try that could not be ended stays.
      mayFree = mayFree && !toFree
    }
  }
  return replyOfState(engine, await held(engine, id), press.nonce)
}

/** Whether another try could follow, if the one under way ended: else it is left in peace. */
async function mayFollow(engine: Engine, now: Held): Promise<boolean> {
  const { payment } = now
  if (payment === null || !isOpen(payment.state)) return false
  const ended: Held = { ...now, payment: { ...payment, state: 'declined' }, attempt: 'declined' }
  return (await stateOf(engine, ended)) === 'free'
}

/** A press of the pay button. */
type Press = {
  readonly submitted: RequestFields
  readonly nonce: string
  readonly from: Connection
  /** It was sent to the address of checkouts that only store an account. */
  readonly isToStore: boolean
}

/** A press that is checked, with everything that its payment needs. */
type Prepared = {
  readonly addressee: Addressee
  /** Which takes the payment. */
  readonly channel: Channel
  readonly request: Request
  readonly registrationId: string | undefined
}

/** @param toFree The try that has the slot ends once the new one has passed every check. */
async function pay(
  engine: Engine,
  { checkout, payment: previous }: Held,
  press: Press,
  toFree: boolean,
): Promise<Payment> {
  const prepared = await prepare(engine, checkout, press)
  const makeRoom = async () => {
    await freeSlot(engine, previous!)
    return nowOf(engine, checkout)
  }
  const slot: Slot = {
    previous,
    nonce: press.nonce,
    isSecond: false,
    ...(toFree ? { makeRoom } : {}),
  }
  return begin(engine, prepared, checkout, slot)
}

async function prepare(
  engine: Engine,
  checkout: Checkout,
  { submitted, from, isToStore }: Press,
): Promise<Prepared> {
  refuseOtherThanShown(checkout, submitted, isToStore)
  const addressee = await engine.directory.channel(embedder, checkout.entityId)
  refuseForeignPage(addressee, checkout, submitted)
  const registration = await chosen(engine, addressee, checkout, submitted)
  const secrets = await unsealed(engine, checkout)
  const complete = completeRequest(checkout, secrets, submitted, registration?.brand, from)
  refuseOtherBrand(textOf(checkout.request as RequestFields, 'paymentBrand'), complete.fields)
  const request =
    registration === undefined
      ? complete
      : await withStored(engine, addressee, registration, complete)
  checkAccount(request.fields, { now: await nowOf(engine, checkout), cvvAsked: false })
  const channel = dispatch(engine, addressee, request.fields, useOfKind(checkout))
  refuseForeignPage(channel, checkout, submitted)
  if (registration !== undefined) refuseWithoutCode(channel, registration, submitted)
  return {
    addressee,
    channel,
    request: withChallenge(request, submitted),
    registrationId: registration?.id,
  }
}

/**
 * The issuer wants the shopper authenticated: one second payment asks for a challenge. The same press
 * may have been sent twice; whichever of the two begins the second payment, it answers for both.
 */
async function payAgain(engine: Engine, first: Payment, press: Press): Promise<Payment> {
  const settings = await engine.directory.settings(first.channelId)
  if (!mayReauthenticate(first, { settings })) return first
  const now = await held(engine, first.checkoutId!)
  const { checkout, payment: previous } = now
  const latest = await madeBy(engine, checkout, press.nonce)
  if (latest !== undefined && latest.id !== first.id) return ended(engine, latest)
  if (checkout.ended.includes(press.nonce) || previous?.id !== first.id) return first
  if ((await stateOf(engine, now, press.nonce)) !== 'free') return first
  try {
    const prepared = await prepare(engine, checkout, press)
    // The shopper of the first payment is authenticated, and nobody else.
    if (!isSameAccount(first, prepared.request)) return first
    const again = { ...prepared, request: reauthenticate(prepared.request) }
    const slot: Slot = { previous, nonce: press.nonce, isSecond: true }
    return await begin(engine, again, checkout, slot)
  } catch (error) {
    if (error instanceof GatewayError) return endedWith(engine, first, press)
    throw error
  }
}

/** The decline of the first payment is the answer to its press, now and whenever it is sent again. */
async function endedWith(engine: Engine, first: Payment, { nonce }: Press): Promise<Payment> {
  const id = first.checkoutId!
  const [done] = await engine.lanes.single(endPress(id, first.id, nonce))
  if (done !== undefined) return first
  const latest = await madeBy(engine, await find(engine, id), nonce)
  return latest === undefined || latest.id === first.id ? first : ended(engine, latest)
}

/**
 * As far as a declined payment still tells: its numbers are erased, their first and last digits are not. The token of a
 * wallet is compared by the second payment itself; a device number in one is never challenged.
 */
function isSameAccount({ request }: Payment, { fields }: Request): boolean {
  if (encryptedWallet(fields) !== undefined) {
    return textOf(groupOf(request as RequestFields, 'card'), 'numberType') === 'PAN'
  }
  const other = withoutSecrets(fields, shownNumbers(numbersOf(fields)))
  return instrumentGroups.every((name) => isDeepStrictEqual(request[name], other[name]))
}

type Slot = {
  readonly previous: Payment | null
  readonly nonce: string
  readonly isSecond: boolean
  readonly makeRoom?: () => Promise<Date>
}

async function begin(
  engine: Engine,
  prepared: Prepared,
  checkout: Checkout,
  slot: Slot,
): Promise<Payment> {
  const { addressee, request, registrationId } = prepared
  const use = await useOf(engine, prepared, checkout, slot)
  const whole = registrationId === undefined ? use : { ...use, registrationId }
  return (await payFirst(engine, addressee, request, null, whole)).payment
}

async function useOf(
  engine: Engine,
  { addressee, channel, request }: Prepared,
  checkout: Checkout,
  { previous, nonce, isSecond, makeRoom }: Slot,
): Promise<Use> {
  const now = await nowOf(engine, checkout)
  const settings = [addressee.settings, channel.settings]
  const isCalled = pageToCall(settings, checkout, request.fields) !== undefined
  return {
    clockId: checkout.clockId,
    isAtCheckout: true,
    ...useOfKind(checkout),
    inCheckout: {
      checkoutId: checkout.id,
      version: checkout.version,
      previousId: previous?.id ?? checkout.paymentId,
      nonce,
      isSecond,
      ...(makeRoom === undefined ? {} : { makeRoom }),
      tries: mostTries(addressee),
      now,
      callbackAt: isCalled ? callbackAt(checkout, now) : null,
    },
  }
}

const useOfKind = ({ kind }: Checkout): Pick<Use, 'only'> =>
  kind === 'registration' ? { only: 'verification' } : {}

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

/** A payment that another sending of the same press began is waited for, and not sent again. */
async function ended(engine: Engine, begun: Payment): Promise<Payment> {
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
  return payment
}

const lookAgainMs = { first: 50, most: 1_000 }
