/** Checks the parts of an acquirer account as a person gives them. */
import type { Loaded } from '../connector/registry.ts'
import {
  type AccountSettings,
  fieldsOf,
  isOpen,
  readAccount,
  wrongFields,
} from '../entity/account-settings.ts'
import { readBrands } from '../entity/new-account.ts'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'

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

/**
 * What a person gives now beside the stored settings, checked together and split into open and secret ones.
 *
 * @throws GatewayError naming each wrong setting, and never a value
 */
export function checked(
  loaded: Loaded,
  given: Readonly<Record<string, unknown>>,
  all: Readonly<Record<string, unknown>>,
  as: 'settings' | 'secrets' = 'settings',
): AccountSettings {
  const { problems, ...split } = readAccount(loaded, given, all, as)
  if (problems.length > 0) throw wrongFields(problems)
  return split
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

/** Brands by their codes, each once; an empty list stands for all. @throws GatewayError */
export function checkBrands(given: readonly string[] | null): string[] | null {
  const { brands, problems } = readBrands(given)
  if (problems.length > 0) throw wrongFields(problems)
  return brands
}

/** @throws GatewayError for a text that is no id. */
export function checkId(name: string, id: string | null): void {
  if (id !== null && !isId(id)) throw wrong(name, 'must be 32 lower-case hex characters')
}

export function checkPosition(position: number): number {
  if (Number.isInteger(position) && position >= 0 && position <= highestPosition) return position
  throw wrong('position', `must be a whole number from 0 to ${highestPosition}`)
}
