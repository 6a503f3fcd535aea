import type { Condition, Endpoint, Field, Group } from '../table.ts'
import { instrumentGroups } from '../tables/tokenization.ts'

/** The fields of an operation's request and answer, from the tables of its endpoint. */
export type Operation = {
  readonly endpoint: Endpoint
  /** Fields a request may hold. */
  readonly fields: readonly Field[]
  /** Ignored fields that deployed clients send. */
  readonly tolerated: readonly Field[]
  /** Names that must be sent. */
  readonly required: readonly string[]
  readonly conditions: readonly Condition[]
  /** Fields an answer may hold. */
  readonly answers: readonly Field[]
  /** Fields of the parts of an answer that have those of other groups, by path and kind. */
  readonly parts: ReadonlyMap<string, readonly Part[]>
}

/** One kind of a part: its name, and its fields from the root of the part. */
export type Part = { readonly kind: string; readonly fields: readonly Field[] }

/**
 * Whether `name` is the entry itself or lies below it (`card` and `card.*` both cover
 * `card.number`).
 */
export function covers(entry: string, name: string): boolean {
  const path = entry.endsWith('.*') ? entry.slice(0, -2) : entry
  return name === path || (name.startsWith(path) && /^[.[]/.test(name.slice(path.length)))
}

function pick(names: readonly string[], groups: readonly Group[], endpoint: Endpoint): Group[] {
  return names.map((name) => {
    const found = groups.find((group) => group.name === name)
    if (found === undefined) {
      throw new Error(`endpoint ${endpoint.operation} names the unknown table "${name}"`)
    }
    return found
  })
}

function mergeRequests(groups: readonly Group[], refused: readonly string[]): Field[] {
  const byName = new Map<string, Field>()
  for (const field of groups.flatMap((group) => group.fields)) {
    if (field.direction === 'response') continue
    if (refused.some((entry) => covers(entry, field.name))) continue
    const earlier = byName.get(field.name)
    if (earlier === undefined) byName.set(field.name, field)
    else if (JSON.stringify(earlier.format) !== JSON.stringify(field.format)) {
      throw new Error(`two tables give ${field.name} different formats`)
    }
  }
  return [...byName.values()]
}

/** The answer row of a field takes the place of its echoed row. */
function mergeAnswers(groups: readonly Group[]): Field[] {
  const byName = new Map<string, Field>()
  for (const field of groups.flatMap((group) => group.fields)) {
    const isAnswered = field.direction === 'response'
    if (isAnswered || (field.direction === 'echoed' && !byName.has(field.name))) {
      byName.set(field.name, field)
    }
  }
  return [...byName.values()]
}

/**
 * An operation on a registration uses a stored instrument: a CVV, a holder or a new expiry can be
 * sent alone, so the required fields and the conditions of the instrument's tables do not apply.
 */
function hasStoredInstrument(endpoint: Endpoint): boolean {
  return endpoint.path.includes('/registrations/{id}')
}

/**
 * A shopper's browser and an update of a checkout send a part of a payment: the complete one is
 * checked by its own tables.
 */
const isPart = ({ login, path }: Endpoint): boolean =>
  login === 'checkout' || path === '/v1/checkouts/{id}'

const optional = (group: Group): Group => ({
  ...group,
  fields: group.fields.map((field) => (field.need === 'R' ? { ...field, need: 'C' } : field)),
  conditions: [],
})

/** Selects the fields of one endpoint. Throws for unknown tables or fields. */
export function operationOf(endpoint: Endpoint, groups: readonly Group[]): Operation {
  const accepted = pick(endpoint.accepts, groups, endpoint).map((group) =>
    isPart(endpoint) || (hasStoredInstrument(endpoint) && instrumentGroups.includes(group.name))
      ? optional(group)
      : group,
  )
  const sent = mergeRequests(accepted, endpoint.refused ?? [])
  const required = endpoint.required ?? []
  for (const name of required) {
    if (!sent.some((field) => field.name === name)) {
      throw new Error(`endpoint ${endpoint.operation} requires ${name}, which it does not accept`)
    }
  }
  return {
    endpoint,
    fields: sent.filter((field) => field.options.tolerated !== true),
    tolerated: sent.filter((field) => field.options.tolerated === true),
    required,
    conditions: accepted.flatMap((group) => group.conditions),
    answers: mergeAnswers(pick(endpoint.answers, groups, endpoint)),
    parts: partsOf(endpoint, groups),
  }
}

function partsOf(endpoint: Endpoint, groups: readonly Group[]): Operation['parts'] {
  return new Map(
    Object.entries(endpoint.contains ?? {}).map(([path, kinds]) => [
      path,
      Object.entries(kinds).map(([kind, names]) => ({
        kind,
        fields: mergeAnswers(pick(names, groups, endpoint)),
      })),
    ]),
  )
}
