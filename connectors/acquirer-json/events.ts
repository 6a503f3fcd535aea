/** The bank's own messages. */
import { type Claim, type Inbound, type InboundReply, isHmac, readJson } from '@tollgate/plugin-kit'
import { moneyOf, outcomeOf, readDispute, readPayment, reversalOf } from './answers.ts'
import { disputeReasonFor } from './reasons.ts'

export const signatureHeader = 'x-bank-signature'

/**
 * HMAC-SHA256 over the received bytes, because parsed and rewritten JSON is another text. Old messages are
 * accepted too: a repeated one has an id that the engine knows.
 */
export const isSigned = ({ body, headers }: Inbound, secret: string): boolean =>
  isHmac(headers[signatureHeader], body, secret)

/** "We send a message again until we get this reply." */
export const reply: InboundReply = { contentType: 'application/json', body: '{"received":true}' }

/**
 * @throws Error for anything but an event. The text quotes nothing, because anybody can send a
 * message.
 */
export function claimsOf({ body }: Inbound): readonly Claim[] {
  let event: {
    readonly id?: unknown
    readonly payment?: unknown
    readonly dispute?: unknown
  } | null
  try {
    event = readJson(body) as typeof event
  } catch {
    throw new Error('the message is not JSON')
  }
  if (typeof event?.id !== 'string') throw new Error('the message is not an event of the bank')
  // Of a type that the manual does not list: no news, and nothing that the bank would have to send again.
  if (event.payment === undefined && event.dispute === undefined) return []
  const payment = readPayment(event.payment)
  const dispute = readDispute(event.dispute)
  if (dispute !== undefined) {
    const { id, reference: key, state, reason } = dispute
    // The amount of the dispute, which is often a part of the payment, and sometimes more.
    const amount = moneyOf(dispute)
    const is = state === 'opened' ? 'chargeback' : 'chargebackReversal'
    const outcome = { is, reason: disputeReasonFor(reason), refs: { dispute: id } } as const
    return [{ eventId: event.id, key, outcome, amount, reference: id }]
  }
  if (payment === undefined) throw new Error('the message is not an event of the bank')
  const amount = moneyOf(payment)
  // The engine compares the amount with the requested one, so the outcome names no other amount.
  const reversal = reversalOf(payment, amount)
  // A reversal that was only taken is no news.
  if (reversal?.is === 'requested') return []
  const outcome = reversal ?? outcomeOf(payment, amount)
  return [{ eventId: event.id, key: payment.reference, outcome, amount }]
}
