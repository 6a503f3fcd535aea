import { type RoleName, roles } from '@tollgate/schemas'
import type { Actor } from '../audit/actor.ts'
import { everyRight, type RightSet, rightSet } from '../caller/rights.ts'

/** A logged-in person, as of one request. */
export type Person = {
  readonly id: string
  readonly name: string
  readonly role: string
  /** They see this node and everything below it; null: everything. */
  readonly entityId: string | null
  readonly rights: RightSet
  /** The origin of the request. */
  readonly address?: string
  /** When the session began. */
  readonly since: Date
}

/** The actor of a change: a logged-in person, or a user of the machine itself. */
export type Acting = {
  readonly actor: Actor
  readonly entityId: string | null
  readonly rights: RightSet
}

export type ListedPerson = {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly entityId: string | null
  readonly createdAt: Date
  readonly lastLoginAt: Date | null
  readonly disabledAt: Date | null
}

/** Shown once: these values allow a login. */
export type Enrolled = {
  readonly id: string
  /** For the authenticator, as a QR code or typed in. */
  readonly otpauthUri: string
  readonly recoveryCodes: readonly string[]
}

/**
 * A person admitted by two operators, neither of whom knows the future credentials. The person
 * joins with the password from one and the invitation from the other.
 */
export type Invited = { readonly id: string; readonly invited: true }

/** A role that this version does not know gives no right. */
export const rightsOfRole = (name: string): RightSet =>
  rightSet(roles.find((role) => role.name === name)?.rights ?? [])

export const isRole = (name: string): name is RoleName => roles.some((role) => role.name === name)

export const actorOfPerson = ({ id, name, address }: Person): Actor => ({
  kind: 'operator',
  id,
  name,
  ...(address === undefined ? {} : { address }),
})

export const actingPerson = (person: Person): Acting => ({
  actor: actorOfPerson(person),
  entityId: person.entityId,
  rights: person.rights,
})

/** The machine's own users and the embedding program: nothing is above them. */
export const actingSystem = (actor: Actor): Acting => ({
  actor,
  entityId: null,
  rights: everyRight,
})
