/** A two-step payment before its capture has a row: its view, and the follow-ups it allows. */
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { addTimer } from '../timer/store.ts'
import { undecidedCode } from './decide.ts'
import { isOpen, isOver } from './late-word-table.ts'
import { paymentByChain, paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

/**
 * The future capture of an authorisation: open until its row exists, and over when the
 * authorisation fails. The first response already contained this capture's id.
 */
export function asCapture(authorisation: Payment): Payment {
  const isDone = authorisation.state === 'approved'
  return {
    ...authorisation,
    id: authorisation.chainId!,
    rootId: authorisation.chainId!,
    parentId: authorisation.id,
    referencedId: authorisation.id,
    chainId: null,
    paymentType: 'CP',
    effect: 'capture',
    state: isDone ? 'processing' : authorisation.state,
    resultCode: isDone ? undecidedCode : authorisation.resultCode,
    approvedMinor: null,
  }
}

/** The future capture with this id; undefined when no authorisation has such a capture. */
export async function captureToCome(
  engine: Pick<Engine, 'lanes'>,
  id: string,
  channels: readonly string[] | null,
): Promise<{ authorisation: Payment } | undefined> {
  const [row] = await engine.lanes.read(paymentByChain(id, channels))
  return row === undefined ? undefined : { authorisation: toPayment(row) }
}

/** Whether the automatic capture of an authorisation is not final yet. */
export async function areTwoStepsUnderWay(
  engine: Pick<Engine, 'lanes'>,
  { chainId }: Payment,
): Promise<boolean> {
  if (chainId === null) return false
  const [capture] = await engine.lanes.single(paymentById(chainId, null))
  return capture === undefined || isOpen(capture.state)
}

/**
 * @throws GatewayError 700.400.570 while the automatic capture of an authorisation is under way.
 */
export async function refuseWhileTwoSteps(
  engine: Pick<Engine, 'lanes'>,
  payment: Payment,
): Promise<void> {
  if (!(await areTwoStepsUnderWay(engine, payment))) return
  throw new GatewayError('700.400.570', {
    description: `The capture ${payment.chainId} of this payment is not final yet.`,
  })
}

/** The capture failed, so the process that takes the next step releases the authorisation. */
export async function releaseLater(engine: Pick<Engine, 'lanes'>, capture: Payment): Promise<void> {
  if (capture.effect !== 'capture' || !isOver(capture.state)) return
  const [row] = await engine.lanes.single(paymentByChain(capture.id, null))
  if (row !== undefined) await engine.lanes.single(addTimer(newId(), 'continue', row.id, 0))
}
