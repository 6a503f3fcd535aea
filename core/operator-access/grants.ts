/** The rights of operators. Every request of a person passes here, on every path. */
import {
  type OfficeEndpoint,
  officeEndpoints,
  type RightName,
  rights,
  roles,
} from '@tollgate/schemas'
import { rightSet } from '../caller/rights.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { type Acting, isRole, type Person, rightsOfRole } from './types.ts'

const endpointNamed: ReadonlyMap<string, OfficeEndpoint> = new Map(
  officeEndpoints.map((endpoint) => [endpoint.operation, endpoint]),
)

export function endpointOf(operation: string): OfficeEndpoint {
  const endpoint = endpointNamed.get(operation)
  if (endpoint === undefined) throw new Error(`no row of the table is ${operation}`)
  return endpoint
}

/**
 * Checks the rights before the request is read, so that a refusal reveals nothing about existing
 * data.
 *
 * @throws GatewayError 403 800.900.301 with the name of the missing right. The security log records
 * it.
 */
export function refuseUnlessPersonMay(
  { alarm }: Pick<Engine, 'alarm'>,
  person: Person,
  operation: string,
): void {
  const { right } = endpointOf(operation)
  if (right === 'none' || right === 'session' || holds(person, right)) return
  alarm('rights-refused', {
    subject: person.id,
    operation,
    right,
    role: person.role,
    ...(person.address === undefined ? {} : { address: person.address }),
  })
  throw lacking(operation, right)
}

/** @throws GatewayError 403 */
export function refuseUnlessMayAdminister(acting: Acting, operation: string): void {
  if (!holds(acting, 'administer')) throw lacking(operation, 'administer')
}

const holds = (of: Pick<Acting, 'rights'>, right: RightName) =>
  typeof of.rights === 'number' && (of.rights & rightSet([right])) !== 0

const lacking = (what: string, right: string) =>
  new GatewayError('800.900.301', {
    status: 403,
    description: `user has not enough rights: ${what} needs the right ${right}, which this operator does not have`,
  })

/**
 * A person can grant only rights of their own, and only to people within their own entity.
 *
 * @throws GatewayError 400 for an unknown role; 403
 */
export function refuseUnlessMayGrant(acting: Acting, role: string): void {
  if (!isRole(role)) {
    throw wrong('role', `must be one of ${roles.map(({ name }) => name).join(', ')}`)
  }
  const missing = rightsOfRole(role) & ~acting.rights
  if (missing === 0) return
  const names = rights.filter(({ name }) => (rightSet([name]) & missing) !== 0)
  throw lacking(`the role ${role}`, names.map(({ name }) => name).join(', '))
}

/** Whether this entity is the actor's or below it. Null is the whole installation. */
export async function isWithin(
  { directory }: Pick<Engine, 'directory'>,
  acting: Pick<Acting, 'entityId'>,
  entityId: string | null,
): Promise<boolean> {
  if (acting.entityId === null) return true
  if (entityId === null) return false
  return directory.acts({ id: 'operator', entityId: acting.entityId }, entityId)
}

/** Channels of which a person sees anything; null: all. */
export function channelsOf(
  { directory }: Pick<Engine, 'directory'>,
  { id, entityId }: Pick<Person, 'id' | 'entityId'>,
): Promise<readonly string[] | null> {
  return directory.visible({ id, entityId }, undefined)
}

export const wrong = (name: string, message: string, status = 400) =>
  new GatewayError('200.300.404', {
    status,
    parameterErrors: [{ name, message }],
    description: `${name} ${message}`,
  })

/** A resource outside of a person's rights gets the same answer as an unknown one. */
export const notThere = () => new GatewayError('700.400.580', { status: 404 })
