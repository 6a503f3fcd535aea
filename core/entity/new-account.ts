/** Reads a new acquirer account as a program or a person gives it, and names everything that is wrong at once. */
import { brandOf, brands as knownBrands } from '@tollgate/schemas'
import { unknownOptions } from '../caller/call-options.ts'
import type { Registry } from '../connector/registry.ts'
import type { ParameterError } from '../errors.ts'
import { suggest, vocabularyOf } from '../near-name.ts'
import { printableName } from '../request/names.ts'
import { type AccountSettings, readAccount } from './account-settings.ts'
import type { EntityRow } from './store.ts'

export type NewAccount = {
  readonly channelId: string
  readonly connector: string
  readonly mode: 'EXTERNAL' | 'LIVE'
  /** Brands of the account. Default: all. */
  readonly brands?: readonly string[]
  /** Settings of the connector's table `account`. Secret ones are sealed. */
  readonly settings: Readonly<Record<string, unknown>>
}

const names: Readonly<Record<keyof NewAccount, true>> = {
  ...{ channelId: true, connector: true, mode: true, brands: true, settings: true },
}

type Read = AccountSettings & {
  readonly channelId: string
  readonly connector: string
  readonly mode: NewAccount['mode']
  readonly brands: string[] | null
}

type Places = { readonly environment: 'test' | 'live'; readonly registry: Registry }

type Unchecked = Readonly<Partial<Record<keyof NewAccount, unknown>>>

/** @param channel the entity that `channelId` names, of whatever kind. */
export function readNewAccount(
  account: unknown,
  channel: EntityRow | undefined,
  { environment, registry }: Places,
): { readonly read?: Read; readonly problems: readonly ParameterError[] } {
  const { channelId, connector, mode, ...rest } = Object(account) as Unchecked
  const loaded = typeof connector === 'string' ? registry.get(connector) : undefined
  const { settings = {} } = rest
  const isGroup = typeof settings === 'object' && settings !== null && !Array.isArray(settings)
  const given = isGroup ? (settings as Readonly<Record<string, unknown>>) : {}
  const { problems: wrongSettings = [], ...split } =
    loaded === undefined ? { open: {}, secrets: {} } : readAccount(loaded, given)
  const { brands, problems: wrongBrands } = readBrands(rest.brands ?? null)
  const own = environment === 'live' ? 'LIVE' : 'EXTERNAL'
  const problems = [
    ...(unknownOptions(account, Object.keys(names))?.parameterErrors ?? []),
    ...channelProblem(channelId, channel),
    ...(loaded === undefined ? [connectorProblem(connector, registry.names())] : []),
    ...(mode === own
      ? []
      : [{ name: 'mode', message: `must be ${own} in the ${environment} environment` }]),
    ...wrongBrands,
    ...(isGroup ? wrongSettings : [{ name: 'settings', message: 'must be an object' }]),
  ]
  if (problems.length > 0 || channel === undefined || loaded === undefined) return { problems }
  const { name } = loaded.connector
  return {
    read: { ...split, channelId: channel.id, connector: name, mode: own, brands },
    problems,
  }
}

function channelProblem(given: unknown, channel: EntityRow | undefined): ParameterError[] {
  if (channel?.kind === 'channel') return []
  const what = channel === undefined ? '' : `, and this is the id of a ${channel.kind}`
  const message =
    given === undefined ? 'is missing: the id of a channel' : `must be the id of a channel${what}`
  return [{ name: 'channelId', message }]
}

function connectorProblem(given: unknown, known: readonly string[]): ParameterError {
  const name = 'connector'
  const there = `the name of an installed connector: ${known.join(', ')}`
  if (given === undefined) return { name, message: `is missing: ${there}` }
  const meant = typeof given === 'string' ? suggest(given, vocabularyOf(known)) : undefined
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return { name, message: `must be ${there}${hint}` }
}

/** Brands by their codes, each once; null and an empty list stand for all. */
export function readBrands(given: unknown): {
  readonly brands: string[] | null
  readonly problems: readonly ParameterError[]
} {
  if (given === null) return { brands: null, problems: [] }
  if (!Array.isArray(given)) {
    const message = "must be a list of brands such as ['VISA']"
    return { brands: null, problems: [{ name: 'brands', message }] }
  }
  const found = given.map((name: unknown) => brandOf(String(name))?.code)
  const unknown = given.filter((_, at) => found[at] === undefined)
  const wanted = [...new Set(found.filter((code) => code !== undefined))]
  return {
    brands: wanted.length === 0 ? null : wanted,
    problems: unknown.map((name) => ({ name: 'brands', message: unknownBrand(String(name)) })),
  }
}

/** The codes of brands by what people write for them. */
const codes = new Map(
  knownBrands.flatMap(({ code, aliases, title }) =>
    [code, ...aliases, title].map((name) => [name, code]),
  ),
)

function unknownBrand(name: string): string {
  const meant = codes.get(suggest(name, vocabularyOf(codes.keys())) ?? '')
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return `has the unknown brand ${printableName(name).slice(0, 32)}${hint}`
}
