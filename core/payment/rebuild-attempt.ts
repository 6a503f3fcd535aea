/** Rebuilds an attempt from its rows, without the secrets that are never stored. */
import type { Kind, Operation, RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { shortId } from '../ids.ts'
import { textOf } from '../request/values.ts'
import { movedBy } from './amount-moved.ts'
import type { AttemptContext } from './attempt-context.ts'
import { callTime, endOf } from './call-time.ts'
import { descriptorOf } from './descriptor.ts'
import { storedInstrument } from './instrument.ts'
import { handlerOf } from './operation-kinds.ts'
import { balanceById, paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

export async function rebuildAttempt(
  engine: Engine,
  payment: Payment,
  lease: number,
): Promise<AttemptContext> {
  const kind = kindOf(payment)
  const target = await engine.targets.of(payment, undefined)
  const referenced = await referencedBy(engine, payment)
  return {
    payment,
    lease,
    target,
    // Neither a repeat nor an enquiry needs the instrument.
    operation: {
      ...(await operationOf(engine, payment, kind, referenced, undefined)),
      ...(payment.answer.refs === undefined ? {} : { refs: payment.answer.refs }),
    },
    begun: null,
    returns: returnsOf(payment, referenced),
    ...endOf(engine, callTime(engine, target.loaded.connector)),
  }
}

export function kindOf(payment: Payment): Kind {
  if (payment.effect === 'increase') return 'increment'
  return handlerOf[payment.paymentType] ?? 'verify'
}

export async function referencedBy(engine: Engine, payment: Payment): Promise<Payment | undefined> {
  if (payment.referencedId === null) return undefined
  const [row] = await engine.lanes.single(paymentById(payment.referencedId, null))
  return row === undefined ? undefined : toPayment(row)
}

/** The reversal of a capture returns the amount to its authorisation. */
export function returnsOf(
  payment: Payment,
  referenced: Payment | undefined,
): AttemptContext['returns'] {
  if (payment.effect !== 'void' || referenced?.effect !== 'capture') return null
  return { captureId: referenced.id, balanceId: referenced.parentId! }
}

export async function operationOf(
  engine: Engine,
  payment: Payment,
  kind: Kind,
  referenced: Payment | undefined,
  numbers: Readonly<Record<string, string>> | undefined,
): Promise<Operation> {
  const fields = payment.request as RequestFields
  const descriptor = descriptorOf(fields)
  // The acquirer knows only the first authorisation, which includes every increase.
  const original =
    referenced !== undefined &&
    referenced.rootId !== referenced.id &&
    referenced.effect === 'increase'
      ? await rootOf(engine, referenced)
      : referenced
  const instrument =
    original !== undefined && numbers !== undefined
      ? storedInstrument(original, numbers)
      : undefined
  // Only a payment of its own has a shopper.
  const returnUrl =
    original === undefined ? engine.returnUrl(payment.id, payment.attemptKey) : undefined
  return {
    kind,
    paymentId: payment.id,
    key: payment.attemptKey,
    amount: payment.amount,
    request: fields,
    shortId: shortId(payment.shortNo),
    ...(payment.brand === null ? {} : { brand: payment.brand }),
    ...(instrument === undefined ? {} : { instrument }),
    ...(descriptor === undefined ? {} : { descriptor }),
    ...(returnUrl === undefined ? {} : { returnUrl }),
    ...(textOf(fields, 'sequence') === 'FINAL' ? { final: true } : {}),
    ...(payment.merchantTransactionId === null
      ? {}
      : { merchantTransactionId: payment.merchantTransactionId }),
    ...(original === undefined
      ? {}
      : { original: { ...originalOf(original), ...(await increasesOf(engine, payment)) } }),
  }
}

/** The sums around an increase, which some acquirers want as the new sum of the authorisation. */
async function increasesOf(
  engine: Engine,
  { effect, rootId, amount: { currency } }: Payment,
): Promise<Pick<NonNullable<Operation['original']>, 'authorised' | 'increasing'>> {
  if (effect !== 'increase') return {}
  const [balance] = await engine.lanes.single(balanceById(rootId))
  if (balance === undefined) return {}
  return {
    authorised: { minor: balance.authorised, currency },
    increasing: { minor: balance.increasing, currency },
  }
}

async function rootOf(engine: Engine, payment: Payment): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentById(payment.rootId, null))
  return row === undefined ? payment : toPayment(row)
}

function originalOf(payment: Payment): NonNullable<Operation['original']> {
  const { answer } = payment
  return {
    paymentId: payment.id,
    kind: kindOf(payment),
    key: payment.attemptKey,
    amount: movedBy(payment),
    refs: answer.refs ?? {},
    ...(answer.memo === undefined ? {} : { memo: answer.memo }),
    ...(answer.networkTxId === undefined ? {} : { networkTxId: answer.networkTxId }),
  }
}
