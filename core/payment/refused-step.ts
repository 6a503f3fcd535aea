/** Records a step of the engine as declined before its first commit; such a step is never sent. */
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { textOf } from '../request/values.ts'
import { carriedOver, handlerKind } from './follow-up-rules.ts'
import { followingPayment } from './following-payment.ts'
import { announce, eventOf, notifies, storedEvent } from './payment-event.ts'
import type { Step } from './reserve-follow-up.ts'
import { recordRefused } from './store-follow-up.ts'
import { paymentById, toPayment } from './store-read.ts'
import { withoutSecrets } from './stored-request.ts'
import type { Payment } from './types.ts'

/** A step whose payment has its id and amount before its first commit. */
export type KnownStep = Step & { readonly id: string; readonly amountMinor: bigint }

/**
 * Safe to run any number of times and beside a process that begins the step: a payment's id is
 * unique.
 *
 * @param afterMs The latest time to continue the work on the referenced payment.
 * @param alongside Further statements of the same commit, when this call writes it.
 * @returns the present payment of the step, and whether this call wrote it.
 */
export async function refuseStep(
  engine: Engine,
  target: Payment,
  { id, type, effect, amountMinor, fields }: KnownStep,
  resultCode: string,
  afterMs: number,
  alongside: readonly Sql[] = [],
): Promise<{ readonly payment: Payment; readonly isWritten: boolean }> {
  const request = withoutSecrets(fields, carriedOver(target, effect))
  const refused = await followingPayment(engine, target, {
    id,
    entityId: textOf(fields, 'entityId') ?? target.channelId,
    amount: { minor: amountMinor, currency: target.amount.currency },
    paymentType: type.code,
    effect,
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    state: 'declined',
    resultCode,
    request,
  })
  const event = eventOf(newId(), refused, 'declined', resultCode)
  const statement = recordRefused({
    payment: refused,
    attemptKind: handlerKind(effect, type),
    event: storedEvent(event),
    notifies: notifies(refused),
    timerId: newId(),
    goesOnAfterMs: afterMs,
  })
  const { lanes } = engine
  const [written] =
    alongside.length === 0
      ? await lanes.single(statement)
      : await lanes.together(statement, alongside)
  const [row] = await lanes.single(paymentById(id, null))
  if (row === undefined) throw new Error('a step that was refused has no record')
  const payment = toPayment(row)
  if (written !== undefined) announce(engine, payment, event, written.seq)
  return { payment, isWritten: written !== undefined }
}
