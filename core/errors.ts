import { type Reason, resultDescription } from '@tollgate/schemas'

/** One wrong parameter of a request. `value` is present for harmless fields only. */
export type ParameterError = {
  readonly name: string
  readonly value?: string
  readonly message: string
}

/**
 * A refusal: the request is not carried out and nothing is stored. Bad input, missing rights,
 * limits. Declines and pending payments are no errors but outcomes.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  /** Result code of the catalogue. */
  readonly code: Reason
  /** HTTP status that the hosted surface answers with. */
  readonly status: number
  readonly parameterErrors: readonly ParameterError[]
  readonly retryAfterSeconds: number | undefined
  /** True when it is proven that nothing was sent and nothing was written, so the request can be sent again. */
  readonly retrySafe: boolean

  constructor(
    code: Reason,
    more: {
      status?: number
      description?: string
      parameterErrors?: readonly ParameterError[]
      retryAfterSeconds?: number
      retrySafe?: boolean
      cause?: unknown
    } = {},
  ) {
    const text = more.description ?? resultDescription(code)
    super(text, more.cause === undefined ? undefined : { cause: more.cause })
    this.code = code
    this.status = more.status ?? 400
    this.parameterErrors = more.parameterErrors ?? []
    this.retryAfterSeconds = more.retryAfterSeconds
    this.retrySafe = more.retrySafe ?? false
  }
}
