/** Who acts, as the audit trail names them. */
import { hostname } from 'node:os'
import { isId } from '../ids.ts'
import { maskEscapedNumbers } from '../redaction/mask.ts'

export const actorKinds = ['token', 'operator', 'system-user', 'engine', 'embedder'] as const

export type ActorKind = (typeof actorKinds)[number]

export type Actor = {
  readonly kind: ActorKind
  /** Of a token or an operator its own; of a system user the number that the system knows it by. */
  readonly id: string
  /** Name before people. That of a token is looked up when it is left out. */
  readonly name?: string
  /** Where a request came from. */
  readonly address?: string
  /** The machine on which it was done. */
  readonly host?: string
}

/** A text is whom an embedding program names; it alone knows whether that is so. */
export type By = string | Actor

const host = hostname().slice(0, 255)

export const engineActor: Actor = { kind: 'engine', id: 'engine', name: 'engine', host }

export function actorBy(by: By = 'embedder'): Actor {
  if (typeof by === 'string') {
    return { kind: 'embedder', id: 'embedder', name: maskEscapedNumbers(by), host }
  }
  // An id of ours has hex digits in which a card number may be found by chance.
  const id = isId(by.id) ? by.id : maskEscapedNumbers(by.id)
  return by.name === undefined ? { ...by, id } : { ...by, id, name: maskEscapedNumbers(by.name) }
}

/** Whom a request is made by: `by` where the embedding program says so, else the token. */
export function actorOf(caller: {
  readonly id: string
  readonly entityId: string | null
  readonly by?: By
  readonly address?: string
}): Actor {
  if (caller.by !== undefined) return actorBy(caller.by)
  if (caller.entityId === null && caller.id === 'embedder') return actorBy()
  const address = caller.address === undefined ? {} : { address: caller.address }
  return { kind: 'token', id: caller.id, host, ...address }
}
