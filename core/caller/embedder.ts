/** How an embedding program calls. */
import type { By } from '../audit/actor.ts'
import type { Caller } from './caller.ts'
import { everyRight } from './rights.ts'

export type RequestOptions = {
  readonly idempotencyKey?: string
  /** Who asks; the embedding program itself unless given. */
  readonly caller?: Caller
  /** Who asked the embedding program for it, for the audit trail. */
  readonly by?: By
}

/** The embedding program: acts for every entity of its own database. */
export const embedder: Caller = { id: 'embedder', entityId: null, rights: everyRight }

/** Version shown in every answer as buildNumber. */
export const buildNumber = 'tollgate-0.1.0'
