import type { Field } from '../table.ts'
import { type ValueSchema, valueSchema } from './format.ts'
import type { Operation, Part } from './operation.ts'
import { type List, type Shape, type Tree, treeOf } from './tree.ts'

export type Schema =
  | ValueSchema
  | { type: 'boolean' }
  | { type: 'integer'; minimum: number; maximum: number }
  | ObjectSchema
  | ListSchema
  | { $ref: string }
  | { anyOf: { $ref: string }[] }
export type ListSchema = { type: 'array'; items: Schema; maxItems: number }
export type ObjectSchema = {
  $schema?: string
  $id?: string
  title: string
  type: 'object'
  properties: Record<string, Schema & { description?: string }>
  propertyNames?: Schema
  required?: string[]
  additionalProperties: boolean | Schema
}

/** Groups shared by several operations, by their name under `$defs`. */
export type Definitions = Map<string, ObjectSchema>

export const dialect = 'https://json-schema.org/draft/2020-12/schema'
export const definitionsFile = 'definitions.json'

/** `cart.items[n]` is a `CartItem`, `deliveries[n]` a `Delivery`, `customer.browser` a `CustomerBrowser`. */
export function typeName(path: string): string {
  const words =
    path
      .replaceAll('ies[n]', 'y')
      .replaceAll('s[n]', '')
      .replaceAll('[n]', '')
      .match(/[A-Za-z0-9]+/g) ?? []
  return words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')
}

type Writing = {
  definitions: Definitions
  /** Distinguishes definitions of one path that differ between operations. */
  owner: string
  suffix: string
  required: ReadonlySet<string>
  isRequired: (field: Field) => boolean
  closed: boolean
  /** Parts with the fields of other groups, by path. */
  parts: ReadonlyMap<string, readonly Part[]>
}

/**
 * The nested JSON Schema of an operation's request. Groups go to `definitions` and are referenced.
 */
export function requestSchema(operation: Operation, definitions: Definitions): ObjectSchema {
  return writeRoot(operation.endpoint.operation, 'Request', operation.fields, {
    definitions,
    owner: typeName(operation.endpoint.operation),
    suffix: '',
    required: withParents(operation.required),
    isRequired: (field) => field.need === 'R' && stepsBelowRoot(field) > 0,
    closed: true,
    parts: new Map(),
  })
}

/** Groups that no answer that may have them lacks. */
const alwaysAnswered: ReadonlySet<string> = new Set(['result', 'payload'])

/** The JSON Schema of an operation's answer. Answers may grow, so they stay open. */
export function answerSchema(operation: Operation, definitions: Definitions): ObjectSchema {
  return writeRoot(operation.endpoint.operation, 'Answer', operation.answers, {
    definitions,
    owner: typeName(operation.endpoint.operation),
    suffix: 'Answer',
    required: alwaysAnswered,
    isRequired: (field) => field.need === 'R' && field.direction === 'response',
    closed: false,
    parts: operation.parts,
  })
}

/** The JSON Schema of an answer that has exactly these fields, for parts of the OpenAPI document. */
export function fieldsSchema(
  title: string,
  fields: readonly Field[],
  definitions: Definitions,
): ObjectSchema {
  return writeShape(
    treeOf(fields),
    {
      definitions,
      owner: title,
      suffix: 'Answer',
      required: alwaysAnswered,
      isRequired: (field) => field.need === 'R',
      closed: false,
      parts: new Map(),
    },
    title,
  )
}

/** A field at the top is required by its operation, not by its table. */
const stepsBelowRoot = (field: Field) => (field.name.match(/[.[]/g) ?? []).length

/** `job.name` as a required name also makes `job` required. */
function withParents(names: readonly string[]): Set<string> {
  const all = new Set<string>()
  for (const name of names) {
    for (let end = name.length; end > 0; end = name.lastIndexOf('.', end - 1)) {
      all.add(name.slice(0, end))
    }
  }
  return all
}

function writeRoot(
  operation: string,
  kind: 'Request' | 'Answer',
  fields: readonly Field[],
  writing: Writing,
): ObjectSchema {
  const root = writeShape(treeOf(fields), writing, typeName(operation) + kind)
  const folder = kind === 'Request' ? 'requests' : 'answers'
  return { $schema: dialect, $id: `${folder}/${operation}.json`, ...root }
}

function writeShape(node: Shape, writing: Writing, title: string): ObjectSchema {
  const properties: ObjectSchema['properties'] = {}
  const required: string[] = []
  for (const [key, member] of node.members) {
    properties[key] = writeTree(member, writing)
    const name = node.path === '' ? key : `${node.path}.${key}`
    const byTable = member.kind === 'value' && writing.isRequired(member.field)
    if (byTable || writing.required.has(name)) required.push(key)
  }
  return {
    title,
    type: 'object',
    properties,
    ...(node.free === undefined
      ? {}
      : { propertyNames: keySchema(node.free, [...node.members.keys()]) }),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties:
      node.free === undefined ? !writing.closed : describedValue(node.free, writing),
  }
}

/** The pattern of free keys; fixed keys beside them are listed apart. */
function keySchema(field: Field, fixed: readonly string[]): Schema {
  const { pattern, max } = field.options.key ?? { pattern: '[^.\\[\\]]{1,64}', max: 64 }
  const free: ValueSchema = { type: 'string', maxLength: max, pattern: `^(?:${pattern})$` }
  return fixed.length === 0
    ? free
    : { type: 'string', anyOf: [{ type: 'string', enum: fixed }, free] }
}

function describedValue(field: Field, writing: Writing): Schema & { description: string } {
  return {
    ...(writing.closed ? valueSchema(field.format) : answeredValue(field)),
    description: field.meaning,
    ...(field.options.default === undefined ? {} : { default: field.options.default }),
    ...(field.options.deprecated ? { deprecated: true } : {}),
  }
}

/** Values sent as text are returned as text; the gateway's own may be a boolean or a number. */
function answeredValue({ direction, format }: Field): Schema {
  if (direction === 'response' && format.kind === 'flag') return { type: 'boolean' }
  if (direction === 'response' && format.kind === 'integer') {
    return { type: 'integer', minimum: format.min, maximum: format.max }
  }
  return valueSchema(format)
}

function writeTree(node: Tree, writing: Writing): Schema {
  if (node.kind === 'value') return describedValue(node.field, writing)
  if (node.kind === 'list') return writeList(node, writing)
  const parts = writing.parts.get(node.path)
  return parts === undefined ? define(node, writing) : writeParts(parts, writing)
}

/** A part of several kinds is any of them. */
function writeParts(parts: readonly Part[], writing: Writing): Schema {
  const inside = { ...writing, parts: new Map() }
  const kinds = parts.map(({ kind, fields }) => define(treeOf(fields), inside, kind))
  return kinds.length === 1 ? kinds[0]! : { anyOf: kinds }
}

function writeList(node: List, writing: Writing): ListSchema {
  return { type: 'array', items: writeTree(node.item, writing), maxItems: node.maxIndex + 1 }
}

function define(node: Shape, writing: Writing, kind = typeName(node.path)): { $ref: string } {
  const plain = kind + writing.suffix
  const schema = writeShape(node, writing, plain)
  const same = (name: string) => {
    const known = writing.definitions.get(name)
    return (
      known === undefined ||
      JSON.stringify({ ...known, title: '' }) === JSON.stringify({ ...schema, title: '' })
    )
  }
  const variant = `${plain}Of`
  const known = [plain, ...writing.definitions.keys()].filter(
    (name) => name === plain || name.startsWith(variant),
  )
  const name = known.find(same) ?? `${variant}${writing.owner}`
  if (!same(name)) throw new Error(`two different groups would have the name ${name}`)
  writing.definitions.set(name, { ...schema, title: name })
  return { $ref: `${definitionsFile}#/$defs/${name}` }
}

/** The document that holds the shared groups. */
export function definitionsSchema(folder: 'requests' | 'answers', definitions: Definitions) {
  return {
    $schema: dialect,
    $id: `${folder}/${definitionsFile}`,
    $defs: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}
