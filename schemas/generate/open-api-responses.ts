/** The responses of each operation in the OpenAPI document: statuses, headers, bodies. */
import type { Endpoint } from '../table.ts'
import { headersOf, headerNamed as rowOf } from '../tables/headers.ts'
import { groupsByName } from '../tables/index.ts'
import { type Definitions, fieldsSchema, typeName } from './json-schema.ts'
import type { Operation } from './operation.ts'

type Json = { [key: string]: unknown }

export const component = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const toHeader = (name: string) => ({ $ref: `#/components/headers/${name}` })
const requestId = { 'X-Request-Id': toHeader('X-Request-Id') }
const retryAfter = { 'Retry-After': toHeader('Retry-After') }

const described = (name: string) => {
  const { meaning, pattern, isAlways } = rowOf(name)
  const schema = { type: 'string', pattern }
  return { description: meaning, ...(isAlways ? { required: true } : {}), schema }
}

/** Headers that several responses share. */
export const sharedHeaders: Json = {
  ...Object.fromEntries(headersOf('answer').map(({ name }) => [name, described(name)])),
  Location: {
    description: 'Address of the next page.',
    required: true,
    schema: { type: 'string' },
  },
}

const json = (schema: Json) => ({ 'application/json': { schema } })
const refusal = (description: string, headers: Json = {}): Json => ({
  description,
  headers: { ...requestId, ...headers },
  content: json(component('Error')),
})

/** Refusals that operations share. */
export const sharedResponses: Readonly<Record<string, Json>> = {
  Wrong: refusal('Wrong parameters, each named in `result.parameterErrors`.'),
  NoToken: refusal('The Authorization header is missing or malformed.'),
  Forbidden: refusal(
    'The token is invalid, not allowed for this entity or environment, or lacks the needed right.',
  ),
  OtherWay: refusal(
    'The request did not come through a proxy, and the installation takes no others.',
  ),
  Unknown: refusal('No record with this id is visible to the entity.'),
  NotHere: refusal('This name of the host does not serve the path.'),
  Stalled: refusal('The body of the request stopped coming.'),
  TooMany: refusal('Too many requests.', retryAfter),
  Fault: {
    description: 'A fault of the gateway. A payment may have been made: repeat with the same key.',
    content: json({ anyOf: [component('Error'), component('Fault')] }),
  },
  Unavailable: refusal('The process is busy, starts or ends, or a part of it is away.', retryAfter),
}

const responseNamed = (name: string) => ({ $ref: `#/components/responses/${name}` })

/** The schemas of refusals and faults. */
export function refusalSchemas(definitions: Definitions): Json {
  const { fields } = groupsByName.get('error')!
  const ofFault = fields.filter(({ name }) => /^result\.(?:code|description)$/.test(name))
  return {
    Error: fieldsSchema('Error', fields, definitions),
    Fault: fieldsSchema('Fault', ofFault, definitions),
  }
}

export function responsesOf({ endpoint, fields }: Operation): Json {
  const { login, method, throttle } = endpoint
  const isHealth = throttle === 'none'
  const needsToken = login === 'token'
  const isPage = mediaType(endpoint) !== 'application/json'
  const takesInput = fields.length > 0 || endpoint.path.includes('{') || method === 'POST'
  return {
    200: success(endpoint),
    ...Object.fromEntries((endpoint.beside200 ?? []).map((status) => [status, bodiless(status)])),
    ...(takesInput ? { 400: wrong(endpoint) } : {}),
    ...(needsToken ? { 401: responseNamed('NoToken') } : {}),
    ...(isHealth ? {} : { 403: responseNamed(needsToken ? 'Forbidden' : 'OtherWay') }),
    ...(isHealth ? {} : { 404: isPage ? pageOrRefusal() : missing(endpoint) }),
    ...(method === 'POST' ? { 408: responseNamed('Stalled') } : {}),
    ...(isHealth ? {} : { 429: responseNamed('TooMany') }),
    500: responseNamed('Fault'),
    503: responseNamed('Unavailable'),
    ...(endpoint.deep === true
      ? {
          default: {
            description: 'As the page of the plugin answers.',
            content: textOf('text/html'),
          },
        }
      : {}),
  }
}

function success(endpoint: Endpoint): Json {
  const media = mediaType(endpoint)
  const isStored = endpoint.answers.includes('payment response')
  return {
    description: isStored
      ? 'Approved, pending, or read. `result.code` has the detail.'
      : endpoint.method === 'GET'
        ? 'Read.'
        : 'Done.',
    headers: {
      ...requestId,
      ...(endpoint.idempotent === true
        ? { 'Idempotent-Replayed': toHeader('Idempotent-Replayed') }
        : {}),
    },
    content: media === 'application/json' ? json(answerOf(endpoint)) : textOf(media),
  }
}

function bodiless(status: 303 | 304): Json {
  return status === 303
    ? {
        description: 'The browser goes on to another page.',
        headers: { ...requestId, Location: toHeader('Location') },
        content: textOf('text/html'),
      }
    : { description: 'The browser has the file already.', headers: requestId }
}

function wrong({ declines, operation, idempotent }: Endpoint): Json {
  if (declines !== true) return responseNamed('Wrong')
  return {
    description:
      'Wrong parameters, each named in `result.parameterErrors`, or a declined payment with its own fields.',
    headers: {
      ...requestId,
      ...(idempotent === true ? { 'Idempotent-Replayed': toHeader('Idempotent-Replayed') } : {}),
    },
    content: json({ anyOf: [component('Error'), component(`${typeName(operation)}Answer`)] }),
  }
}

const missing = ({ path }: Endpoint) => responseNamed(path.includes('{') ? 'Unknown' : 'NotHere')

const pageOrRefusal = (): Json => ({
  description: 'There is nothing at this address.',
  headers: requestId,
  content: { ...textOf('text/html'), ...textOf('text/plain'), ...json(component('Error')) },
})

const textOf = (media: string) => ({ [media]: { schema: { type: 'string' } } })

function mediaType({ media }: Endpoint): string {
  return media ?? 'application/json'
}

function answerOf({ operation, orAnswersLike, answers }: Endpoint): Json {
  if (answers.length === 0) return { type: 'object' }
  const own = component(`${typeName(operation)}Answer`)
  return orAnswersLike === undefined
    ? own
    : { anyOf: [own, component(`${typeName(orAnswersLike)}Answer`)] }
}
