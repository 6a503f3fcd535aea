import type { By } from '../audit/actor.ts'
import type { RightSet } from './rights.ts'

/** The caller: a token with its entity. The embedding program itself is `embedder`. */
export type Caller = {
  /** Key of throttling and audit: the token's id, or the embedder's name. */
  readonly id: string
  /** Acts for this entity and everything below; null acts for every entity. */
  readonly entityId: string | null
  /** The caller's rights, made by `rightSet`; every right of tokens by default. */
  readonly rights?: RightSet
  /** The origin of the request. */
  readonly address?: string
  /** The person behind the embedding program's request, for the audit trail. */
  readonly by?: By
  /** The proposal that a second person confirmed, for a request of the embedding program that needs two. */
  readonly proposal?: string
}
