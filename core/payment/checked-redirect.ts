/** Validates a connector's redirect for the shopper's browser. */
import { type Redirect, Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { wellFormed } from './checked-texts.ts'

type To = Redirect['redirect']
type Parameters = NonNullable<To['parameters']>
type Precondition = NonNullable<To['preconditions']>[number]

/**
 * The redirect, or undefined when a browser could not follow it: a form with missing parameters
 * fails. Preconditions are optional, so invalid ones are dropped.
 */
export function checkedRedirect(given: unknown): To | undefined {
  if (!isObject(given)) return undefined
  // The code reads each property once, so that a getter cannot change a checked value.
  const { url, method, parameters, preconditions } = { ...given }
  if (!isWebAddress(url)) return undefined
  if (method !== undefined && !isMethod(method)) return undefined
  const fields = parameters === undefined ? undefined : parametersOf(parameters)
  if (parameters !== undefined && fields === undefined) return undefined
  const before = Array.isArray(preconditions)
    ? preconditions.slice(0, limits.redirectPreconditions).flatMap(preconditionOf)
    : []
  return {
    url: wellFormed(url),
    ...(method === undefined ? {} : { method }),
    ...(fields === undefined ? {} : { parameters: fields }),
    ...(before.length === 0 ? {} : { preconditions: before }),
  }
}

function preconditionOf(given: unknown): Precondition[] {
  if (!isObject(given)) return []
  const { origin, waitUntil, method, url, parameters, description } = { ...given }
  const fields = parametersOf(parameters)
  if (fields === undefined || !isMethod(method) || !isWebAddress(url)) return []
  if (typeof origin !== 'string' || typeof waitUntil !== 'string') return []
  return [
    {
      origin: wellFormed(origin),
      waitUntil: wellFormed(waitUntil),
      method,
      url: wellFormed(url),
      parameters: fields,
      ...(typeof description === 'string' ? { description: wellFormed(description) } : {}),
    },
  ]
}

/** Form fields. The acquirer receives their names and values unchanged. */
function parametersOf(given: unknown): Parameters | undefined {
  if (!Array.isArray(given) || given.length > limits.redirectParameters) return undefined
  const fields = given.map((field: unknown) => {
    const { name, value } = isObject(field) ? { ...field } : {}
    return typeof name === 'string' && typeof value === 'string'
      ? { name: wellFormed(name), value: wellFormed(value) }
      : undefined
  })
  return fields.every((field) => field !== undefined) ? fields : undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Sensitive.is(value)

const isMethod = (value: unknown): value is 'GET' | 'POST' => value === 'GET' || value === 'POST'

/**
 * The shopper's browser opens this URL, so schemes such as `javascript:` and `file:` are refused.
 */
const isWebAddress = (url: unknown): url is string =>
  typeof url === 'string' && /^https?:$/.test(URL.parse(url)?.protocol ?? '')
