/** The actors of the audit trail. */
import { hostname } from 'node:os'
import { isId } from '../ids.ts'
import { maskEscapedNumbers } from '../redaction/mask.ts'

export const actorKinds = ['token', 'operator', 'system-user', 'engine', 'embedder'] as const

export type ActorKind = (typeof actorKinds)[number]

export type Actor = {
  readonly kind: ActorKind
  /** The id of a token or operator; for a system user, the system's own number. */
  readonly id: string
  /** Name for people. When absent, a token's name is looked up. */
  readonly name?: string
  /** The origin of the request. */
  readonly address?: string
  /** The machine of the action. */
  readonly host?: string
}

/** A text comes from an embedding program, which is responsible for its truth. */
export type By = string | Actor

const host = hostname().slice(0, 255)

export const engineActor: Actor = { kind: 'engine', id: 'engine', name: 'engine', host }

export function actorBy(by: By = 'embedder'): Actor {
  if (typeof by === 'string') {
    return { kind: 'embedder', id: 'embedder', name: maskEscapedNumbers(by), host }
  }
  // Our own ids have hex digits that can resemble a card number by chance.
  const id = isId(by.id) ? by.id : maskEscapedNumbers(by.id)
  return by.name === undefined ? { ...by, id } : { ...by, id, name: maskEscapedNumbers(by.name) }
}

/** The actor of a request: `by` of the embedding program, else the token. */
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
