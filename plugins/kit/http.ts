import type { Sensitive } from './sensitive.ts'

export type HttpErrorCode =
  | 'not-sent'
  | 'timeout'
  | 'reset'
  | 'refused-address'
  | 'too-large'
  | 'past-deadline'
  | 'aborted'

/** Failure of one outgoing request. Never carries a body or a header. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly code: HttpErrorCode
  /** Whether any byte of the request may have left this machine. */
  readonly wroteBytes: boolean

  constructor(code: HttpErrorCode, message: string, wroteBytes: boolean) {
    super(message)
    this.code = code
    this.wroteBytes = wroteBytes
  }
}

export type HttpAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The body as UTF-8, without a byte-order mark. */
  text(): string
  /** The body as JSON, as `readJson` reads it. Throws a plain Error without quoting the body when it is not JSON. */
  json(): unknown
}

/** Bytes or text; `Sensitive` ones, and `Sensitive` parts, are hidden in transcripts. */
export type HttpBody =
  | Buffer
  | string
  | Sensitive<Buffer>
  | Sensitive
  | readonly (string | Sensitive)[]

/**
 * Certificates in PEM, for acquirers with TLS in both directions. Keep them in settings of the account or of the
 * installation, the key with the class `secret`. Without effect on the plain http of a sandbox on this machine.
 *
 * An acquirer can refuse a client certificate after it received the request, so such a failure may have written bytes.
 */
export type HttpTls = {
  /** The client's certificate, with the certificates between it and its authority. Needs `key`. */
  readonly cert?: string
  readonly key?: string | Sensitive
  /** Authorities to trust for this acquirer, in place of the public ones. */
  readonly ca?: string
}

/** A request in its last form, without the headers that the engine sets. */
export type RequestToSign = {
  readonly method: string
  /** Path and query, `/v1/payments?limit=1` say. Sensitive, because a query can be. */
  readonly target: Sensitive
  /** Every byte of the body; empty where there is none. */
  readonly body: Sensitive<Buffer>
}

export type HttpOptions = {
  /** True for every request that can move money. Look-ups and token requests omit it. */
  moves?: boolean
  headers?: Readonly<Record<string, string | Sensitive>>
  /** Appended to the URL. */
  query?: Readonly<Record<string, string | Sensitive>>
  /** At most one of `json`, `form` and `body`. `Sensitive` values are revealed only while writing. */
  json?: unknown
  form?: Readonly<Record<string, unknown>>
  /** A list is sent as one text, without anything between its parts. */
  body?: HttpBody
  /**
   * Further headers, made of the request as it leaves: signatures and digests over the body. `hmac` and `digest` take
   * the sensitive body, so nothing need be revealed. Transcripts show none of these headers. What it throws passes
   * through, and nothing is sent.
   */
  sign?: (request: RequestToSign) => Readonly<Record<string, string | Sensitive>>
  /** Certificates of this connection. Connections with other certificates are never shared. */
  tls?: HttpTls
  /** Time limit of this request. The deadline of the operation also applies. */
  timeoutMs?: number
  /** Largest readable answer in bytes. Default 1 MiB. */
  maxBytes?: number
}

/**
 * The only way to the network for a connector. The engine provides connection pool, TLS, deadlines,
 * address guard (public addresses only, connections to the checked address, no redirects), and a
 * transcript in which `Sensitive` values and card numbers are scrubbed. A status of 4xx or 5xx is
 * an answer, not an error.
 *
 * @throws HttpError for everything else; `wroteBytes` tells whether the acquirer may have seen it.
 */
export type Http = {
  request(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    options?: HttpOptions,
  ): Promise<HttpAnswer>
  get(
    url: string,
    query?: Readonly<Record<string, string | Sensitive>>,
    options?: HttpOptions,
  ): Promise<HttpAnswer>
  /** Sends `json` as JSON. */
  post(url: string, json: unknown, options?: HttpOptions): Promise<HttpAnswer>
}
