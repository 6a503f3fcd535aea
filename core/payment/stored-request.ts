/** Which parts of a request are stored, which are shown, and which are neither. */
import { endpoints, type Field, groups, instrumentGroups } from '@tollgate/schemas'
import type { StoredRequest } from './types.ts'

type Fields = { readonly [name: string]: unknown }

const secretClasses = new Set(['pan', 'sad', 'secret'])

/** Group -> names that are never stored in clear. Every secret field is `group.name`. */
const secretsOf = new Map<string, Set<string>>()
for (const field of groups.flatMap((group) => group.fields)) {
  if (field.direction === 'response' || !secretClasses.has(field.class)) continue
  const [top, name, ...deeper] = field.name.split('.')
  if (top === undefined || name === undefined || deeper.length > 0 || field.name.includes('[')) {
    throw new Error(`${field.name} is of class ${field.class}: a secret field is always group.name`)
  }
  const names = secretsOf.get(top) ?? new Set()
  secretsOf.set(top, names.add(name))
}

/** Fields that have no use after routing. */
const routing = new Set(['entityId', 'testMode', 'authentication'])

/** The request without values of class pan, sad or secret. `add` replaces or adds groups. */
export function withoutSecrets(
  request: Fields,
  add: Readonly<Record<string, Fields>>,
): StoredRequest {
  const stored: Record<string, unknown> = {}
  for (const top in request) {
    if (routing.has(top)) continue
    const value = request[top]
    const secrets = secretsOf.get(top)
    if (secrets === undefined) stored[top] = value
    else stored[top] = without(value as Fields, secrets)
  }
  for (const top in add) stored[top] = { ...(stored[top] as Fields | undefined), ...add[top] }
  return stored
}

function without(group: Fields, names: ReadonlySet<string>): Fields {
  const kept: Record<string, unknown> = {}
  for (const name in group) if (!names.has(name)) kept[name] = group[name]
  return kept
}

const accountGroups = [
  ...instrumentGroups,
  'customer',
  'billing',
  'standingInstruction',
  'customParameters',
  'recurringMigration',
]

/** The part of a stored request about the account and its owner, which a registration keeps. */
export function accountPart(stored: StoredRequest): StoredRequest {
  const part: Record<string, unknown> = {}
  for (const top of accountGroups) if (stored[top] !== undefined) part[top] = stored[top]
  return part
}

/** The time of the owner's expiry notice: the first day of the account's last month. */
export function noticeAt(stored: StoredRequest): Date | null {
  for (const name of ['card', 'tokenAccount']) {
    const { expiryYear, expiryMonth } = (stored[name] ?? {}) as Readonly<Record<string, unknown>>
    if (typeof expiryYear !== 'string' || typeof expiryMonth !== 'string') continue
    return new Date(Date.UTC(Number(expiryYear), Number(expiryMonth) - 1))
  }
  return null
}

/** Values of class pan in the request, by full name, for the vault. */
export function numbersOf(request: Fields): Record<string, string> {
  const numbers: Record<string, string> = {}
  for (const [top, names] of panOf) {
    const group = request[top]
    if (typeof group !== 'object' || group === null) continue
    for (const name of names) {
      const value = (group as Fields)[name]
      if (typeof value === 'string') numbers[`${top}.${name}`] = value
    }
  }
  return numbers
}

const panOf = new Map<string, string[]>()
for (const field of groups.flatMap((group) => group.fields)) {
  if (field.direction === 'response' || field.class !== 'pan') continue
  const [top, name] = field.name.split('.') as [string, string]
  const names = panOf.get(top) ?? []
  if (!names.includes(name)) panOf.set(top, [...names, name])
}

/** Parts of a request that responses omit: a node drops names, or descends. */
type Hidden = { readonly drop: Set<string>; readonly below: Map<string, Hidden> }

const hidden: Hidden = { drop: new Set(), below: new Map() }
/** Groups of the answers about what was stored: a field of a report may have the same name. */
const readers = new Set(['payments.get', 'registrations.create', 'schedules.get'])
const answering = new Set(
  endpoints.filter(({ operation }) => readers.has(operation)).flatMap(({ answers }) => answers),
)
const shown = new Set(
  groups.flatMap((group) =>
    group.fields
      .filter(
        (field) => isShown(field) && (field.direction === 'echoed' || answering.has(group.name)),
      )
      .map((field) => field.name),
  ),
)
for (const field of groups.flatMap((group) => group.fields)) {
  if (isShown(field) || shown.has(field.name)) continue
  const parts = field.name.replaceAll(/\[[a-z]+\]/g, '').split('.')
  let node: Hidden = hidden
  for (const part of parts.slice(0, -1)) {
    const next: Hidden = node.below.get(part) ?? { drop: new Set(), below: new Map() }
    node.below.set(part, next)
    node = next
  }
  node.drop.add(parts.at(-1)!)
}

function isShown(field: Field): boolean {
  return field.direction === 'echoed' || field.direction === 'response'
}

/** The part of a stored request that responses return. */
export function echoed(stored: StoredRequest): Record<string, unknown> {
  return visible(stored, hidden) as Record<string, unknown>
}

function visible(value: unknown, node: Hidden): unknown {
  if (Array.isArray(value)) return value.map((element) => visible(element, node))
  if (typeof value !== 'object' || value === null) return value
  const kept: Record<string, unknown> = {}
  for (const name in value) {
    if (node.drop.has(name)) continue
    const inner = (value as Fields)[name]
    const below = node.below.get(name)
    const result = below === undefined ? inner : visible(inner, below)
    if (typeof result === 'object' && result !== null && isEmpty(result)) continue
    kept[name] = result
  }
  return kept
}

function isEmpty(value: object): boolean {
  for (const _ in value) return false
  return true
}
