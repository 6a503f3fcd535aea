import type { By } from '../audit/actor.ts'
import type { RightSet } from './rights.ts'

/** Who calls: the node a token belongs to. The embedding program itself is `embedder`. */
export type Caller = {
  /** Key of throttling and audit: the token's id, or the embedder's name. */
  readonly id: string
  /** Acts for this node and everything below; null acts for every entity. */
  readonly entityId: string | null
  /** What it may do, made by `rightSet`; every right of tokens unless given. */
  readonly rights?: RightSet
  /** Where the request came from. */
  readonly address?: string
  /** Who asks the embedding program for it, where that is not the embedding program itself. */
  readonly by?: By
}
