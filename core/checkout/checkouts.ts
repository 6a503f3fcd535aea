/** Checkouts of merchants: made, changed and removed with a token. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brandOf, brands, limits } from '@tollgate/schemas'
import { businessNow, clockOf } from '../business-time/time.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { refuseUnlessMayMake } from '../caller/rights.ts'
import type { Engine } from '../engine.ts'
import type { Addressee } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { newCheckoutId } from '../ids.ts'
import { modeOf } from '../payment/first-request.ts'
import { numbersOf, withoutSecrets } from '../payment/stored-request.ts'
import { refuseForeign } from '../registration/registrations.ts'
import { registrationsById, toRegistration } from '../registration/store.ts'
import { checkCountries } from '../request/address.ts'
import { checkAmount } from '../request/amount.ts'
import { refuseUnavailable } from '../request/capabilities.ts'
import { refuseOwnNumber } from '../request/own-number.ts'
import { openRequest } from '../request/parse.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { isOn } from '../three-d-secure/plan.ts'
import type { Sealed } from '../vault/vault.ts'
import { channelsOf } from './channels.ts'
import { findFor, noSession, nowOf, stateOf, withPayment } from './find.ts'
import { placeOfSecret, unsealed } from './secrets.ts'
import { addCheckout, changeCheckout, removeCheckout, secretIdOf } from './store.ts'
import type { Checkout } from './types.ts'

/** A checkout, and the hash of its script where the merchant asked for it. */
export type Made = { readonly checkout: Checkout; readonly integrity?: string }

export async function createCheckout(
  engine: Engine,
  caller: Caller,
  request: Request,
): Promise<Made> {
  const { fields } = request
  refuseWithoutFields(engine)
  const addressee = await engine.directory.channel(caller, textOf(fields, 'entityId'))
  const clockId = await clockOf(engine, addressee, fields, null)
  const now = await businessNow(engine, addressee.id, clockId)
  const mode = modeOf(engine, fields)
  const kind = await checkFields(engine, caller, addressee, request, now)
  // Without rules or with closed channels only, the press says so.
  const channels = new Set(channelsOf(addressee).map(({ channel }) => channel.id))
  if (channels.size > 0) await engine.targets.refuseWithoutAcquirer(channels, mode)
  const integrity = integrityOf(engine, fields)
  const id = newCheckoutId(engine.node)
  const checkout: Checkout = {
    id,
    entityId: addressee.id,
    clockId,
    kind,
    mode,
    ...contentOf(fields),
    scriptHash: engine.widget?.scriptHash ?? null,
    createdAt: now,
    expiresAt: new Date(now.getTime() + limits.checkoutLifeMs),
    version: 1,
    paymentId: null,
    earlier: [],
    nonces: [],
    ended: [],
    refusals: 0,
    removedAt: null,
    secretId: null,
  }
  await engine.lanes.single(addCheckout(checkout, seal(engine, checkout, fields)))
  return integrity === undefined ? { checkout } : { checkout, integrity }
}

/** Fields that the request names replace those of the checkout; a group is merged name by name. */
export async function updateCheckout(
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
): Promise<Made> {
  for (;;) {
    const checkout = await findFor(engine, caller, id, textOf(request.fields, 'entityId'))
    // A token that may only charge turns no pay-out into a charge; `checkFields` checks the new types.
    const types = typesOf(checkout.kind, checkout.request as RequestFields)
    refuseUnlessMayMake(engine, caller, types)
    await refuseUnlessFree(engine, checkout)
    const { entityId: _, integrity: _integrity, ...changes } = request.fields
    const before = { ...checkout.request, ...listOf(checkout) }
    const values = merged(merged(before, await unsealed(engine, checkout)), changes)
    const whole = openRequest('checkouts.create', { values, stored: before }).check()
    const fields = whole.request as RequestFields
    const addressee = await engine.directory.channel(caller, checkout.entityId)
    const now = await nowOf(engine, checkout)
    const kind = await checkFields(engine, caller, addressee, { fields, names: whole.names }, now)
    const changed = { ...checkout, ...contentOf(fields), kind }
    const [done] = await engine.lanes.single(
      changeCheckout(changed, seal(engine, checkout, fields)),
    )
    // A shopper's submission or another change came first: the new state decides.
    if (done === undefined) continue
    const integrity = await keptIntegrity(engine, request.fields, checkout)
    return integrity === undefined ? { checkout: changed } : { checkout: changed, integrity }
  }
}

export async function endCheckout(
  engine: Engine,
  caller: Caller,
  id: string,
  fields: RequestFields,
): Promise<Checkout> {
  for (;;) {
    const checkout = await findFor(engine, caller, id, textOf(fields, 'entityId'))
    const { kind, request } = checkout
    refuseUnlessMayMake(engine, caller, typesOf(kind, request as RequestFields))
    await refuseUnlessFree(engine, checkout)
    const at = await nowOf(engine, checkout)
    const [removed] = await engine.lanes.single(removeCheckout(checkout, at))
    if (removed !== undefined) return { ...checkout, removedAt: at }
  }
}

/** @throws GatewayError 400 for a checkout that is removed, expired, paid or about to be. */
async function refuseUnlessFree(engine: Engine, checkout: Checkout): Promise<void> {
  if (checkout.removedAt !== null) throw noSession('the checkout was removed')
  const state = await stateOf(engine, await withPayment(engine, checkout))
  if (state === 'paid') throw refuse('200.300.404', 'id', 'names a checkout that is paid')
  if (state === 'busy') {
    throw refuse('200.300.404', 'id', 'names a checkout whose shopper is paying at this moment')
  }
  if (checkout.expiresAt <= (await nowOf(engine, checkout))) {
    throw noSession('the checkout has expired')
  }
}

const types = new Set(['PA', 'DB', 'CD'])

/** Checks all that does not depend on the shopper, so that no shopper meets an error of the merchant. */
async function checkFields(
  engine: Engine,
  caller: Caller,
  addressee: Addressee,
  { fields, names }: Request,
  now: Date,
): Promise<Checkout['kind']> {
  const type = textOf(fields, 'paymentType')
  const isStoring = textOf(fields, 'createRegistration') === 'true'
  const kind = type === undefined && isStoring ? 'registration' : 'payment'
  refuseUnlessMayMake(engine, caller, typesOf(kind, fields))
  if (kind === 'payment') checkPayment(addressee, fields, type, now)
  checkCountries(fields)
  refuseOwnNumber(numbersOf(fields), names)
  await checkRegistrations(engine, addressee, fields)
  return kind
}

function checkPayment(
  addressee: Addressee,
  fields: RequestFields,
  type: string | undefined,
  now: Date,
): void {
  const missing = ['amount', 'currency', 'paymentType'].filter(
    (name) => textOf(fields, name) === undefined,
  )
  if (missing.length > 0) {
    throw new GatewayError('200.300.404', {
      parameterErrors: missing.map((name) => ({
        name,
        message:
          'required, unless createRegistration=true is sent without paymentType to store an account only',
      })),
    })
  }
  const overrides = Object.entries(groupOf(fields, 'overridePaymentType') ?? {})
  for (const [brand] of overrides) refuseUnknownBrand(brand)
  const sent = [['paymentType', type], ...overrides.map(([brand, one]) => [named(brand), one])]
  for (const [name, value] of sent as [string, string][]) {
    if (!types.has(value)) {
      throw refuse('200.300.404', name, 'a checkout is paid with PA, DB or CD', value)
    }
  }
  refuseUnavailable(fields, type ?? '', addressee.rules !== undefined || isOn(addressee))
  checkAmount(fields, { now, followUp: false })
}

function refuseUnknownBrand(name: string): void {
  if (brandOf(name) !== undefined) return
  const plain = (text: string) => text.toUpperCase().replace(/[^A-Z0-9]/g, '')
  const meant = brands.find(({ code, title }) => [code, title].map(plain).includes(plain(name)))
  const hint = meant === undefined ? '' : `; ${meant.title} has the code ${meant.code}`
  throw refuse('200.300.404', named(name), `names no known brand${hint}`)
}

/** Who stores an account may charge it. Changes of a part need the rights to the whole. */
const typesOf = (kind: Checkout['kind'], fields: RequestFields): string[] =>
  kind === 'registration' ? ['PA'] : typesIn(fields)

const typesIn = (fields: RequestFields): string[] =>
  [
    textOf(fields, 'paymentType'),
    ...Object.values(groupOf(fields, 'overridePaymentType') ?? {}),
  ].filter((type) => typeof type === 'string')

const named = (brand: string) => `overridePaymentType[${brand}]`

async function checkRegistrations(
  engine: Engine,
  addressee: Addressee,
  fields: RequestFields,
): Promise<void> {
  const ids = registrationsIn(fields)
  if (ids.length === 0) return
  if (ids.length > limits.checkoutRegistrations) {
    const most = `may have at most ${limits.checkoutRegistrations} entries`
    throw refuse('200.300.404', 'registrations', most)
  }
  const asIds = ids.map((id) => (/^[0-9a-f]{32}$/.test(id) ? id : '0'.repeat(32)))
  const rows = await engine.lanes.read(registrationsById(asIds, null))
  const known = new Map(rows.map((row) => [row.id, toRegistration(row)]))
  for (const [index, id] of ids.entries()) {
    const name = `registrations[${index}].id`
    const registration = known.get(id)
    if (registration === undefined) {
      throw refuse('100.150.200', name, 'names no registration of this merchant', id)
    }
    await refuseForeign(engine, registration, addressee.id).catch(() => {
      throw refuse('100.150.200', name, 'names no registration of this merchant', id)
    })
  }
}

function registrationsIn(fields: RequestFields): string[] {
  const { registrations } = fields as { registrations?: readonly { id?: string }[] }
  return [...new Set((registrations ?? []).flatMap(({ id }) => (id === undefined ? [] : [id])))]
}

const listOf = ({ registrations }: Checkout) =>
  registrations.length === 0 ? {} : { registrations: registrations.map((id) => ({ id })) }

function contentOf(fields: RequestFields) {
  const { registrations: _, integrity: _integrity, testClock: _clock, ...rest } = fields
  return {
    request: withoutSecrets(rest, {}),
    registrations: registrationsIn(fields),
  }
}

function seal(engine: Engine, { id, entityId }: Checkout, fields: RequestFields): Sealed | null {
  const numbers = numbersOf(fields)
  if (Object.keys(numbers).length === 0) return null
  return engine.vault.seal(placeOfSecret(secretIdOf(id), entityId), numbers)
}

/** A script that got into another page of the same origin could read card fields. */
function refuseWithoutFields({ environment, fieldsUrl }: Engine): void {
  if (environment === 'test' || fieldsUrl !== undefined) return
  throw new GatewayError('600.200.200', {
    status: 400,
    description:
      'invalid payment method: this installation takes no checkouts, its operator has to set the origin of card fields (fieldsUrl)',
  })
}

/** The page goes on with the script that the checkout was made with, also after a deployment. */
async function keptIntegrity(
  engine: Engine,
  fields: RequestFields,
  { scriptHash }: Checkout,
): Promise<string | undefined> {
  const present = integrityOf(engine, fields)
  if (present === undefined || scriptHash === null) return present
  return (await engine.widgetFiles.integrityOf(scriptHash)) ?? present
}

function integrityOf({ widget }: Engine, fields: RequestFields): string | undefined {
  if (textOf(fields, 'integrity') !== 'true') return undefined
  if (widget !== undefined) return widget.integrity
  throw refuse('600.200.200', 'integrity', 'is not available: this installation serves no widget')
}

type Tree = Readonly<Record<string, unknown>>

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Lists are replaced as a whole. */
export function merged(before: Tree, changes: Tree): Tree {
  const whole: Record<string, unknown> = { ...before }
  for (const [name, value] of Object.entries(changes)) {
    const old = whole[name]
    whole[name] = isTree(old) && isTree(value) ? merged(old, value) : value
  }
  return whole
}
