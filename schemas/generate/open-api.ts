import type { Endpoint, Field } from '../table.ts'
import { headerNamed } from '../tables/headers.ts'
import { tokenRights } from '../tables/rights.ts'
import { type Documents, documentsOf, withReferences } from './documents.ts'
import { valueSchema } from './format.ts'
import { typeName } from './json-schema.ts'
import {
  component,
  refusalSchemas,
  responsesOf,
  sharedHeaders,
  sharedResponses,
} from './open-api-responses.ts'
import { notificationSchemas, webhooks } from './open-api-webhooks.ts'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'
import { alsoNeeded, neededRights, rightInWords } from './rights.ts'
import { stepsOf } from './tree.ts'
import { exampleOf, formatInWords } from './words.ts'

type Json = { [key: string]: unknown }

const rewrite = <T>(schema: T) => withReferences(schema, (name) => component(name).$ref)

/** The OpenAPI 3.1 document of the whole surface, from the tables. */
export function openApi(): Json {
  const all = operations()
  const documents = documentsOf(all)
  const forms: Json = {}
  const paths: { [path: string]: Json } = {}
  for (const operation of all.values()) {
    const { endpoint } = operation
    const form = formSchema(operation, forms)
    for (const path of [endpoint.path, ...(endpoint.alsoPaths ?? [])]) {
      const item = paths[path] ?? {}
      paths[path] = item
      item[endpoint.method.toLowerCase()] = describe(operation, form, path !== endpoint.path)
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Payment gateway',
      version: '1',
      description:
        'Requests are form-encoded with flat dotted names (`card.number`, `cart.items[0].sku`, ' +
        '`customParameters[name]`), or JSON with the same structure nested and every value a string ' +
        'or boolean. Answers are JSON and may gain fields at any time.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    webhooks: webhooks(),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Access token of a merchant entity. The rights listed beside it for an operation are those that the token must ' +
            `have, one of them where there are several: ${tokenRights.join(', ')}.`,
        },
      },
      headers: sharedHeaders,
      responses: sharedResponses,
      schemas: { ...componentsOf(documents), ...forms, ...notificationSchemas() },
    },
  }
}

function componentsOf(documents: Documents): Json {
  const roots = [...documents.requests.values(), ...documents.answers.values()]
  const refusals = refusalSchemas(documents.answerDefinitions)
  return Object.fromEntries([
    ...[...documents.requestDefinitions, ...documents.answerDefinitions].map(([name, schema]) => [
      name,
      rewrite(schema),
    ]),
    ...roots.map(({ $schema: _dialect, $id: _id, ...schema }) => [schema.title, rewrite(schema)]),
    ...Object.entries(refusals).map(([name, schema]) => [name, rewrite(schema)]),
  ])
}

function describe(operation: Operation, form: Json, isOtherPath: boolean): Json {
  const { endpoint } = operation
  const name = typeName(endpoint.operation)
  const sendsBody = endpoint.method === 'POST'
  const parameters = [
    ...pathParameters(endpoint),
    ...(sendsBody ? [] : operation.fields.map((field) => queryParameter(field, operation))),
    ...(endpoint.idempotent === true ? [idempotencyKey] : []),
  ]
  return {
    operationId: isOtherPath ? `${endpoint.operation}.otherPath` : endpoint.operation,
    summary: endpoint.title,
    tags: [endpoint.operation.split('.')[0]],
    ...(endpoint.login !== 'token' ? {} : { description: rightInWords(endpoint) }),
    security: securityOf(endpoint),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(sendsBody && operation.fields.length === 0 && endpoint.login !== 'token'
      ? {
          requestBody: {
            description: 'In the form that the page, the bank or the acquirer sends.',
            content: { '*/*': {} },
          },
        }
      : {}),
    ...(sendsBody && operation.fields.length > 0
      ? {
          requestBody: {
            required: operation.required.length > 0,
            content: {
              'application/x-www-form-urlencoded': { schema: form },
              'application/json': { schema: component(`${name}Request`) },
            },
          },
        }
      : {}),
    responses: responsesOf(operation),
  }
}

/** Names beside a scheme are the rights of its holder; several requirements are alternatives. */
const securityOf = (endpoint: Endpoint) =>
  endpoint.login !== 'token'
    ? []
    : neededRights(endpoint).map((right) => ({ token: [right, ...alsoNeeded(endpoint)] }))

const { name: keyName, pattern: keyPattern, meaning: keyMeaning } = headerNamed('Idempotency-Key')
const idempotencyKey = {
  name: keyName,
  in: 'header',
  description: keyMeaning,
  schema: { type: 'string', pattern: keyPattern },
}

function pathParameters(endpoint: Endpoint): Json[] {
  const names = [...endpoint.path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name)
  return names.map((name) => {
    const isDeep = endpoint.deep === true && name === names.at(-1)
    const pattern = isDeep ? {} : { pattern: '^[a-zA-Z0-9._-]{1,48}$' }
    const description = meaningOf(endpoint.path, name ?? '')
    return { name, in: 'path', description, required: true, schema: { type: 'string', ...pattern } }
  })
}

/** What an id in a path is of, by the part before it. */
const resources: Readonly<Record<string, string>> = {
  payments: 'payment',
  threeDSecure: 'authentication',
  registrations: 'registration',
  checkouts: 'checkout',
  schedules: 'schedule or, for steps, of an execution',
  query: 'transaction',
  events: 'event',
  testclocks: 'test clock',
  webhooks: 'webhook endpoint',
  aggregations: 'payout in its currency',
  files: 'report file',
  reportdestinations: 'report destination',
  sftpkeys: 'SFTP key',
  return: 'payment that the shopper comes back to',
}
const parts: Readonly<Record<string, string>> = {
  token: 'Token in the address that the bank got.',
  connector: 'Name of the connector.',
  account: 'Id of the acquirer account.',
  hash: 'Hash of the version of the widget.',
  file: 'Name of the file.',
  name: 'Name of the field.',
  plugin: 'Name of the plugin.',
  rest: 'Path of the page.',
}

function meaningOf(path: string, name: string): string {
  if (name !== 'id') return parts[name] ?? name
  const before = path.slice(0, path.indexOf('/{id}')).split('/').at(-1) ?? ''
  return `Id of the ${resources[before] ?? before}.`
}

function queryParameter(field: Field, operation: Operation): Json {
  return {
    name: field.name,
    in: 'query',
    description: describeField(field),
    required: operation.required.includes(field.name),
    schema: valueSchema(field.format),
  }
}

const describeField = (field: Field) => `${field.meaning} Format: ${formatInWords(field.format)}.`

/**
 * The flat form of a request. The fields of one group are a component shared by all operations with
 * the same fields.
 */
function formSchema(operation: Operation, forms: Json): Json {
  const byGroup = Map.groupBy(operation.fields, (field) => /^[^.[]+(?=[.[])/.exec(field.name)?.[0])
  const own = flatObject(byGroup.get(undefined) ?? [])
  const shared = [...byGroup].flatMap(([group, fields]) => {
    if (group === undefined) return []
    const schema = flatObject(fields)
    const plain = `${typeName(group)}Fields`
    const isFree = forms[plain] === undefined || isSame(forms[plain], schema)
    const name = isFree ? plain : `${plain}Of${typeName(operation.endpoint.operation)}`
    forms[name] = schema
    return [component(name)]
  })
  const required = operation.required.length === 0 ? {} : { required: [...operation.required] }
  return { ...own, ...required, allOf: shared, unevaluatedProperties: false }
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

function flatObject(fields: readonly Field[]): Json {
  const properties: Json = {}
  const patternProperties: Json = {}
  for (const field of fields) {
    const schema = {
      ...valueSchema(field.format),
      description: field.meaning,
      // Account data in an example would be copied into real requests and logs.
      ...(field.class === 'none' ? { examples: [exampleOf(field.format)] } : {}),
      ...(field.options.deprecated ? { deprecated: true } : {}),
    }
    const pattern = namePattern(field)
    if (pattern === undefined) properties[field.name] = schema
    else patternProperties[pattern] = schema
  }
  return { type: 'object', properties, patternProperties }
}

/** Names with indexes or free keys as a pattern; undefined for a plain name. */
function namePattern(field: Field): string | undefined {
  const steps = stepsOf(field)
  if (steps.every((step) => step.kind === 'key')) return undefined
  const parts = steps.map((step, position) => {
    if (step.kind === 'index') return '\\[(?:0|[1-9][0-9]{0,3})\\]'
    if (step.kind === 'free') return `\\[(?:${field.options.key?.pattern ?? '[^\\[\\]]+'})\\]`
    if (step.bracketed) return `\\[${step.key}\\]`
    return position === 0 ? step.key : `\\.${step.key}`
  })
  return `^${parts.join('')}$`
}
