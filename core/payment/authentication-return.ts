/** A shopper comes back from an authentication: maybe twice, in another browser, on another host. */
import type { ShopperReturn } from '@tollgate/plugin-kit'
import { businessNow } from '../business-time/time.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import type { AuthenticatorTarget } from '../routing/targets.ts'
import { complete } from '../three-d-secure/ask.ts'
import { authenticationRequest } from '../three-d-secure/request.ts'
import { dueTimer } from '../timer/store.ts'
import { conclude, isAnswer, type UnderWay } from './authenticate.ts'
import { placeOf, storedInstrument } from './instrument.ts'
import { takeAttempt } from './lease.ts'
import { waitForShopper } from './store-go-on.ts'
import { paymentByAttempt, toPayment } from './store-read.ts'
import { dropLease, type LeaseRow } from './store-settle.ts'
import type { Payment } from './types.ts'

/** Whether the payment may be in its authentication. Only the lease makes sure. */
export const mayBeAuthenticating = ({ answer, state }: Payment): boolean =>
  answer.authentication !== undefined &&
  answer.authentication.isOver !== true &&
  (state === 'pending' || state === 'processing')

/**
 * Asks the authenticator, and goes on to the money where the issuer confirmed the shopper.
 *
 * @returns false while somebody else holds the lease; undefined when the payment is past its
 * authentication.
 */
export async function returnFromAuthentication(
  engine: Engine,
  { attemptKey, id }: Payment,
  brought: Pick<ShopperReturn, 'method' | 'query' | 'form'>,
): Promise<boolean | undefined> {
  const taken = await takeAttempt(engine, attemptKey, 'return')
  if (taken === undefined) return false
  await faultPoint('after-lease', id)
  if (taken.stage !== 'authentication') {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return undefined
  }
  try {
    const at = await underWay(engine, attemptKey, taken)
    const { payment, lease, target } = at
    if (await isPastItsEnd(engine, payment)) {
      // Too late: the job of the end ends the payment.
      await engine.lanes.single(waitForShopper(attemptKey, lease))
      return true
    }
    const record = payment.answer.authentication!
    const numbers = await engine.vault.unseal(placeOf(payment))
    const card = numbers === undefined ? undefined : storedInstrument(payment, numbers)
    const request = authenticationRequest(
      engine,
      payment,
      record,
      card?.kind === 'card' ? card : undefined,
    )
    const back = {
      ...brought,
      refs: {},
      ...(record.memo === undefined ? {} : { memo: record.memo }),
    }
    const said = await complete(engine, at, target, request, back)
    await faultPoint('authenticated', id)
    if (isAnswer(said)) {
      const isAsBefore =
        said.is === 'shopper' && isSame(said.next.redirect, payment.answer.redirect)
      if (isAsBefore) await engine.lanes.single(waitForShopper(attemptKey, lease))
      else await conclude(engine, at, said)
      return true
    }
  } catch (error) {
    // The shopper goes on to the merchant all the same; the next look asks again.
    engine.log.warn({ payment: id, error: nameOf(error) }, 'a return was not concluded')
  }
  // Without an answer of the database the lease ends by itself.
  await engine.lanes.single(dropLease(attemptKey, taken.lease)).catch(() => {})
  return true
}

/** The timer of the end was due: a job of it may still wait. */
export async function isPastItsEnd(
  engine: Engine,
  { attemptKey, channelId, clockId }: Payment,
): Promise<boolean> {
  const now = await businessNow(engine, channelId, clockId)
  return (await engine.lanes.single(dueTimer('expire', attemptKey, now))).length > 0
}

/** Read under the lease: nobody moves the payment from here on. */
export async function underWay(
  engine: Engine,
  attemptKey: string,
  { lease, enquiries }: LeaseRow,
): Promise<UnderWay> {
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  if (row === undefined) throw new Error('the payment of the attempt is gone')
  const payment = toPayment(row)
  return { payment, lease, enquiries, target: await authenticatorOf(engine, payment) }
}

/** @throws GatewayError when the authenticator or the account at it is gone. */
export async function authenticatorOf(
  engine: Engine,
  { answer, mode, channelId }: Payment,
): Promise<AuthenticatorTarget> {
  const { by, accountId } = answer.authentication!
  const target = await engine.targets.of({ mode, channelId, connector: by, accountId }, undefined)
  return target as AuthenticatorTarget
}

const isSame = (one: object, other: object | undefined): boolean =>
  other !== undefined && JSON.stringify(one) === JSON.stringify(other)

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)
