import { compile, type JSONSchema } from 'json-schema-to-typescript'
import { brands } from '../tables/brands.ts'
import { currencies } from '../tables/currencies.ts'
import { paymentTypes } from '../tables/payment-types.ts'
import { type Documents, withReferences } from './documents.ts'
import { namedType } from './format.ts'
import { type ObjectSchema, typeName } from './json-schema.ts'
import { operationNamed } from './operations.ts'

/** Embedders may write a boolean; the wire has the words. */
const flagType = "boolean | 'true' | 'false'"

/**
 * TypeScript types of every request and answer: structure, closed lists and descriptions. Patterns
 * and lengths have no counterpart in TypeScript.
 */
export async function typesModule(documents: Documents): Promise<string> {
  const definitions = { ...roots(documents), ...groups(documents) }
  const body = await compile(
    {
      title: 'Unused',
      type: 'object',
      additionalProperties: false,
      $defs: definitions,
    } as JSONSchema,
    'Unused',
    {
      additionalProperties: false,
      bannerComment: '',
      format: false,
      unreachableDefinitions: true,
      strictIndexSignatures: true,
    },
  )
  const operations = [...documents.requests.keys()]
  const table = (kind: 'Request' | 'Answer') =>
    operations
      .map((name) => {
        const like = kind === 'Answer' ? likeOf(name) : undefined
        const or = like === undefined ? '' : ` | ${typeName(like)}Answer`
        return `  '${name}': ${typeName(name)}${kind}${or}\n`
      })
      .join('')
  return `// Made from the field tables by \`npm run generate\`. Not to be edited.
${namedLists()}
${tidy(body)}

/** Requests of an embedder, by operation. */
export interface Requests {
${table('Request')}}

/** Answers, by operation. */
export interface Answers {
${table('Answer')}}

export type OperationName = keyof Requests
`
}

const likeOf = (name: string) => operationNamed(name).endpoint.orAnswersLike

/**
 * Without the compiler's remarks about its own input, short comments on one line, members indented.
 */
function tidy(body: string): string {
  return body
    .replace(/export interface Unused \{\s*\}\n/, '')
    .replace(/\/\*\*\n \* This interface was referenced by[\s\S]*?\*\/\n/g, '')
    .replace(/\/\*\*\n \* (.*)\n \*\//g, '/** $1 */')
    .replace(/^(?!export |\}|$)/gm, '  ')
    .replace(/^\}$/gm, '}\n')
    .replace(/export interface (\w+Request) \{\s*\}/g, 'export type $1 = Record<string, never>')
    .replace(/export interface (\w+Answer) \{\s*\}/g, 'export type $1 = Record<string, unknown>')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function roots({ requests, answers }: Documents): Record<string, unknown> {
  const sent = [...requests].map(([operation, schema]) => withPaymentType(operation, schema))
  const all = [...sent, ...answers.values()]
  return Object.fromEntries(all.map((schema) => [schema.title, plain(schema)]))
}

const codesOf = (use: string) =>
  paymentTypes.filter((type) => type.use === use && type.code !== '3D').map(({ code }) => code)

/** The payment types that an operation takes. An extension of an authorisation is a PA. */
const sentTypes: Readonly<Record<string, readonly string[]>> = {
  'payments.create': codesOf('payment'),
  'registrations.pay': codesOf('payment'),
  'payments.followUp': [...codesOf('followUp'), 'PA'],
  'threeDSecure.create': ['3D'],
}

function withPaymentType(operation: string, schema: ObjectSchema): ObjectSchema {
  const { paymentType } = schema.properties
  const types = sentTypes[operation]
  if (paymentType === undefined || types === undefined) return schema
  const narrowed = { ...paymentType, [namedType]: union(types) }
  return { ...schema, properties: { ...schema.properties, paymentType: narrowed } }
}

const union = (values: readonly string[]) => values.map((value) => `'${value}'`).join(' | ')

/** Closed lists that many fields share. */
function namedLists(): string {
  const list = (meaning: string, name: string, values: readonly string[]) =>
    `/** ${meaning} */\nexport type ${name} =\n${[...new Set(values)].map((value) => `  | '${value}'\n`).join('')}`
  return [
    list(
      'ISO 4217 code of a currency.',
      'CurrencyCode',
      currencies.filter(([, , exponent]) => exponent !== null).map(([code]) => code),
    ),
    list(
      'Code of a payment type.',
      'PaymentTypeCode',
      paymentTypes.map(({ code }) => code),
    ),
    list(
      'Brand of a payment method, or an older name of it.',
      'BrandCode',
      brands.flatMap(({ code, aliases }) => [code, ...aliases]),
    ),
  ].join('\n')
}

function groups({ requestDefinitions, answerDefinitions }: Documents): Record<string, unknown> {
  const all = [...requestDefinitions, ...answerDefinitions]
  return Object.fromEntries(all.map(([name, schema]) => [name, plain(schema)]))
}

function plain(schema: object): unknown {
  return withReferences(simplify(schema), (name) => `#/$defs/${name}`)
}

const checksOnly = new Set(['$schema', '$id', 'pattern', 'format', 'minLength', 'maxLength'])
const moreChecks = new Set(['propertyNames', 'maxItems', 'minimum', 'maximum', 'default'])

function simplify(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(simplify)
  const schema = value as Record<string, unknown> & { [namedType]?: string }
  const named = schema[namedType]
  if (named !== undefined) return { tsType: named, description: schema.description }
  if (Array.isArray(schema.enum) && schema.enum.join() === 'true,false') {
    return { tsType: flagType, description: schema.description }
  }
  const isObject = schema.type === 'object'
  const kept = Object.entries(schema).filter(
    ([key]) =>
      !checksOnly.has(key) &&
      !moreChecks.has(key) &&
      // Formats of one text have no type of their own; kinds of a part do.
      !(key === 'anyOf' && schema.type === 'string'),
  )
  return Object.fromEntries(
    kept.map(([key, inner]) => {
      // Properties can have the names of keywords (`format`, `default`), so they are not filtered.
      if (isObject && key === 'properties') {
        const members = Object.entries(inner as Record<string, unknown>)
        return [key, Object.fromEntries(members.map(([name, one]) => [name, simplify(one)]))]
      }
      if (isObject && key === 'additionalProperties' && inner === true) return [key, false]
      return [key, simplify(inner)]
    }),
  )
}
