/** The bank's own messages. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Claim, Inbound } from '@tollgate/plugin-kit'
import { moneyOf, outcomeOf, readPayment, reversalOf } from './answers.ts'

export const signatureHeader = 'x-bank-signature'

/** HMAC-SHA256 over the bytes of the body, lower-case hex. */
export const signatureOf = (body: Buffer, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')

/**
 * Over the received bytes, because parsed and rewritten JSON is another text. Old messages are
 * accepted too: a repeated one has an id that the engine knows.
 */
export function isSigned({ body, headers }: Inbound, secret: string): boolean {
  const given = Buffer.from(headers[signatureHeader] ?? '')
  const right = Buffer.from(signatureOf(body, secret))
  return given.length === right.length && timingSafeEqual(given, right)
}

/**
 * @throws Error for anything but an event. The text quotes nothing, because anybody can send a
 * message.
 */
export function claimsOf({ body }: Inbound): readonly Claim[] {
  let event: { readonly id?: unknown; readonly payment?: unknown } | null
  try {
    event = JSON.parse(body.toString('utf8'))
  } catch {
    throw new Error('the message is not JSON')
  }
  const payment = readPayment(event?.payment)
  if (typeof event?.id !== 'string' || payment === undefined) {
    throw new Error('the message is not an event of the bank')
  }
  const amount = moneyOf(payment)
  // The engine compares the amount with the requested one, so the outcome names no other amount.
  const reversal = reversalOf(payment, amount)
  // A reversal that was only taken is no news.
  if (reversal?.is === 'requested') return []
  const outcome = reversal ?? outcomeOf(payment, amount)
  return [{ eventId: event.id, key: payment.reference, outcome, amount }]
}
