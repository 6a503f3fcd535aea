/** Checks the parts of an acquirer account as a person gives them. */
import { PluginError } from '@tollgate/plugin-kit'
import { brandOf, brands } from '@tollgate/schemas'
import type { Loaded } from '../connector/registry.ts'
import { checkGiven, fieldsOf, isOpen, splitSettings } from '../entity/account-settings.ts'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { suggest, vocabularyOf } from '../near-name.ts'

const highestPosition = 1_000

export const wrong = (name: string, message: string, status = 400) =>
  new GatewayError('200.300.404', {
    status,
    parameterErrors: [{ name, message }],
    description: `${name} ${message}`,
  })

/** The account that this change was planned on is another one by now. */
export const changedMeanwhile = () =>
  wrong('id', 'is an account that somebody else has just changed: look at it again', 409)

/** The same for an account that somebody may not see. */
export const noSuchAccount = () =>
  new GatewayError('700.400.580', { status: 404, description: 'there is no such account' })

/** All settings of an account, checked together, and split into open and secret ones. @throws GatewayError */
export const split = (
  loaded: Loaded,
  all: Readonly<Record<string, unknown>>,
): ReturnType<typeof splitSettings> => {
  if (loaded.connector.account === undefined) none(all, loaded.connector.name)
  return checkedBy('settings', () => splitSettings(loaded, all))
}

/** What a person gives now. @throws GatewayError naming each wrong setting, and never a value */
export function checkNew(
  loaded: Loaded,
  given: Readonly<Record<string, unknown>>,
  name: 'settings' | 'secrets' = 'settings',
): void {
  if (loaded.connector.account !== undefined) checkedBy(name, () => checkGiven(loaded, given))
}

function none(given: Readonly<Record<string, unknown>>, connector: string): void {
  if (Object.keys(given).length === 0) return
  throw wrong('settings', `must be empty: ${connector} has no settings`)
}

/** The sentences of a settings table name every setting and never a secret value. */
function checkedBy<T>(name: string, check: () => T): T {
  try {
    return check()
  } catch (thrown) {
    if (thrown instanceof PluginError) throw wrong(name, `are wrong: ${thrown.message}`)
    throw thrown
  }
}

/** @throws GatewayError when a name in `given` is no setting of the wanted kind. */
export function refuseOthers(
  loaded: Loaded,
  given: Readonly<Record<string, unknown>>,
  kind: 'open' | 'secret',
): void {
  const fields = fieldsOf(loaded)
  for (const name of Object.keys(given)) {
    const field = fields.find((one) => one.name === name)
    if (field === undefined || isOpen(field) === (kind === 'open')) continue
    throw kind === 'open'
      ? wrong('settings', `must not have the secret ${name}: rotate replaces secrets`)
      : wrong('secrets', `must not have ${name}, which is an open setting: set changes it`)
  }
}

/** Brands by their codes, each once; an empty list stands for all. */
export function checkBrands(brands: readonly string[] | null): string[] | null {
  if (brands === null || brands.length === 0) return null
  const codes = brands.map((name) => {
    const brand = brandOf(name)
    if (brand === undefined) throw wrong('brands', unknownBrand(name))
    return brand.code
  })
  return [...new Set(codes)]
}

/** The codes of brands by what people write for them. */
const codes = new Map(
  brands.flatMap(({ code, aliases, title }) =>
    [code, ...aliases, title].map((name) => [name, code]),
  ),
)

function unknownBrand(name: string): string {
  const meant = codes.get(suggest(name, vocabularyOf(codes.keys())) ?? '')
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return `has the unknown brand ${name.slice(0, 32)}${hint}`
}

/** @throws GatewayError for a text that is no id. */
export function checkId(name: string, id: string | null): void {
  if (id !== null && !isId(id)) throw wrong(name, 'must be 32 lower-case hex characters')
}

export function checkPosition(position: number): number {
  if (Number.isInteger(position) && position >= 0 && position <= highestPosition) return position
  throw wrong('position', `must be a whole number from 0 to ${highestPosition}`)
}
