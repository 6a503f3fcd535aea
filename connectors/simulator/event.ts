import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Claim, Inbound, Json } from '@tollgate/plugin-kit'
import { isChargeback, isResultCode } from '@tollgate/schemas'
import { answerOf } from './answer.ts'
import type { Entry } from './entry.ts'
import { toOutcome } from './outcomes.ts'

/** Header of the signature: HMAC-SHA256 over the body's bytes, lower-case hex. */
export const signatureHeader = 'x-simulator-signature'

export const sign = (body: string | Buffer, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')

/**
 * Whether a message was signed with the secret. There is no time window: an event can arrive late,
 * and a repeated one is dropped by its id.
 */
export function isSigned({ body, headers }: Inbound, secret: string): boolean {
  const given = Buffer.from(headers[signatureHeader] ?? '', 'utf8')
  const right = Buffer.from(sign(body, secret), 'utf8')
  return given.length === right.length && timingSafeEqual(given, right)
}

/** The signed message about the state of an operation. The same news has the same id. */
export function messageOf(entry: Entry, secret: string, now: number): Inbound {
  const { status, key, code, reference, networkTxId } = answerOf(entry, now)
  const { kind, amount } = entry
  const original = entry.root ?? entry.original
  const event: Json = {
    eventId: `${key}-${status}`,
    kind,
    key,
    ...(original === undefined ? {} : { original }),
    status,
    code,
    ...(reference === undefined ? {} : { reference }),
    ...(networkTxId === undefined ? {} : { networkTxId }),
    amount: { minor: String(amount.minor), currency: amount.currency },
    ...(entry.reason === undefined ? {} : { reason: entry.reason }),
  }
  const body = Buffer.from(JSON.stringify(event))
  return {
    body,
    headers: { 'content-type': 'application/json', [signatureHeader]: sign(body, secret) },
    query: {},
  }
}

/**
 * The claims of a verified message. A chargeback and its reversal concern the disputed operation.
 *
 * @throws Error for a body that is not an event of this acquirer, without quoting it.
 */
export function claimsOf({ body }: Inbound): readonly Claim[] {
  const event = readEvent(body)
  const { eventId, kind, key, original, status, code, reference } = event
  const amount = { minor: BigInt(event.amount.minor), currency: event.amount.currency }
  const refs = reference === undefined ? {} : { reference }
  if (kind === 'chargeback' || kind === 'chargebackReversal') {
    const reason = event.reason ?? ''
    if (original === undefined || !isResultCode(reason) || !isChargeback(reason)) throw unreadable()
    return [
      {
        eventId,
        key: original,
        outcome: { is: kind, reason, refs },
        amount,
      },
    ]
  }
  const scheme = event.networkTxId === undefined ? {} : { networkTxId: event.networkTxId }
  const answer = { status, key, code, amount, ...refs, ...scheme }
  return [{ eventId, key, outcome: toOutcome(answer, amount), amount }]
}

type Event = {
  eventId: string
  kind: string
  key: string
  original?: string
  status: 'approved' | 'declined' | 'pending'
  code: string
  reference?: string
  networkTxId?: string
  amount: { minor: string; currency: string }
  reason?: string
}

function readEvent(body: Buffer): Event {
  let event: Partial<Event> | null
  try {
    event = JSON.parse(body.toString('utf8')) as Partial<Event> | null
  } catch {
    throw unreadable()
  }
  const texts = [event?.eventId, event?.kind, event?.key, event?.code, event?.amount?.currency]
  const isEvent =
    texts.every((text) => typeof text === 'string' && text !== '') &&
    ['approved', 'declined', 'pending'].includes(event?.status ?? '') &&
    /^-?[0-9]{1,18}$/.test(event?.amount?.minor ?? '')
  if (!isEvent) throw unreadable()
  return event as Event
}

const unreadable = () => new Error('the message is not an event of the simulated acquirer')
