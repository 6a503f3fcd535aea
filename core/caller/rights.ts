/**
 * The rights of callers. Every request passes here through `read` (core/call.ts), hosted or
 * embedded: only rows of the tables decide.
 */
import {
  type Endpoint,
  endpoints,
  neededRights,
  paymentTypeOf,
  type RightName,
  rights,
  tokenRights,
} from '@tollgate/schemas'
import type { Alarm } from '../audit/alarm.ts'
import { GatewayError, type ParameterError } from '../errors.ts'

/** Rights as bits; `rightSet` makes a set. */
export type RightSet = number

const bits: ReadonlyMap<string, RightSet> = new Map(rights.map(({ name }, at) => [name, 1 << at]))

/** The embedding program's rights. */
export const everyRight: RightSet = (1 << rights.length) - 1

/** An unknown name gives no right. */
export const rightSet = (names: readonly string[]): RightSet =>
  names.reduce((all, name) => all | (bits.get(name) ?? 0), 0)

/** The names of a set, in the order of the table. */
export const rightNames = (set: RightSet): RightName[] =>
  rights.filter(({ name }) => ((bits.get(name) ?? 0) & set) !== 0).map(({ name }) => name)

/** The default rights of a token, and of a caller without named rights. */
export const allOfTokens: RightSet = rightSet(tokenRights)

type Needed = {
  readonly isByPaymentType: boolean
  /** The caller needs one of these; zero: none needed. */
  readonly anyOf: RightSet
  readonly names: readonly RightName[]
  /** A further right; with `where`, only for requests with this field. */
  readonly also: Endpoint['also']
}

const needs: ReadonlyMap<string, Needed> = new Map(
  endpoints.map((endpoint) => {
    const names = neededRights(endpoint)
    const isByPaymentType = endpoint.right === 'by payment type'
    const { operation, also } = endpoint
    return [operation, { isByPaymentType, anyOf: rightSet(names), names, also }]
  }),
)

type Holder = {
  readonly id: string
  readonly rights?: RightSet
  readonly address?: string
}

/** The alarm for refusals: a token that exceeds its rights may be stolen. */
type Watch = { readonly alarm: Alarm }

/** A value that is no number grants nothing, regardless of its conversion. */
const holds = ({ rights = allOfTokens }: Pick<Holder, 'rights'>, wanted: RightSet) =>
  typeof rights === 'number' && (rights & wanted) !== 0

/**
 * Checks the rights before the request is decoded. An operation whose right depends on the payment
 * type needs one of the possible rights here; `refuseUnlessMayMake` checks the exact one.
 *
 * @throws GatewayError 403 800.900.301 with the name of the missing right.
 */
export function refuseUnlessMay(watch: Watch, caller: Holder, operation: string): void {
  const needed = needs.get(operation)
  if (needed === undefined) throw new Error(`no endpoint says which right ${operation} needs`)
  if (needed.names.length > 0 && !holds(caller, needed.anyOf)) {
    throw lacking(watch, caller, needed.names.join(' or '), operation)
  }
  const { also } = needed
  if (also === undefined || also.where !== undefined || holds(caller, bits.get(also.right) ?? 0))
    return
  throw lacking(watch, caller, also.right, operation)
}

/**
 * Checks the second right that some fields of the operation need.
 *
 * @throws GatewayError 403 800.900.301 with the name of the missing right.
 */
export function refuseUnlessMayName(
  watch: Watch,
  caller: Holder,
  operation: string,
  names: (field: string) => boolean,
): void {
  const also = needs.get(operation)?.also
  const named = also?.where?.find(names)
  if (also === undefined || named === undefined) return
  if (holds(caller, bits.get(also.right) ?? 0)) return
  throw lacking(watch, caller, also.right, `${named} of ${operation}`)
}

/**
 * Checks the rights to these payment types. Validation refuses unknown types.
 *
 * @throws GatewayError 403 800.900.301 with the name of the missing right.
 */
export function refuseUnlessMayMake(watch: Watch, caller: Holder, types: readonly string[]): void {
  for (const type of types) {
    const needed = paymentTypeOf(type)?.right
    if (needed === undefined || holds(caller, bits.get(needed) ?? 0)) continue
    throw lacking(watch, caller, needed, `paymentType ${type}`)
  }
}

/**
 * Checks one right, for work that has no row in the table of endpoints.
 *
 * @param parameter The field of the request that needs the right, if one does.
 * @throws GatewayError 403 800.900.301 with the name of the missing right.
 */
export function refuseUnlessHolds(
  watch: Watch,
  caller: Holder,
  right: RightName,
  operation: string,
  parameter?: ParameterError,
): void {
  if (!holds(caller, bits.get(right) ?? 0))
    throw lacking(watch, caller, right, operation, parameter)
}

/** Whether the right for an operation depends on the request's payment types. */
export const goesByPaymentType = (operation: string): boolean =>
  needs.get(operation)?.isByPaymentType === true

function lacking(
  { alarm }: Watch,
  { id, address }: Holder,
  right: string,
  what: string,
  parameter?: ParameterError,
): GatewayError {
  const where = address === undefined ? {} : { address }
  alarm('rights-refused', { subject: id, token: id, right, ...where })
  return new GatewayError('800.900.301', {
    status: 403,
    ...(parameter === undefined ? {} : { parameterErrors: [parameter] }),
    description: `user has not enough rights: ${what} needs the right ${right}, which this access token does not have`,
  })
}
