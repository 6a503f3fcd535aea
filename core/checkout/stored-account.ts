/** One-click payments: a shopper pays with a registration of the checkout. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Request } from '../call.ts'
import type { Engine } from '../engine.ts'
import type { Addressee, Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { numbersOf, withAccount, withAgreement } from '../registration/account.ts'
import { refuseForeign, refuseForeignNumbers, usable } from '../registration/registrations.ts'
import { registrationsById, toRegistration } from '../registration/store.ts'
import type { Registration } from '../registration/types.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import type { Checkout } from './types.ts'

/** The registrations of a checkout that can pay now, in the merchant's order. */
export async function offered(
  engine: Engine,
  { registrations }: Checkout,
): Promise<Registration[]> {
  if (registrations.length === 0) return []
  const rows = await engine.lanes.read(registrationsById(registrations, null))
  const known = new Map(rows.map((row) => [row.id, toRegistration(row)]))
  return registrations.flatMap((id) => {
    const found = known.get(id)
    return found !== undefined && isUsable(found) ? [found] : []
  })
}

const isUsable = ({ removedAt, state }: Registration) => removedAt === null && state === 'approved'

/** @throws GatewayError 400 for a registration that the merchant does not offer, or that cannot pay. */
export async function chosen(
  engine: Engine,
  addressee: Addressee,
  checkout: Checkout,
  submitted: RequestFields,
): Promise<Registration | undefined> {
  const id = textOf(submitted, 'registrationId')
  if (id === undefined) return undefined
  const wrong = () => refuse('100.150.200', 'registrationId', 'is not offered by this checkout')
  if (checkout.kind !== 'payment' || !checkout.registrations.includes(id)) throw wrong()
  const [row] = await engine.lanes.read(registrationsById([id], null))
  if (row === undefined) throw wrong()
  try {
    await refuseForeign(engine, toRegistration(row), addressee.id)
    return usable(toRegistration(row))
  } catch (error) {
    if (error instanceof GatewayError) throw wrong()
    throw error
  }
}

/** The request with the stored account. */
export async function withStored(
  engine: Engine,
  addressee: Addressee,
  registration: Registration,
  request: Request,
): Promise<Request> {
  const { fields } = request
  const numbers = await numbersOf(engine, registration)
  await refuseForeignNumbers(engine, registration, addressee.id, numbers)
  const account = withAccount(fields, registration, numbers)
  return { ...request, fields: await withAgreement(engine, account, registration) }
}

/** Whether a registration has a security code: device numbers of wallets have none. */
export const hasCode = ({ method, request }: Registration): boolean =>
  method === 'card' && textOf(groupOf(request as RequestFields, 'card'), 'numberType') !== 'DPAN'

/**
 * A stored card asks for its security code, unless the channel that takes the payment says otherwise.
 *
 * @throws GatewayError 100.100.600
 */
export function refuseWithoutCode(
  { settings }: Pick<Channel, 'settings'>,
  registration: Registration,
  submitted: RequestFields,
): void {
  if (!hasCode(registration) || !asksForCvv(settings)) return
  if (textOf(groupOf(submitted, 'card'), 'cvv') === undefined) {
    throw refuse('100.100.600', 'card.cvv', 'required for a stored card')
  }
}

export const asksForCvv = (settings: Readonly<Record<string, unknown>>): boolean =>
  settings.oneClickCvv !== false
