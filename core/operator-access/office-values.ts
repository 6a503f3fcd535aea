/** Reads the fields of a request to the operators' API, and cuts its lists into pages. */
import { limits, type OfficeField } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { fitting, weigh } from '../page/portions.ts'
import { endpointOf, wrong } from './grants.ts'
import type { Values } from './office-types.ts'

/** Most names in an object of texts. */
const mostTexts = 50

/** The fields of a request, as its row in the table says. @throws GatewayError 400 naming each that is wrong. */
export function valuesOf(operation: string, values: unknown): Values {
  const { fields } = endpointOf(operation)
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new GatewayError('200.100.103', {
      description: 'invalid request message: send a JSON object',
    })
  }
  const given = new Map(Object.entries(values))
  const errors: { name: string; message: string }[] = []
  // One error stands for all of them: a stranger chooses how many there are.
  if ([...given.keys()].some((name) => !fields.some((field) => field.name === name))) {
    const message = `is not an allowed parameter: ${operation} takes ${listOf(fields)}`
    errors.push({ name: 'unknown', message })
  }
  const read: [string, string][] = []
  for (const field of fields) {
    const value = given.get(field.name)
    const message = value === undefined || value === '' ? absent(field) : problemOf(field, value)
    if (message !== undefined) errors.push({ name: field.name, message })
    else if (typeof value === 'string' && value !== '') read.push([field.name, value])
    else if (typeof value === 'object') read.push([field.name, JSON.stringify(value)])
  }
  if (errors.length === 0) return Object.fromEntries(read)
  const [first] = errors
  throw new GatewayError('200.300.404', {
    parameterErrors: errors,
    description: `invalid or missing parameter: ${first!.name} ${first!.message}`,
  })
}

const listOf = (fields: readonly OfficeField[]) =>
  fields.length === 0 ? 'none' : fields.map(({ name }) => name).join(', ')

const absent = ({ need }: OfficeField) => (need === 'R' ? 'is missing' : undefined)

function problemOf({ max, of, id, texts }: OfficeField, value: unknown): string | undefined {
  if (texts === true) return problemOfTexts(value, max)
  if (typeof value !== 'string') return 'must be a text'
  // A character has one or two units, so a long text needs no exact count.
  if (value.length > 2 * max || [...value].length > max)
    return `must have ${max} characters at most`
  if (/[\u0000-\u001f\u007f]/.test(value)) return 'must have no control characters'
  if (of !== undefined && !of.includes(value)) return `must be one of ${of.join(', ')}`
  if (id === 'one' && !isId(value)) return 'must be 32 lower-case hex characters'
  if (id === 'or all' && value !== 'all' && !isId(value)) {
    return 'must be 32 lower-case hex characters, or all'
  }
  return undefined
}

/** Names and values of settings: control characters are allowed, since a certificate has lines. */
function problemOfTexts(value: unknown, max: number): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'must be an object of texts'
  }
  const entries = Object.entries(value)
  if (entries.length > mostTexts) return `must have ${mostTexts} names at most`
  const fits = ([name, text]: [string, unknown]) =>
    name.length <= 64 && typeof text === 'string' && text.length <= max
  return entries.every(fits) ? undefined : `must be an object of texts of ${max} characters at most`
}

/**
 * As many entries as a response may weigh; `next` is the value for `after`, if more entries may
 * follow.
 */
export function pageOf(
  name: string,
  entries: readonly { readonly id: string }[],
  limit: number,
): object {
  const shown = entries.slice(0, fitting(entries.map(weigh), 0))
  const isWhole = shown.length === entries.length && entries.length < limit
  return { [name]: shown, ...(isWhole ? {} : { next: shown.at(-1)!.id }) }
}

export function rowsOf({ limit }: Values): number {
  const { default: usual, max } = limits.officeRows
  if (limit === undefined) return usual
  const rows = /^[0-9]{1,4}$/.test(limit) ? Number(limit) : 0
  if (rows < 1 || rows > max) throw wrong('limit', `must be a whole number from 1 to ${max}`)
  return rows
}

/** An object of texts, which `Values` holds as its JSON. */
export const textsOf = (json: string | undefined): Record<string, string> =>
  JSON.parse(json ?? '{}')
