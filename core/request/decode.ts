import { limits } from '@tollgate/schemas'
import { GatewayError } from '../errors.ts'
import { readForm, readQuery } from './form.ts'
import { readJson } from './json.ts'
import { isFlat, readFlat, readNested } from './nested.ts'
import type { ParameterErrors } from './parameter-errors.ts'
import type { Plan } from './plan.ts'
import { type Nested, RequestBuilder } from './request.ts'

/** A request as it came, with the gateway's number of it. */
export type RequestInput = RequestForm & {
  readonly ndc?: string
  /** What came where the operation reads nothing: the query of a POST, or the body of a DELETE. */
  readonly beside?: RequestForm
}

/** The forms of a request. */
type RequestForm =
  /** Body of media type `application/x-www-form-urlencoded`, as received. */
  | { readonly form: Uint8Array }
  /** Body of media type `application/json`, as received; `names: 'flat'` also takes the flat names of a form. */
  | { readonly json: Uint8Array; readonly names?: 'flat' }
  /** Query of the URL as received, without the question mark. */
  | { readonly query: string }
  /** Nested object of an embedder; `stored`: an earlier request, whose values are in it and were searched. */
  | { readonly values: unknown; readonly stored?: unknown }

export type Decoded = {
  /** Nested, with text leaves: objects have no prototype, `[n]` are arrays. */
  readonly request: Nested
  /** The same, flat, under documented names, in the order sent. */
  readonly names: readonly (readonly [name: string, value: string])[]
  /** The work of the search for card data, which takes the most time of a large request. */
  readonly searchedCharacters: number
}

/**
 * The input for a body of this media type, ignoring the parameters of the type. Throws 400
 * 200.100.103 for other media types. A body without a media type counts as a form.
 */
export function bodyInput(contentType: string | undefined, body: Uint8Array): RequestInput {
  if (body.length === 0) return { form: body }
  const mediaType = (contentType ?? 'application/x-www-form-urlencoded').split(';', 1)[0]
  switch (mediaType?.trim().toLowerCase()) {
    case 'application/x-www-form-urlencoded':
      return { form: body }
    case 'application/json':
      return { json: body }
    default:
      throw new GatewayError('200.100.103', {
        description:
          'The body must be application/x-www-form-urlencoded or application/json, in UTF-8.',
      })
  }
}

/**
 * Reads the input by the names of the plan. Misplaced values are noted in `errors` and the rest is
 * returned; input beyond the limits throws a GatewayError.
 */
export function decode(plan: Plan, input: RequestInput, errors: ParameterErrors): Decoded {
  const builder = new RequestBuilder(plan, errors)
  readInto(builder, input)
  if (input.beside !== undefined) noteBeside(builder, input.beside)
  builder.finish()
  noteExcess(builder)
  const { request, names, searchedCharacters } = builder
  return { request, names, searchedCharacters }
}

/** Notes what was sent in the wrong place only, or with another value: unread, it would mean nothing. */
function noteBeside({ plan, errors, names }: RequestBuilder, beside: RequestForm): void {
  const other = new RequestBuilder(plan, errors)
  readInto(other, beside)
  const read = new Set(names.map((pair) => pair.join('=')))
  const places =
    'query' in beside
      ? 'was sent in the query of the URL; send it in the body'
      : 'was sent in the body; send it in the query of the URL'
  for (const pair of other.names) if (!read.has(pair.join('='))) errors.add(pair[0], places)
}

function readInto(builder: RequestBuilder, input: RequestForm): void {
  if ('form' in input) {
    refuseLarge(input.form.length)
    readForm(input.form, builder)
  } else if ('query' in input) {
    refuseLarge(input.query.length)
    readQuery(input.query, builder)
  } else if ('json' in input) {
    refuseLarge(input.json.length)
    const values = readJson(input.json, builder.errors)
    if (input.names === 'flat' && isFlat(values)) readFlat(values, builder)
    else readNested(values, builder)
  } else readNested(input.values, builder, input.stored)
}

function refuseLarge(length: number): void {
  if (length <= limits.bodyBytes) return
  throw new GatewayError('200.300.404', {
    description: `A request may have at most ${limits.bodyBytes} bytes.`,
  })
}

/** Notes too much text of the sender's own choice: each is searched, stored, and returned in every response. */
function noteExcess({ names, textCharacters, freeCharacters, errors }: RequestBuilder): void {
  // Almost every request is short enough in any encoding and needs no measurement.
  if (freeCharacters * bytesPerCharacter > limits.ownNamesBytes) {
    const free = names.filter(([name]) => name.endsWith(']'))
    if (Math.max(freeCharacters, sum(free, sizeOf)) > limits.ownNamesBytes) {
      const most = `${limits.ownNamesBytes} bytes, names included`
      errors.add(largest(free, sizeOf, groupOf), `may have at most ${most}, all of them together`)
    }
  }
  if (textCharacters <= limits.textCharacters) return
  const most = `${limits.textCharacters} characters in the values of all its texts`
  errors.add(
    largest(names, lengthOf, topOf),
    `is the largest part of a request that may have at most ${most}`,
  )
}

type Pair = readonly [name: string, value: string]

const sum = (names: readonly Pair[], sizeOf: (pair: Pair) => number): number =>
  names.reduce((all, pair) => all + sizeOf(pair), 0)

function largest(
  names: readonly Pair[],
  sizeOf: (pair: Pair) => number,
  groupOf: (name: string) => string,
): string {
  const groups = [...Map.groupBy(names, ([name]) => groupOf(name))]
  const sizes = groups.map(([group, of]) => ({ group, size: sum(of, sizeOf) }))
  return sizes.reduce((one, other) => (other.size > one.size ? other : one)).group
}

const topOf = (name: string) => /^[^.[]*/.exec(name)![0]

const groupOf = (name: string) => name.slice(0, name.lastIndexOf('['))

const sizeOf = (pair: Pair) => Buffer.byteLength(pair.join(''))

/** At most, for one UTF-16 unit in UTF-8. */
const bytesPerCharacter = 3

const lengthOf = ([, value]: Pair) => value.length
