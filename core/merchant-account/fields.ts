/** Checks the parts of an acquirer account as a person gives them. */
import { PluginError } from '@tollgate/plugin-kit'
import { brandOf, type Field } from '@tollgate/schemas'
import type { Loaded } from '../connector/registry.ts'
import { checkSettings } from '../connector/settings.ts'
import { GatewayError } from '../errors.ts'

const highestPosition = 1_000

export const wrong = (name: string, message: string) =>
  new GatewayError('200.300.404', {
    parameterErrors: [{ name, message }],
    description: `${name} ${message}`,
  })

/** The same for an account that somebody may not see. */
export const noSuchAccount = () =>
  new GatewayError('700.400.580', { status: 404, description: 'there is no such account' })

export const isOpen = ({ class: kind }: Pick<Field, 'class'>) => kind === 'none'

export const fieldsOf = ({ connector }: Loaded): readonly Field[] => connector.account?.fields ?? []

/** All settings of an account, checked together, and split into open and secret ones. */
export function split(
  loaded: Loaded,
  given: Readonly<Record<string, unknown>>,
): { open: Record<string, unknown>; secrets: Record<string, string> } {
  const { account, name } = loaded.connector
  const checked = checkedBy(() =>
    account === undefined ? none(given, name) : checkSettings(account, given, `account of ${name}`),
  )
  const open: Record<string, unknown> = {}
  const secrets: Record<string, string> = {}
  for (const field of fieldsOf(loaded)) {
    const value = checked[field.name]
    if (value === undefined) continue
    if (isOpen(field)) open[field.name] = value
    else secrets[field.name] = String(value)
  }
  return { open, secrets }
}

function none(given: Readonly<Record<string, unknown>>, connector: string): Record<string, never> {
  const [name] = Object.keys(given)
  if (name !== undefined) throw wrong('settings', `must be empty: ${connector} has no settings`)
  return {}
}

/** The sentences of a settings table name every setting and never a secret value. */
function checkedBy<T>(check: () => T): T {
  try {
    return check()
  } catch (thrown) {
    if (thrown instanceof PluginError) throw wrong('settings', `are wrong: ${thrown.message}`)
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
    if (brand === undefined) throw wrong('brands', `has the unknown brand ${name.slice(0, 32)}`)
    return brand.code
  })
  return [...new Set(codes)]
}

export function checkPosition(position: number): number {
  if (Number.isInteger(position) && position >= 0 && position <= highestPosition) return position
  throw wrong('position', `must be a whole number from 0 to ${highestPosition}`)
}
