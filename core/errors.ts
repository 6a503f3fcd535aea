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

  constructor(
    code: Reason,
    more: {
      status?: number
      description?: string
      parameterErrors?: readonly ParameterError[]
      retryAfterSeconds?: number
    } = {},
  ) {
    super(more.description ?? resultDescription(code))
    this.code = code
    this.status = more.status ?? 400
    this.parameterErrors = more.parameterErrors ?? []
    this.retryAfterSeconds = more.retryAfterSeconds
  }
}
