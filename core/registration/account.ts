/** Combines a request with the account of a registration. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brandOf, instrumentGroups, limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { placeOf } from '../payment/instrument.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import type { Place } from '../vault/binding.ts'
import { type AgreementRow, agreementsOf, registrationById } from './store.ts'
import type { Registration } from './types.ts'

/** The visible digits of a number, derived from the number itself each time. */
const shown = new Set(['bin', 'last4Digits'])

/**
 * The vault binds the sealed numbers of a registration to this place. Another registration with the
 * same instrument id opens nothing.
 */
export const placeOfAccount = (registration: Registration, instrumentId: string): Place =>
  placeOf({ id: instrumentId, channelId: registration.channelId, registrationId: registration.id })

/**
 * The sealed numbers by full name; none for an account without a number.
 *
 * @throws GatewayError 100.150.202 when the registration was removed since the read, 100.150.205
 * when its numbers are gone.
 */
export async function numbersOf(
  engine: Pick<Engine, 'lanes' | 'vault'>,
  registration: Registration,
): Promise<Readonly<Record<string, string>>> {
  if (registration.instrumentId === null) return {}
  const numbers = await engine.vault.unseal(placeOfAccount(registration, registration.instrumentId))
  if (numbers !== undefined) return numbers
  const [row] = await engine.lanes.read(registrationById(registration.id, null))
  throw new GatewayError(row?.removed_at == null ? '100.150.205' : '100.150.202')
}

/** The groups of the stored account with their numbers. Fields in `sent` take precedence. */
function accountOf(
  registration: Registration,
  numbers: Readonly<Record<string, string>>,
  sent: RequestFields,
): Record<string, RequestFields> {
  const account: Record<string, RequestFields> = {}
  for (const name of instrumentGroups) {
    const stored = groupOf(registration.request as RequestFields, name)
    if (stored === undefined) continue
    const kept = Object.entries(stored).filter(([field]) => !shown.has(field))
    const own = Object.entries(numbers)
      .filter(([full]) => full.startsWith(`${name}.`))
      .map(([full, number]) => [full.slice(name.length + 1), number] as const)
    account[name] = Object.fromEntries([
      ...kept,
      ...own,
      ...Object.entries(groupOf(sent, name) ?? {}),
    ]) as RequestFields
  }
  return account
}

/**
 * A payment's request with its account. The stored holder stays, unless the field is empty and may
 * be filled.
 */
export function withAccount(
  fields: RequestFields,
  registration: Registration,
  numbers: Readonly<Record<string, string>>,
): RequestFields {
  refuseOtherBrand(registration, fields)
  const sent: Record<string, RequestFields[string]> = { ...fields }
  for (const name of ['card', 'bankAccount']) {
    const group = groupOf(fields, name)
    if (textOf(group, 'holder') === undefined) continue
    const stored = textOf(groupOf(registration.request as RequestFields, name), 'holder')
    const mayFill = stored === undefined && textOf(fields, 'overrideHolder') === 'true'
    const { holder: _, ...rest } = group!
    if (!mayFill) sent[name] = rest as RequestFields
  }
  const account = accountOf(registration, numbers, sent as RequestFields)
  for (const name of instrumentGroups) if (account[name] === undefined) delete sent[name]
  return { ...sent, ...account, paymentBrand: registration.brand } as RequestFields
}

/** The changed content of a registration, with its numbers, for the checks of an account. */
export function changed(
  fields: RequestFields,
  registration: Registration,
  numbers: Readonly<Record<string, string>>,
): RequestFields {
  refuseOtherBrand(registration, fields)
  const whole: Record<string, unknown> = { ...registration.request }
  for (const name of ['customer', 'billing', 'standingInstruction', 'customParameters']) {
    const sent = groupOf(fields, name)
    if (sent !== undefined) whole[name] = { ...(whole[name] as object | undefined), ...sent }
  }
  return {
    ...whole,
    ...accountOf(registration, numbers, fields),
    paymentBrand: registration.brand,
  } as RequestFields
}

/**
 * A registration holds at most the custom parameters of one request, however many changes add to them.
 *
 * @throws GatewayError 200.300.404
 */
export function refuseTooMuch(whole: RequestFields): void {
  const own = Object.entries(groupOf(whole, 'customParameters') ?? {})
  const bytes = own.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(`customParameters[${name}]${String(value)}`),
    0,
  )
  if (bytes <= limits.ownNamesBytes) return
  throw refuse(
    '200.300.404',
    'customParameters',
    `of the registration would exceed ${limits.ownNamesBytes} bytes, names included; a change keeps those that it does not name`,
  )
}

/** @throws GatewayError 700.100.400 */
export function refuseOtherBrand(registration: Registration, fields: RequestFields): void {
  const sent = textOf(fields, 'paymentBrand')
  if (sent === undefined || brandOf(sent)?.code === registration.brand) return
  throw refuse(
    '700.100.400',
    'paymentBrand',
    `the registration has the brand ${registration.brand}`,
    sent,
  )
}

/**
 * A later payment of an agreement, initiated by the merchant, refers to the first payment at the
 * scheme. The merchant's own reference takes precedence; a registration from another gateway brings
 * its reference along.
 */
export async function withAgreement(
  engine: Pick<Engine, 'lanes'>,
  fields: RequestFields,
  registration: Registration,
): Promise<RequestFields> {
  const wanted = agreementWanted(fields)
  if (wanted === undefined) return fields
  const [first] = await engine.lanes.read(
    agreementsOf([{ id: registration.id, agreementId: wanted.agreementId }]),
  )
  return inAgreement(fields, registration, first)
}

/** The agreement that a request continues; undefined when the request begins one or has none. */
export function agreementWanted(
  fields: RequestFields,
): { readonly agreementId: string | null } | undefined {
  const standing = groupOf(fields, 'standingInstruction')
  if (textOf(standing, 'mode') !== 'REPEATED') return undefined
  return { agreementId: textOf(standing, 'agreementId') ?? null }
}

/** The request with the reference to the first payment of its agreement. */
export function inAgreement(
  fields: RequestFields,
  registration: Registration,
  first: AgreementRow | undefined,
): RequestFields {
  const standing = groupOf(fields, 'standingInstruction')
  const moved = groupOf(registration.request as RequestFields, 'recurringMigration')
  const migrated = textOf(moved, 'connectorTxId1')
  // The verification at this gateway is younger than the imported agreement.
  const initialTransactionId =
    first?.is_verification === true ? (migrated ?? first.reference) : (first?.reference ?? migrated)
  return {
    ...fields,
    standingInstruction: {
      ...(initialTransactionId === undefined ? {} : { initialTransactionId }),
      ...(first?.agreement == null ? {} : { agreementId: first.agreement }),
      ...standing,
    },
  } as RequestFields
}
