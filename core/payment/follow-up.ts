/** Captures, reversals, refunds and every other payment that refers to an earlier one. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brandOf, type PaymentType } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { OpenTransaction } from '../db/open-transaction.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import type { Places } from '../process/in-flight.ts'
import { refuse, textOf } from '../request/values.ts'
import { captureToCome, refuseWhileTwoSteps } from './capture-to-come.ts'
import { amountOf, effectOn, refusalCode, refuseUnusable } from './follow-up-rules.ts'
import { findReplay, type Idempotency } from './idempotency.ts'
import { isOpen } from './late-word-table.ts'
import { findReplayWithin, refuseUnstorable } from './queue-payment.ts'
import {
  type AcceptedFollowUp,
  type NewFollowUp,
  type QueuedFollowUp,
  reserveFollowUp,
} from './reserve-follow-up.ts'
import { resolve } from './resolve.ts'
import { balanceById, paymentById, toBalance, toPayment } from './store-read.ts'
import { refuseFollowedNumber } from './stored-number.ts'
import { unsupported } from './supported.ts'
import { continueChain } from './two-step.ts'
import type { Payment } from './types.ts'
import { refuseBesideChargeback } from './waiting-dispute.ts'
import { whyRefused } from './why-refused.ts'

/** The referenced payment, decided if possible and usable for this type. */
export async function referenced(
  engine: Engine,
  caller: Caller,
  id: string,
  type: PaymentType,
  fields: RequestFields,
): Promise<Payment> {
  const payment = await visiblePayment(engine, caller, id, type, textOf(fields, 'entityId'))
  refuseOtherBrand(payment, fields)
  const testMode = textOf(fields, 'testMode')
  if (testMode !== undefined && testMode !== payment.mode) {
    throw refuse(
      '700.100.600',
      'testMode',
      `the referenced payment ran in mode ${payment.mode}`,
      testMode,
    )
  }
  return payment
}

/** An unknown payment and another merchant's payment get the same answer. */
export class UnknownReference extends GatewayError {}

/** A follow-up keeps the brand of its payment; deployed clients repeat the brand. */
function refuseOtherBrand(payment: Payment, fields: RequestFields): void {
  const sent = textOf(fields, 'paymentBrand')
  if (sent === undefined || brandOf(sent)?.code === payment.brand) return
  throw refuse(
    '700.100.400',
    'paymentBrand',
    `the referenced payment has the brand ${payment.brand}`,
    sent,
  )
}

async function visiblePayment(
  engine: Engine,
  caller: Caller,
  id: string,
  type: PaymentType,
  entityId: string | undefined,
): Promise<Payment> {
  const own = await engine.directory.visible(caller, undefined)
  const named = entityId === undefined ? own : await engine.directory.visible(caller, entityId)
  const [row] = isId(id) ? await engine.lanes.read(paymentById(id, own)) : []
  const payment = row === undefined ? await twoStepCapture(engine, id, own) : toPayment(row)
  if (payment === undefined)
    throw new UnknownReference(type.refusedUnusable ?? '700.100.100', {
      status: 404,
      parameterErrors: [
        { name: 'id', message: 'in the path is that of no payment of this entity' },
      ],
    })
  if (named !== null && !named.includes(payment.channelId)) {
    throw refuse('700.400.700', 'entityId', 'the referenced payment belongs to another channel')
  }
  return payment
}

/** The capture of a two-step payment before its row exists: takes the missing steps first. */
async function twoStepCapture(
  engine: Engine,
  id: string,
  channels: readonly string[] | null,
): Promise<Payment | undefined> {
  const found = isId(id) ? await captureToCome(engine, id, channels) : undefined
  if (found === undefined) return undefined
  return continueChain(engine, await decided(engine, found.authorisation))
}

/** Enquires about an undecided payment before a follow-up may refer to it. */
export async function decided(engine: Engine, payment: Payment): Promise<Payment> {
  if (!isOpen(payment.state)) return payment
  const after = await resolve(engine, payment.attemptKey, 'look', 'other')
  return after?.id === payment.id ? after : payment
}

/**
 * Reserves the amount and writes the rows, or refuses. The engine sends nothing before this commit.
 */
export async function acceptFollowUp(
  engine: Engine,
  original: Payment,
  type: PaymentType,
  request: Request,
  idempotency: Idempotency | null,
  within: OpenTransaction | undefined,
  places: Places,
): Promise<AcceptedFollowUp | QueuedFollowUp> {
  if (within !== undefined) refuseUnstorable(request)
  const earlier = await findReplay(engine, idempotency)
  if (earlier !== undefined) return { replay: earlier }
  const { fields } = request
  const target = await decided(engine, original)
  refuseUnusable(target, type)
  await refuseWhileTwoSteps(engine, target)
  await refuseFollowedNumber(engine, target, fields)
  const effect = effectOn(target, type, fields)
  const amountMinor = amountOf(fields, target, type)
  const begun = await reserveFollowUp(engine, target, {
    id: newId(),
    type,
    effect,
    amountMinor,
    fields,
    idempotency,
    isOurs: false,
    places,
    ndc: request.ndc,
    ...(within !== undefined && { within }),
  })
  if (begun !== 'refused') return begun
  // This very request, sent before in the same transaction or twice at the same time, may have taken the rest.
  const before = within && (await findReplayWithin(within, idempotency))
  const twin = before ?? (await findReplay(engine, idempotency))
  if (twin !== undefined) return { replay: twin }
  await refuseBesideChargeback(engine, target, effect)
  throw await refusal(engine, target, { type, effect, amountMinor })
}

/** Why the balance refused the reservation. */
async function refusal(
  engine: Engine,
  target: Payment,
  { type, effect, amountMinor }: Pick<NewFollowUp, 'type' | 'effect' | 'amountMinor'>,
): Promise<GatewayError> {
  const [row] = await engine.lanes.single(balanceById(target.rootId))
  const balance = row === undefined ? undefined : toBalance(row)
  const { connector } = (await engine.targets.of(target, undefined)).loaded
  const why = balance && whyRefused(balance, { effect, amountMinor }, target.amount.currency)
  return (
    unsupported(connector, effect, amountMinor, balance) ??
    new GatewayError(refusalCode(balance, type, effect), {
      ...(why !== undefined && { parameterErrors: [why] }),
    })
  )
}
