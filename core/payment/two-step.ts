/**
 * PA.CP, two steps in one. The capture has its id from the first commit on, and that is the only id the
 * request ever gets; when the capture fails the authorisation is reversed. A timer stands for the rest
 * of the work from the commit on that approves the authorisation, so that it goes on in another process
 * if this one dies.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import { paymentTypes } from '@tollgate/schemas'
import { addAttention, resolveAttention } from '../attention/store.ts'
import { outcomeUnknown } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { toldAmount } from '../money.ts'
import { addTimer, removeTimer } from '../timer/store.ts'
import { type AcceptedFollowUp, beginStep } from './begin.ts'
import { asCapture } from './capture-to-come.ts'
import { execute } from './execute.ts'
import { isOpen, isOver } from './late-words.ts'
import { type KnownStep, refuseStep } from './refused-step.ts'
import { balanceById, paymentById, toBalance, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

const typeOf = (code: string) => paymentTypes.find((type) => type.code === code)!

/** A capture that is open is looked at by itself; this is for what is lost with a process. */
const lookAgainMs = 3_600_000

/**
 * Takes whatever step is missing. Safe to run twice: each step is keyed by the authorisation, so a
 * second one finds the first.
 *
 * @returns the record that answers the request: the capture, as it is or as it would be.
 */
export async function continueChain(engine: Engine, authorisation: Payment): Promise<Payment> {
  try {
    return await takeSteps(engine, authorisation)
  } catch (error) {
    // The authorisation stands, the timer takes the next step: until then the sale is open.
    const kind = error instanceof Error ? error.name : 'unknown'
    engine.log.warn({ payment: authorisation.id, error: kind }, 'the second step has to wait')
    return captureSoFar(engine, authorisation).catch(() => asCapture(authorisation))
  }
}

/**
 * The same for a job, which is tried again: what keeps the next step from being taken is on the operators'
 * list until it was taken.
 */
export async function takeStepsOrList(engine: Engine, authorisation: Payment): Promise<void> {
  try {
    await takeSteps(engine, authorisation)
  } catch (error) {
    const isRefusal = error instanceof GatewayError
    // A database that is away, or a full house, is over by itself.
    const isPassing = isRefusal ? error.status !== 400 : outcomeUnknown(error)
    if (!isPassing) {
      const why = isRefusal ? error.message : 'the next step failed'
      await unreversed(engine, authorisation, authorisation.attemptKey, why, waits)
    }
    throw error
  }
  await engine.lanes.single(resolveAttention(authorisation.id, 'unreversed', 'engine', waits))
}

/** Tells the entry about a step that waits from the one about a reversal that failed. */
const waits = 'next-step'

/** @throws whatever keeps the next step from being taken; a job that sees it is tried again. */
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

/** The capture there is, whatever became of its authorisation since; else as it would be. */
export async function captureSoFar(engine: Engine, authorisation: Payment): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentById(authorisation.chainId!, null))
  return row === undefined ? asCapture(authorisation) : toPayment(row)
}

/** The capture there is, or a new one. */
async function captureOf(engine: Engine, authorisation: Payment): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentById(authorisation.chainId!, null))
  if (row !== undefined) return toPayment(row)
  const begun = await beginStep(engine, authorisation, captureStep(authorisation))
  if (begun !== 'refused') return done(engine, begun)
  // Somebody took what was authorised, or closed it: the sale is declined, on record and for good.
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
      // What is sent is the exact amount: this one is for reading.
      amount: toldAmount(amountMinor, currency),
      currency,
      ...carried(authorisation),
    },
  }
}

/** The sale is declined without a capture; its authorisation is released by whoever takes the next step. */
export const refuseCapture = (
  engine: Engine,
  authorisation: Payment,
  afterMs: number,
  alongside: readonly Sql[] = [],
) =>
  refuseStep(engine, authorisation, captureStep(authorisation), '700.400.100', afterMs, alongside)

/** Whether nothing of the authorisation is held any more, or an operator has to see to that. */
async function isReleased(engine: Engine, authorisation: Payment): Promise<boolean> {
  const step = {
    step: 'RV',
    type: typeOf('RV'),
    effect: 'release',
    amountMinor: null,
    fields: { paymentType: 'RV', ...carried(authorisation) },
  } as const
  const begun = await beginStep(engine, authorisation, step).catch((error: unknown) => {
    const isForGood = error instanceof GatewayError && error.status === 400
    if (isForGood && error.code !== notInstalled) return error
    throw error
  })
  if (begun instanceof GatewayError) {
    await unreversed(engine, authorisation, authorisation.attemptKey, begun.message)
    return true
  }
  if (begun === 'refused') {
    const [row] = await engine.lanes.single(balanceById(authorisation.rootId))
    const balance = row === undefined ? undefined : toBalance(row)
    return balance === undefined || balance.authorised <= balance.captured + balance.reversed
  }
  const reversal = await done(engine, begun)
  if (isOpen(reversal.state)) return false
  if (isOver(reversal.state)) {
    const why = 'the capture failed and so did the reversal of its authorisation'
    await unreversed(engine, authorisation, reversal.attemptKey, why)
  }
  return true
}

/** A connector that is gone may come back: then the reversal is sent. */
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

/** What the merchant sent about the sale belongs to the capture, which is what it reads afterwards. */
function carried(authorisation: Payment): RequestFields {
  const names = ['merchantTransactionId', 'descriptor', 'merchantInvoiceId', 'merchantMemo']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = authorisation.request[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
