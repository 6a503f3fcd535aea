/** Webhooks of the sandbox, as Adyen sends and signs them. */
import { createHmac } from 'node:crypto'
import type { Inbound } from '@tollgate/plugin-kit'
import type { Amount, Ledger, Modification, ModificationKind, Payment, Undo } from './ledger.ts'

export type Item = {
  readonly eventCode: string
  readonly success: boolean
  readonly pspReference: string
  readonly merchantReference: string
  readonly amount: Amount
  readonly originalReference?: string
  readonly reason?: string
  readonly eventDate?: string
  readonly additionalData?: Readonly<Record<string, string>>
}

export type Sender = { readonly merchantAccount: string; readonly hmacKey: string }

/** Signed like Adyen: HMAC-SHA256 over eight fields, with the bytes of the hex key, in base64. */
export function webhook(items: readonly Item[], { merchantAccount, hmacKey }: Sender): Inbound {
  const json = {
    live: 'false',
    notificationItems: items.map((item) => ({
      NotificationRequestItem: requestItem(item, merchantAccount, hmacKey),
    })),
  }
  return {
    body: Buffer.from(JSON.stringify(json)),
    headers: { 'content-type': 'application/json' },
    query: {},
  }
}

function requestItem(item: Item, merchantAccountCode: string, hmacKey: string): object {
  const { eventCode, success, pspReference, merchantReference, amount, originalReference, reason } =
    item
  const { eventDate = dateAfter(0) } = item
  const text = [
    ...[pspReference, originalReference ?? '', merchantAccountCode, merchantReference],
    ...[amount.value, amount.currency, eventCode, success],
  ].join(':')
  const hmacSignature = createHmac('sha256', Buffer.from(hmacKey, 'hex'))
    .update(text)
    .digest('base64')
  return {
    additionalData: { ...item.additionalData, hmacSignature },
    amount,
    eventCode,
    eventDate,
    merchantAccountCode,
    merchantReference,
    ...(originalReference === undefined ? {} : { originalReference }),
    paymentMethod: 'visa',
    pspReference,
    reason: reason ?? '',
    success: String(success),
  }
}

/** When something happened that changed so often before. */
const dateAfter = (changes: number): string =>
  `2026-04-${String((changes % 30) + 1).padStart(2, '0')}T14:05:00+02:00`

export const authorisationItem = (payment: Payment): Item => ({
  eventCode: 'AUTHORISATION',
  success: payment.state === 'authorised',
  pspReference: payment.pspReference,
  merchantReference: payment.reference,
  amount: payment.amount,
  reason: payment.refusal?.reason ?? '044925:1142:03/2030',
})

const codes: Readonly<Record<ModificationKind, string>> = {
  capture: 'CAPTURE',
  refund: 'REFUND',
  cancel: 'CANCELLATION',
  reversal: 'CANCEL_OR_REFUND',
  update: 'AUTHORISATION_ADJUSTMENT',
}

export function modificationItem(modification: Modification): Item {
  const { kind, told, success, reason, reference, pspReference, payment, amount } = modification
  const later = told === 'reversed' ? 'REFUNDED_REVERSED' : `${codes[kind]}_FAILED`
  return {
    eventCode: told === 'first' ? codes[kind] : later,
    success: told === 'first' ? success : true,
    pspReference,
    originalReference: payment.pspReference,
    merchantReference: reference,
    amount,
    reason,
    eventDate: dateAfter(modification.changes),
    ...(kind === 'reversal' ? { additionalData: { 'modification.action': 'refund' } } : {}),
  }
}

/** Adyen names the payment of a technical cancellation by the merchant's reference of the payment. */
export function undoItem(
  { by, of, state, pspReference, reference }: Undo,
  payment: Payment | undefined,
): Item {
  return {
    eventCode: by === 'reference' ? 'TECHNICAL_CANCEL' : 'CANCEL_OR_REFUND',
    success: state === 'done',
    pspReference,
    ...(payment === undefined ? {} : { originalReference: payment.pspReference }),
    merchantReference: by === 'reference' ? of : reference,
    amount: payment?.amount ?? { value: 0, currency: 'EUR' },
    reason: state === 'done' ? '' : 'Transaction not in correct state',
  }
}

export const disputeItem = (
  payment: Payment,
  pspReference: string,
  amount: Amount,
  eventCode:
    | 'CHARGEBACK'
    | 'SECOND_CHARGEBACK'
    | 'CHARGEBACK_REVERSED'
    | 'NOTIFICATION_OF_CHARGEBACK',
): Item => ({
  eventCode,
  success: true,
  pspReference,
  originalReference: payment.pspReference,
  merchantReference: payment.reference,
  amount,
  reason: 'Fraudulent Processing of Transactions',
  additionalData: { chargebackReasonCode: '4837', chargebackSchemeCode: 'mc' },
})

export const reportItem = (name: string, url: string): Item => ({
  eventCode: 'REPORT_AVAILABLE',
  success: true,
  pspReference: name,
  merchantReference: '',
  amount: { value: 0, currency: 'EUR' },
  reason: url,
})

/** The message about the present state of an operation, named by the reference that it has at Adyen. */
export function itemAbout(ledger: Ledger, reference: string): Item {
  const modification = ledger.modifications.findLast((one) => one.reference === reference)
  if (modification !== undefined) return modificationItem(modification)
  const payment = ledger.byReference(reference)
  const undo = ledger.undoOf(reference)
  // A payment that came after the end of its reversal has the last word.
  const isLatecomer = payment !== undefined && undo?.hadPayment === false
  if (undo !== undefined && undo.state !== 'asked' && !isLatecomer) return undoItem(undo, payment)
  if (payment === undefined) throw new Error('the sandbox knows no operation of this reference')
  return authorisationItem(payment)
}
