/**
 * PA.CP, two steps in one. The capture's id exists from the first commit on, and the request shows
 * no other id. A failed capture reverses its authorisation. The commit that approves the
 * authorisation also sets a timer, so that another process continues if this one dies.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import { paymentTypes } from '@tollgate/schemas'
import { addAttention, resolveAttention } from '../attention/store.ts'
import { outcomeUnknown } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { shownAmount } from '../money.ts'
import { shownFacts } from '../three-d-secure/record.ts'
import { addTimer, removeTimer } from '../timer/store.ts'
import { asCapture } from './capture-to-come.ts'
import { execute } from './execute.ts'
import { isOpen, isOver } from './late-word-table.ts'
import { type KnownStep, refuseStep } from './refused-step.ts'
import { type AcceptedFollowUp, reserveStep } from './reserve-follow-up.ts'
import { balanceById, paymentById, toBalance, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'
import { isBesideChargeback } from './waiting-dispute.ts'

const typeOf = (code: string) => paymentTypes.find((type) => type.code === code)!

/** An open capture has looks of its own; this timer covers the loss of a process. */
const lookAgainMs = 3_600_000

/**
 * Takes the next missing step. Safe to run twice: the authorisation keys each step, so a second run
 * finds the first step.
 *
 * @returns the record for the response: the present or future capture.
 */
export async function continueChain(engine: Engine, authorisation: Payment): Promise<Payment> {
  try {
    return await takeSteps(engine, authorisation)
  } catch (error) {
    // The authorisation stands and the timer takes the next step: until then the sale is open.
    const kind = error instanceof Error ? error.name : 'unknown'
    engine.log.warn({ payment: authorisation.id, error: kind }, 'the second step has to wait')
    return captureSoFar(engine, authorisation).catch(() => asCapture(authorisation))
  }
}

/**
 * The same for a job with retries: the reason for a delay is on the operators' list until the step
 * succeeds.
 */
export async function takeStepsOrList(engine: Engine, authorisation: Payment): Promise<void> {
  try {
    await takeSteps(engine, authorisation)
  } catch (error) {
    const isRefusal = error instanceof GatewayError
    // A database outage and overload pass by themselves.
    const isPassing = isRefusal ? error.status !== 400 : outcomeUnknown(error)
    if (!isPassing) {
      const why = isRefusal ? error.message : 'the next step failed'
      await unreversed(engine, authorisation, authorisation.attemptKey, why, waits)
    }
    throw error
  }
  await engine.lanes.single(resolveAttention(authorisation.id, 'unreversed', 'engine', waits))
}

/** Distinguishes the entry of a waiting step from the entry of a failed reversal. */
const waits = 'next-step'

/** @throws any error that prevents the next step; a job with such an error is repeated. */
export async function takeSteps(engine: Engine, authorisation: Payment): Promise<Payment> {
  const { id, state } = authorisation
  if (state !== 'approved') {
    if (isOver(state)) await engine.lanes.single(removeTimer('continue', id))
    return captureSoFar(engine, authorisation)
  }
  const capture = await captureOf(engine, authorisation)
  if (isOpen(capture.state)) {
    await engine.lanes.single(addTimer(newId(), 'continue', id, lookAgainMs))
    return capture
  }
  if (isOver(capture.state) && !(await isReleased(engine, authorisation))) return capture
  await engine.lanes.single(removeTimer('continue', id))
  return capture
}

/** The existing capture, whatever the state of its authorisation; otherwise the future one. */
export async function captureSoFar(engine: Engine, authorisation: Payment): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentById(authorisation.chainId!, null))
  return row === undefined ? asCapture(authorisation) : toPayment(row)
}

/** The existing capture, or a new one. */
async function captureOf(engine: Engine, authorisation: Payment): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentById(authorisation.chainId!, null))
  if (row !== undefined) return toPayment(row)
  const begun = await reserveStep(engine, authorisation, captureStep(authorisation))
  if (begun !== 'refused') return done(engine, begun)
  // Another operation used or closed the authorisation: the sale is declined, on record and for
  // good.
  return (await refuseCapture(engine, authorisation, lookAgainMs)).payment
}

function captureStep(authorisation: Payment): KnownStep {
  const { minor, currency } = authorisation.amount
  const amountMinor = authorisation.approvedMinor ?? minor
  return {
    step: 'CP',
    id: authorisation.chainId!,
    type: typeOf('CP'),
    effect: 'capture',
    amountMinor,
    fields: {
      paymentType: 'CP',
      // The exact amount is sent; this one is for people.
      amount: shownAmount(amountMinor, currency),
      currency,
      ...carried(authorisation),
      ...authenticated(authorisation),
    },
  }
}

/** The merchant reads the sale by its capture, so the capture shows the authentication as well. */
function authenticated({ answer }: Payment): RequestFields {
  const facts = shownFacts(answer.authentication)
  return facts === undefined ? {} : { threeDSecure: { ...facts } }
}

/**
 * Declines the sale without a capture; the process that takes the next step releases the
 * authorisation.
 */
export const refuseCapture = (
  engine: Engine,
  authorisation: Payment,
  afterMs: number,
  alongside: readonly Sql[] = [],
) =>
  refuseStep(engine, authorisation, captureStep(authorisation), '700.400.100', afterMs, alongside)

/**
 * Whether the authorisation holds no money any more, or an operator has to release it.
 *
 * @param isSecond Whether the balance refused before, for a reason that it did not show afterwards.
 */
async function isReleased(
  engine: Engine,
  authorisation: Payment,
  isSecond = false,
): Promise<boolean> {
  const step = {
    step: 'RV',
    type: typeOf('RV'),
    effect: 'release',
    amountMinor: null,
    fields: { paymentType: 'RV', ...carried(authorisation) },
  } as const
  const begun = await reserveStep(engine, authorisation, step).catch((error: unknown) => {
    const isForGood = error instanceof GatewayError && error.status === 400
    if (isForGood && error.code !== notInstalled) return error
    throw error
  })
  if (begun instanceof GatewayError) {
    await unreversed(engine, authorisation, authorisation.attemptKey, begun.message)
    return true
  }
  if (begun === 'refused') return isReleasedOrListed(engine, authorisation, isSecond)
  const reversal = await done(engine, begun)
  if (isOpen(reversal.state)) return false
  if (isOver(reversal.state)) {
    const why = 'the capture failed and so did the reversal of its authorisation'
    await unreversed(engine, authorisation, reversal.attemptKey, why)
  }
  return true
}

/**
 * The balance refused the reversal. Operations under way and doubts end by themselves, or by an operator. All
 * other reasons last, a chargeback say: then an operator has to release the rest.
 */
async function isReleasedOrListed(
  engine: Engine,
  authorisation: Payment,
  isSecond: boolean,
): Promise<boolean> {
  // The payer may have the money already: the record of the chargeback refuses the release, or an operator decides.
  if (await isBesideChargeback(engine, 'release', authorisation.id)) return false
  const [row] = await engine.lanes.single(balanceById(authorisation.rootId))
  const balance = row === undefined ? undefined : toBalance(row)
  // A closed one failed later, or was replaced.
  const holdsNothing =
    balance === undefined ||
    balance.closedBy !== null ||
    balance.authorised <= balance.captured + balance.reversed
  if (holdsNothing) return true
  const { capturing, reversing, increasing, refunding } = balance
  if (capturing + reversing + increasing + refunding > 0n || balance.isFrozen) return false
  // Between the refusal and this read, a doubt or an operation can have ended.
  if (!isSecond) return isReleased(engine, authorisation, true)
  const why = 'the capture failed, and the balance of its authorisation refuses the reversal'
  await unreversed(engine, authorisation, authorisation.attemptKey, why)
  return true
}

/** A removed connector may return; then the reversal is sent. */
const notInstalled = '500.100.401'

const unreversed = (
  engine: Engine,
  { id }: Payment,
  attemptKey: string,
  why: string,
  reference = '',
) => engine.lanes.single(addAttention(newId(), 'unreversed', id, attemptKey, 0, { why }, reference))

async function done(engine: Engine, begun: AcceptedFollowUp): Promise<Payment> {
  return 'replay' in begun ? begun.replay : execute(engine, begun.work)
}

/** The merchant's data about the sale belongs to the capture, which the merchant reads later. */
function carried(authorisation: Payment): RequestFields {
  const names = ['merchantTransactionId', 'descriptor', 'merchantInvoiceId', 'merchantMemo']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = authorisation.request[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
