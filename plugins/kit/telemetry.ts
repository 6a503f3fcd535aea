/**
 * What the engine publishes about its work while it works, over `node:diagnostics_channel`. Names,
 * ids, numbers and codes only: no card data, no secrets, no personal data.
 *
 * Each name below is a tracing channel: `tracingChannel(name)` gives its parts. `start` is published
 * before the work begins, `asyncEnd` after it ended, `error` in between when it threw. All three get
 * the same message object, which has the fields of the end from `asyncEnd` on.
 */

/** Fields of every message. */
export type Told = {
  /** Name of the engine; several engines may live in one process. */
  readonly engine: string
  /** From the beginning to the end, in milliseconds. */
  durationMs?: number
  /** Kind of error that ended the work, without its text. */
  error?: string
}

/** One HTTP request of a client, from its first line to the last byte of its answer. */
export type RequestTold = Told & {
  readonly method: string
  /** Path of the endpoints table, such as `/v1/payments/{id}`; never the client's. */
  readonly route: string
  /** Operation of the endpoints table, such as `payments.create`. */
  readonly operation: string
  /** `ndc` of the answer. */
  readonly requestId: string
  /** W3C trace context of the client: `00-<trace>-<span>-<flags>`. */
  readonly traceparent?: string
  /** HTTP status; 0 when the client left. */
  status?: number
  /** Result code of the answer. */
  code?: string
  /** The payment of the answer. */
  paymentId?: string
}

/** The first commit of a payment: nothing is sent before it. */
export type FirstCommitTold = Told & {
  readonly paymentId: string
  readonly paymentType: string
  readonly connector: string
}

/** One call of a connector's handler. */
export type ConnectorCallTold = Told & {
  readonly paymentId: string
  readonly connector: string
  /** Handler: `debit`, `capture`, `enquire`, … */
  readonly operation: string
  /** `approved`, `accepted`, `declined`, `pending`, `unknown`, `notSent`; of an enquiry also `notFound`, … */
  outcome?: string
}

/** The commit that moves a payment to an outcome. */
export type SettlingCommitTold = Told & {
  readonly paymentId: string
  readonly paymentType: string
  readonly connector: string
  /** Who says so: `answer`, `deadline`, `enquiry`, `event`, `operator`, … */
  readonly source: string
  /** False when another process moved the payment first. */
  moved?: boolean
  /** `approved`, `declined`, `pending`, `unknown`, `expired`. */
  state?: string
  code?: string
  /** Group of the result code, such as `success` or `declined-bank`. */
  group?: string
}

/** One attempt to send a notification. */
export type NotificationTold = Told & {
  readonly notificationId: string
  readonly endpointId: string
  /** From the event to this attempt, in milliseconds. */
  readonly ageMs: number
  /** Attempts before this one. */
  readonly earlier: number
  delivered?: boolean
  /** HTTP status of the receiver. */
  status?: number
}

/** One run of a job. */
export type JobTold = Told & { readonly job: string }

/** One outgoing HTTP request: to an acquirer, an authenticator or a merchant. */
export type OutgoingTold = Told & {
  readonly method: string
  /** Host and port; never the path, which may hold anything. */
  readonly host: string
  /** A listener sets it to send a W3C trace context along. Anything else than one is left out. */
  traceparent?: string
  status?: number
}

/** Channel -> its message. */
export type Channels = {
  readonly 'tollgate:request': RequestTold
  readonly 'tollgate:first-commit': FirstCommitTold
  readonly 'tollgate:connector-call': ConnectorCallTold
  readonly 'tollgate:settling-commit': SettlingCommitTold
  readonly 'tollgate:notification': NotificationTold
  readonly 'tollgate:job': JobTold
  readonly 'tollgate:outgoing': OutgoingTold
}

export type ChannelName = keyof Channels

/** Every channel. */
export const channelNames: readonly ChannelName[] = [
  'tollgate:request',
  'tollgate:first-commit',
  'tollgate:connector-call',
  'tollgate:settling-commit',
  'tollgate:notification',
  'tollgate:job',
  'tollgate:outgoing',
]

/** A W3C trace context that may be sent along. */
export const isTraceparent = (text: unknown): text is string =>
  typeof text === 'string' &&
  /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)
