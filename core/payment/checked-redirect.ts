/** Where a connector sends the shopper, as far as a merchant's page can follow it. */
import { type Redirect, Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { wellFormed } from './checked-texts.ts'

type To = Redirect['redirect']
type Parameters = NonNullable<To['parameters']>
type Precondition = NonNullable<To['preconditions']>[number]

/**
 * The redirect, or undefined when the shopper could not follow it: a form that lacks what was meant to
 * be in it ends nowhere. Preconditions help and are not needed: those that are none are left out.
 */
export function checkedRedirect(given: unknown): To | undefined {
  if (!isObject(given)) return undefined
  // Read once: what was checked must be what is used.
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

/** Fields of a form: their names and values go to the acquirer as they are. */
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

/** The shopper's browser is sent there: a script or a file must not be. */
const isWebAddress = (url: unknown): url is string =>
  typeof url === 'string' && /^https?:$/.test(URL.parse(url)?.protocol ?? '')
