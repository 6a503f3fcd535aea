import type { Format } from '../table.ts'
import { rangePattern } from './range.ts'

/** Names the TypeScript type of a value beside its schema. JSON has no symbols, so schemas stay as they are. */
export const namedType = Symbol('type')

/** The formats whose values are a closed list that is too long for each schema. */
const namedTypes: { readonly [Kind in Format['kind']]?: string } = {
  currency: 'CurrencyCode',
  brand: 'BrandCode',
  'payment-type': 'PaymentTypeCode',
}

/** The JSON Schema of a value. Every value is a string. */
export type ValueSchema = {
  type: 'string'
  minLength?: number
  maxLength?: number
  pattern?: string
  enum?: readonly string[]
  format?: string
  anyOf?: readonly ValueSchema[]
  [namedType]?: string
}

const printable = '[^\\u0000-\\u001f\\u007f-\\u009f]'
const printableLines = '[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]'

// Every fourth year is a leap year, but only every fourth full century.
const leapYear = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)'
const day =
  '(?:(?!0000)[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])' +
  '|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))' +
  `|${leapYear}-02-29)`
const clock = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]'

const webAddress = '[Hh][Tt][Tt][Pp][Ss]?:\\/\\/[^\\s\\/?#]+[^\\s]*'
/** Schemes that browsers open by themselves: programs, texts and files instead of an app. */
const noApps =
  'javascript vbscript data file blob filesystem about intent view-source ftp ftps ws wss'.split(
    ' ',
  )
const inAnyCase = (word: string) =>
  word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
const appLink = `(?!(?:${noApps.map(inAnyCase).join('|')}):)[A-Za-z][A-Za-z0-9+.\\-]{0,63}:\\/\\/[^\\s\\/?#]+[^\\s]*`

const codes = {
  currency: '[A-Z]{3}',
  country: '[A-Z]{2}',
  'country-alpha3': '[A-Z]{3}',
  'country-numeric': '[0-9]{3}',
  brand: '[a-zA-Z0-9_]{1,32}',
  // Two characters; a dot joins the two steps of a request, as in PA.CP.
  'payment-type': '[A-Z0-9]{2}(?:\\.[A-Z0-9]{2})?',
} as const

const literally = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
const times = (min: number, max: number) => (min === max ? `{${min}}` : `{${min},${max}}`)

function decimalPattern(format: Format & { kind: 'decimal' }): string {
  const { integer, fraction, min = 0, max, signed } = format
  const sign = signed === true ? '-?' : ''
  const decimals = fraction === 0 ? '' : `(?:\\.[0-9]{1,${fraction}})?`
  if (max === undefined) return `${sign}[0-9]{1,${integer}}${decimals}`
  const lowest = signed === true ? 0 : min
  const zeros = fraction === 0 ? '' : `(?:\\.0{1,${fraction}})?`
  const below = max > lowest ? `${rangePattern(lowest, max - 1)}${decimals}|` : ''
  return `${sign}(?:${below}${max}${zeros})`
}

/** The regular expression of the format, without anchors. */
export function formatPattern(format: Format): string {
  switch (format.kind) {
    case 'text':
      return `${format.multiline ? printableLines : printable}${times(format.min, format.max)}`
    case 'digits':
      return `[0-9]${times(format.min, format.max)}`
    case 'letters':
      return `[A-Za-z]${times(format.min, format.max)}`
    case 'pattern':
      return format.pattern
    case 'amount':
      return `[0-9]{1,${format.integer}}${format.fixed ? '\\.[0-9]{2}' : '(?:\\.[0-9]{2})?'}`
    case 'decimal':
      return decimalPattern(format)
    case 'integer':
      return `0*${rangePattern(format.min, format.max)}`
    case 'choice':
      return format.of.map(literally).join('|')
    case 'flag':
      return 'true|false'
    case 'date':
      return day
    case 'date-time':
      return `${day} ${clock}`
    case 'url':
      return format.apps === true ? appLink : webAddress
    case 'either':
      return format.of.map((one) => `(?:${formatPattern(one)})`).join('|')
    case 'list': {
      const one = `(?:${listItemPattern(format.of)})`
      return `${one}(?:,${one}){0,${format.max - 1}}`
    }
    default:
      return codes[format.kind]
  }
}

/** Text inside a comma-separated list cannot hold the comma. */
function listItemPattern(format: Format): string {
  return format.kind === 'text'
    ? `[^,\\u0000-\\u001f\\u007f-\\u009f]${times(format.min, format.max)}`
    : formatPattern(format)
}

const whole = (pattern: string) => (pattern.includes('|') ? `^(?:${pattern})$` : `^${pattern}$`)

/** The regular expression of a whole value, as in messages and schemas. */
export function anchoredPattern(format: Format): string {
  return whole(formatPattern(format))
}

/** The maximum number of characters of a value. */
export function maxCharactersOf(format: Format): number {
  switch (format.kind) {
    case 'text':
    case 'digits':
    case 'letters':
    case 'url':
      return format.max
    case 'pattern':
      return format.max ?? Number.POSITIVE_INFINITY
    case 'amount':
      return format.integer + 3
    case 'decimal':
      return format.integer + format.fraction + 2
    case 'integer':
      return String(format.max).length
    case 'choice':
      return Math.max(...format.of.map((one) => one.length))
    case 'either':
      return Math.max(...format.of.map(maxCharactersOf))
    case 'list':
      return format.max * (maxCharactersOf(format.of) + 1)
    case 'date-time':
      return 19
    case 'date':
      return 10
    case 'brand':
      return 32
    default:
      return 5
  }
}

/** JSON Schema of one value. Lengths count code points, as JSON Schema does. */
export function valueSchema(format: Format): ValueSchema {
  switch (format.kind) {
    case 'text':
      return {
        type: 'string',
        ...(format.min > 0 ? { minLength: format.min } : {}),
        maxLength: format.max,
        pattern: `^${format.multiline ? printableLines : printable}*$`,
      }
    case 'choice':
      return { type: 'string', enum: format.of }
    case 'flag':
      return { type: 'string', enum: ['true', 'false'] }
    case 'pattern':
      return {
        type: 'string',
        ...(format.min === undefined ? {} : { minLength: format.min }),
        ...(format.max === undefined ? {} : { maxLength: format.max }),
        pattern: whole(format.pattern),
      }
    case 'integer':
      return {
        type: 'string',
        maxLength: String(format.max).length,
        pattern: anchoredPattern(format),
      }
    case 'url':
      return {
        type: 'string',
        ...(format.min === undefined ? {} : { minLength: format.min }),
        maxLength: format.max,
        pattern: anchoredPattern(format),
        format: 'uri',
      }
    case 'either':
      return { type: 'string', anyOf: format.of.map(valueSchema) }
    default: {
      const type = namedTypes[format.kind]
      return {
        type: 'string',
        pattern: anchoredPattern(format),
        ...(type === undefined ? {} : { [namedType]: type }),
      }
    }
  }
}
