/** Loads the data of charges: registrations with their numbers, and the request of the payment. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { formatAmount } from '../money.ts'
import { handlerOf } from '../payment/operation-kinds.ts'
import { payFirst } from '../payment/payments.ts'
import type { Payment } from '../payment/types.ts'
import {
  agreementWanted,
  inAgreement,
  placeOfAccount,
  withAccount,
} from '../registration/account.ts'
import { refuseForeign, refuseForeignNumbers, usable } from '../registration/registrations.ts'
import {
  type AgreementRow,
  agreementsOf,
  registrationsById,
  toRegistration,
} from '../registration/store.ts'
import type { Registration } from '../registration/types.ts'
import type { Unsealed } from '../vault/vault.ts'
import type { ChargeRow } from './store-charge.ts'

export type Loaded = {
  readonly registrations: ReadonlyMap<string, Registration>
  /** By registration: two registrations with one instrument need two look-ups. */
  readonly numbers: ReadonlyMap<string, Unsealed>
  readonly agreements: ReadonlyMap<string, AgreementRow>
}

/** Reads the data of all charges at once. */
export async function load(engine: Engine, rows: readonly ChargeRow[]): Promise<Loaded> {
  const ids = [...new Set(rows.map((row) => row.registration_id))]
  if (ids.length === 0)
    return { registrations: new Map(), numbers: new Map(), agreements: new Map() }
  const found = (await engine.lanes.read(registrationsById(ids, null))).map(toRegistration)
  const wanted = new Map<string, { id: string; agreementId: string | null }>()
  for (const row of rows) {
    const agreement = agreementWanted(row.request as RequestFields)
    if (agreement === undefined) continue
    const { agreementId } = agreement
    wanted.set(agreementKey(row.registration_id, agreementId), {
      id: row.registration_id,
      agreementId,
    })
  }
  const [numbers, agreements] = await Promise.all([
    numbersOfAll(engine, found),
    wanted.size === 0 ? [] : engine.lanes.read(agreementsOf([...wanted.values()])),
  ])
  // A registration without numbers was removed since the read, so a second read finds its state.
  const bare = found.filter(
    ({ id, instrumentId }) => instrumentId !== null && numbers.get(id) === undefined,
  )
  const anew =
    bare.length === 0
      ? []
      : await engine.lanes.read(
          registrationsById(
            bare.map(({ id }) => id),
            null,
          ),
        )
  return {
    registrations: new Map(
      [...found, ...anew.map(toRegistration)].map((registration) => [
        registration.id,
        registration,
      ]),
    ),
    numbers,
    agreements: new Map(agreements.map((row) => [agreementKey(row.id, row.agreement_id), row])),
  }
}

async function numbersOfAll(
  engine: Engine,
  registrations: readonly Registration[],
): Promise<Map<string, Unsealed>> {
  const held = registrations.filter(({ instrumentId }) => instrumentId !== null)
  const places = held.map((one) => placeOfAccount(one, one.instrumentId!))
  const opened = await engine.vault.unsealAll(places)
  return new Map(held.map(({ id }, index) => [id, opened[index]]))
}

const agreementKey = (id: string, agreementId: string | null) => `${id} ${agreementId ?? ''}`

/**
 * Groups executions by the connector of their present or future payment, so that a slow acquirer
 * does not delay the charges of another.
 */
export async function byConnector(
  engine: Engine,
  rows: readonly ChargeRow[],
  { registrations }: Loaded,
): Promise<ChargeRow[][]> {
  const chosen = new Map<string, string>()
  const found = new Map<string, ChargeRow[]>()
  for (const row of rows) {
    const registration = registrations.get(row.registration_id)
    const { method = null, brand = null } = registration ?? {}
    const route = [row.channel_id, row.mode, row.payment_type, row.currency, method, brand].join()
    const known = row.connector ?? chosen.get(route)
    const connector = known ?? (await chosenFor(engine, row, method, brand))
    if (known === undefined) chosen.set(route, connector)
    const same = found.get(connector)
    if (same === undefined) found.set(connector, [row])
    else same.push(row)
  }
  return [...found.values()]
}

/** Name of the connector; empty when none accepts the charge, which then fails with the reason. */
async function chosenFor(
  engine: Engine,
  row: ChargeRow,
  method: string | null,
  brand: string | null,
): Promise<string> {
  const { mode, currency } = row
  const wanted = { mode, kind: handlerOf[row.payment_type]!, method: method as never, brand }
  try {
    const channel = await channelOf(engine, row)
    const target = await engine.targets.choose(channel, { ...wanted, currency })
    return target.loaded.connector.name
  } catch (error) {
    if (error instanceof GatewayError) return ''
    throw error
  }
}

function channelOf(engine: Engine, row: ChargeRow) {
  return engine.directory.channel({ id: 'schedule', entityId: null }, row.channel_id)
}

export type Prepared = {
  readonly registration: Registration
  readonly numbers: Readonly<Record<string, string>>
  readonly fields: RequestFields
}

/** @throws GatewayError when the registration cannot be charged. */
export async function prepared(
  row: ChargeRow,
  { registrations, numbers, agreements }: Loaded,
): Promise<Prepared> {
  const known = registrations.get(row.registration_id)
  if (known === undefined) throw new GatewayError('100.150.200')
  const registration = usable(known)
  const own = registration.instrumentId === null ? {} : numbers.get(registration.id)
  if (own === undefined) throw new GatewayError('100.150.205')
  if (own instanceof GatewayError) throw own
  const sent = {
    ...row.request,
    amount: formatAmount(row.amount_minor, row.currency),
    currency: row.currency,
    paymentType: row.payment_type,
    ...(row.mode === 'LIVE' ? {} : { testMode: row.mode }),
    ...(row.merchant_transaction_id === null
      ? {}
      : { merchantTransactionId: row.merchant_transaction_id }),
  } as unknown as RequestFields
  const fields = withAccount(sent, registration, own)
  const wanted = agreementWanted(fields)
  if (wanted === undefined) return { registration, numbers: own, fields }
  const first = agreements.get(agreementKey(registration.id, wanted.agreementId))
  return { registration, numbers: own, fields: inAgreement(fields, registration, first) }
}

export async function pay(
  engine: Engine,
  row: ChargeRow,
  { registration, numbers, fields }: Prepared,
): Promise<Payment> {
  // The merchants matched at creation: a differing row was not written by the engine.
  await refuseForeign(engine, registration, row.channel_id)
  await refuseForeignNumbers(engine, registration, row.channel_id, numbers)
  const channel = await channelOf(engine, row)
  const { payment } = await payFirst(engine, channel, { fields, names: [] }, null, {
    registrationId: registration.id,
    clockId: row.clock_id,
    scheduled: {
      scheduleId: row.id,
      executionId: row.occurrence_id,
      at: row.at,
      no: attemptsOf(row) + 1,
      previousId: row.payment_id,
    },
  })
  return payment
}

/** Payments of the execution so far. */
export const attemptsOf = (row: ChargeRow) => (row.payment_id === null ? 0 : row.earlier + 1)
