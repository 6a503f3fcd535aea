/** The operation that a connector receives for a first payment. */
import {
  type Instrument,
  type Kind,
  type Operation,
  type RequestFields,
  Sensitive,
} from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { shortId } from '../ids.ts'
import { groupOf } from '../request/values.ts'
import { descriptorOf } from './descriptor.ts'
import type { Asked } from './first-request.ts'
import { instrumentOf, storedInstrument } from './instrument.ts'
import type { Payment } from './types.ts'

export function firstOperation(
  engine: Pick<Engine, 'returnUrl'>,
  payment: Payment,
  { kind, request, account, numbers }: Pick<Asked, 'kind' | 'request' | 'account' | 'numbers'>,
): Operation {
  const instrument = instrumentOf(account, request.fields, numbers)
  return operationWith(engine, payment, kind, request.fields, instrument)
}

/** The same from the stored payment, whose request has no values that must not be stored. */
export function storedFirstOperation(
  engine: Pick<Engine, 'returnUrl'>,
  payment: Payment,
  kind: Kind,
  numbers: Readonly<Record<string, string>>,
): Operation {
  const fields = payment.request as RequestFields
  return operationWith(engine, payment, kind, fields, storedInstrument(payment, numbers))
}

function operationWith(
  engine: Pick<Engine, 'returnUrl'>,
  payment: Payment,
  kind: Kind,
  fields: RequestFields,
  instrument: Instrument | undefined,
): Operation {
  const proof = proofOf(fields)
  const descriptor = descriptorOf(fields)
  const returnUrl = engine.returnUrl(payment.id, payment.attemptKey)
  return {
    kind,
    paymentId: payment.id,
    key: payment.attemptKey,
    amount: payment.amount,
    request: payment.request as RequestFields,
    shortId: shortId(payment.shortNo),
    ...(payment.brand === null ? {} : { brand: payment.brand }),
    ...(instrument === undefined ? {} : { instrument }),
    ...(proof === undefined ? {} : { threeDSecure: proof }),
    ...(descriptor === undefined ? {} : { descriptor }),
    ...(returnUrl === undefined ? {} : { returnUrl }),
    ...(payment.merchantTransactionId === null
      ? {}
      : { merchantTransactionId: payment.merchantTransactionId }),
  }
}

/** External 3-D Secure values, passed through unchanged. */
function proofOf(fields: RequestFields): Operation['threeDSecure'] {
  const group = groupOf(fields, 'threeDSecure')
  if (group === undefined) return undefined
  const { verificationId, ...rest } = group as Record<string, unknown>
  const shown = Object.fromEntries(
    ['eci', 'authenticationStatus', 'dsTransactionId', 'acsTransactionId', 'version']
      .filter((name) => typeof rest[name] === 'string')
      .map((name) => [name, rest[name] as string]),
  )
  return typeof verificationId === 'string'
    ? { ...shown, verificationId: new Sensitive(verificationId) }
    : shown
}
