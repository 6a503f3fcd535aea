/** The HTTP headers that belong to the API, beside those of HTTP itself. */
export type Header = {
  readonly name: string
  /** `request`: of a client. `answer`: of the gateway. `notification`: of the gateway to a webhook endpoint. */
  readonly of: 'request' | 'answer' | 'notification'
  /** A regular expression for the whole value. */
  readonly pattern: string
  readonly example: string
  /** When the header is there. */
  readonly when: string
  readonly isAlways?: true
  readonly meaning: string
}

export const headers: readonly Header[] = [
  { name: 'Authorization', of: 'request', pattern: '^Bearer \\S+$', example: 'Bearer q3vXy0…', when: 'Every request with a token.', meaning: 'Access token of a merchant, a channel or an entity above them.' },
  { name: 'Content-Type', of: 'request', pattern: '^application/(?:x-www-form-urlencoded|json)', example: 'application/x-www-form-urlencoded', when: 'Every POST with fields.', meaning: 'A form with flat names, or JSON with the same fields nested.' },
  { name: 'Idempotency-Key', of: 'request', pattern: '^[\\u0021-\\u007e]{1,255}$', example: 'order-2041-7', when: 'Recommended for every new payment, follow-up, registration and schedule.', meaning: 'Chosen by the client, new for every payment that shall be made. A repeat with the same key and the same fields returns the payment of the first request instead of making another one; a repeat with other fields is refused with `200.300.405`. A key is valid for 30 days. Repeat a request without an answer with its key: the money moves once.' },
  { name: 'X-Request-Id', of: 'answer', pattern: '^[a-zA-Z0-9-]{1,69}$', example: '0199d5e26f6d7a1c8f4e3b2a1d0c9b8a', when: 'Every answer.', isAlways: true, meaning: "The gateway's own number of the request: `ndc` of an answer, except at a checkout. Name it in questions to support." },
  { name: 'Idempotent-Replayed', of: 'answer', pattern: '^true$', example: 'true', when: 'Repeats with a known `Idempotency-Key`.', meaning: 'The answer is about the payment of an earlier request.' },
  { name: 'Retry-After', of: 'answer', pattern: '^[0-9]+$', example: '1', when: 'Answers with the status 429, and most with 503.', meaning: 'Seconds until the request may be sent again.' },
  { name: 'webhook-id', of: 'notification', pattern: '^[0-9a-f]{32}(?:-[a-z]{1,16})?$', example: '0192f0c41b7a7cc2a3f0d1e2c3b4a596', when: 'Every notification.', isAlways: true, meaning: 'Id of the notification, the same in every attempt and every replay: ignore one that you have.' },
  { name: 'webhook-timestamp', of: 'notification', pattern: '^[0-9]{10,11}$', example: '1773480413', when: 'Every notification.', isAlways: true, meaning: 'Time of the attempt in seconds since 1970 UTC. Refuse one that is older than five minutes.' },
  { name: 'webhook-signature', of: 'notification', pattern: '^v1,[A-Za-z0-9+/=]+(?: v1,[A-Za-z0-9+/=]+)*$', example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=', when: 'Every notification.', isAlways: true, meaning: 'HMAC-SHA256 of `webhook-id`.`webhook-timestamp`.body by the signing secret, as in Standard Webhooks. Two with a blank between them for a day after a rotation.' },
  { name: 'webhook-sequence', of: 'notification', pattern: '^[0-9]+$', example: '2', when: 'Every notification.', isAlways: true, meaning: 'Counts the events of the resource. May skip numbers.' },
  { name: 'X-Initialization-Vector', of: 'notification', pattern: '^[0-9A-F]{24}$', example: '3D575574536D450F71AC76D8', when: 'Encrypted bodies: the wrappers TEXT and JSON.', meaning: 'Initialization vector of AES-256-GCM in hexadecimal digits.' },
  { name: 'X-Authentication-Tag', of: 'notification', pattern: '^[0-9A-F]{32}$', example: '19FDD068C6F383C173D3A906F7BD1D83', when: 'Encrypted bodies: the wrappers TEXT and JSON.', meaning: 'Authentication tag of AES-256-GCM in hexadecimal digits.' },
]

export const headersOf = (side: Header['of']): readonly Header[] => headers.filter(({ of }) => of === side)

/** @throws Error for a name that the table lacks. */
export function headerNamed(name: string): Header {
  const found = headers.find((header) => header.name === name)
  if (found === undefined) throw new Error(`the headers table has no ${name}`)
  return found
}
