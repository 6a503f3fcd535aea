/**
 * What callers may do. Every request of a caller passes here on its way through `read`
 * (core/call.ts), whichever way it came in: nothing but rows of the tables decides.
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
import { GatewayError } from '../errors.ts'

/** Rights as bits; `rightSet` makes one. */
export type RightSet = number

const bits: ReadonlyMap<string, RightSet> = new Map(rights.map(({ name }, at) => [name, 1 << at]))

/** The embedding program's. */
export const everyRight: RightSet = (1 << rights.length) - 1

/** A name that this version does not know gives no right. */
export const rightSet = (names: readonly string[]): RightSet =>
  names.reduce((all, name) => all | (bits.get(name) ?? 0), 0)

/** The names of a set, in the order of the table. */
export const rightNames = (set: RightSet): RightName[] =>
  rights.filter(({ name }) => ((bits.get(name) ?? 0) & set) !== 0).map(({ name }) => name)

/** What a token has that was made without naming rights, and a caller that names none. */
export const allOfTokens: RightSet = rightSet(tokenRights)

type Needed = {
  readonly isByPaymentType: boolean
  /** One of them has to be there; zero where none is needed. */
  readonly anyOf: RightSet
  readonly names: readonly RightName[]
  /** Has to be there as well; with `where` only for a request that names this field. */
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

/** Where a refusal is told: a token that asks for more than it has may be in other hands. */
type Watch = { readonly alarm: Alarm }

/** What is no number holds nothing, whatever it would become as one. */
const holds = ({ rights = allOfTokens }: Pick<Holder, 'rights'>, wanted: RightSet) =>
  typeof rights === 'number' && (rights & wanted) !== 0

/**
 * Before anything of a request is looked at. An operation that goes by the payment type needs one of
 * their rights for now; which one, `refuseUnlessMayMake` says.
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
 * Whether the caller has the second right that some fields of the operation need.
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
  if (also?.where === undefined || !names(also.where)) return
  if (holds(caller, bits.get(also.right) ?? 0)) return
  throw lacking(watch, caller, also.right, `${also.where} of ${operation}`)
}

/**
 * Whether the caller may have payments of these types made. One that does not exist is left to
 * validation.
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

/** Whether what the operation needs follows from the payment types that the request names. */
export const goesByPaymentType = (operation: string): boolean =>
  needs.get(operation)?.isByPaymentType === true

function lacking(
  { alarm }: Watch,
  { id, address }: Holder,
  right: string,
  what: string,
): GatewayError {
  const where = address === undefined ? {} : { address }
  alarm('rights-refused', { subject: id, token: id, right, ...where })
  return new GatewayError('800.900.301', {
    status: 403,
    description: `user has not enough rights: ${what} needs the right ${right}, which this access token does not have`,
  })
}
