import type { NeededRight, RightName } from './tables/rights.ts'

/** One endpoint of the REST surface. */
export type Endpoint = {
  /** Name of the operation: `payments.create`. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path with `{id}` parameters, and other accepted paths; where `deep`, the last parameter takes all that follows. */
  readonly path: string
  readonly deep?: true
  readonly alsoPaths?: readonly string[]
  readonly title: string
  /** Groups of request fields in the body (POST) or the query (GET, DELETE). */
  readonly accepts: readonly string[]
  /** Fields of those groups that this operation requires, exclusively allows, or refuses. */
  readonly required?: readonly string[]
  readonly refused?: readonly string[]
  /** Groups of response fields in the answer. */
  readonly answers: readonly string[]
  /**
   * Parts of the answer that have the fields of other groups: by path (`schedules[n]`), the name of each
   * possible kind with its groups.
   */
  readonly contains?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  /** Another operation whose answer this one may have as well. */
  readonly orAnswersLike?: string
  /** A declined payment has its answer with the status 400. */
  readonly declines?: true
  /** Repeats with the same `Idempotency-Key` get the same answer. */
  readonly idempotent?: true
  /** `token`: a Bearer token; `checkout`, `return`: the id or the token in the path, which a shopper has; `none`: public. */
  readonly login: 'token' | 'checkout' | 'return' | 'none'
  /** The right that the token needs. */
  readonly right: NeededRight
  /** A second right of the token; with `where`, only for a request that names one of these fields or groups. */
  readonly also?: { readonly right: RightName; readonly where?: readonly string[] }
  /** Class of limits that throttling applies, and surfaces that have the path (default: `merchant`). */
  readonly throttle: 'write' | 'read' | 'none'
  readonly surfaces?: readonly ('merchant' | 'fields')[]
  /** Pages of every origin may read the answer. */
  readonly crossOrigin?: true
  /** Type of an answer that is not JSON. */
  readonly media?: 'text/csv' | 'text/html' | 'text/javascript' | '*/*'
  /** Further statuses that are no refusals: a redirect of the browser, or a file that the browser has already. */
  readonly beside200?: readonly (303 | 304)[]
}
