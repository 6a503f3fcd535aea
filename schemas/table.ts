/**
 * The table language. A field of the API is one row of one table, and its JSON Schema, TypeScript
 * type, decoding, redaction, vault class, OpenAPI entry, reference page and test data follow from
 * it. Tables are plain data that survives JSON.stringify: no classes, no closures.
 */

export type { Endpoint } from './endpoint.ts'

/**
 * The format of a value on the wire. Every value is a string; lengths count characters (code
 * points), not bytes.
 */
export type Format =
  /** Printable Unicode of `min` to `max` characters, blanks and marks included. */
  | { kind: 'text'; min: number; max: number; multiline?: true }
  /** Digits only. */
  | { kind: 'digits'; min: number; max: number }
  /** ASCII letters only. */
  | { kind: 'letters'; min: number; max: number }
  /** A regular expression that the whole value must match. */
  | { kind: 'pattern'; pattern: string; min?: number; max?: number; example: string }
  /** A decimal amount of money: up to `integer` digits, then none or exactly two decimals (`fixed`: always two). */
  | { kind: 'amount'; integer: number; fixed?: true }
  /** A decimal number with at most `integer` digits before and `fraction` after the point. */
  | {
      kind: 'decimal'
      integer: number
      fraction: number
      min?: number
      max?: number
      signed?: true
    }
  | { kind: 'integer'; min: number; max: number }
  /** One of a closed list. */
  | { kind: 'choice'; of: readonly string[] }
  /** `true` or `false`. */
  | { kind: 'flag' }
  /** A calendar day, `yyyy-MM-dd`; days outside the calendar are refused. */
  | { kind: 'date' }
  /** Wall-clock time, `yyyy-MM-dd HH:mm:ss`. */
  | { kind: 'date-time' }
  /** An absolute http or https URL. */
  /** An http or https address; `apps`: also the link of an app, such as myapp://paid. */
  | { kind: 'url'; min?: number; max: number; apps?: true }
  /** A member of a code table. */
  | {
      kind: 'currency' | 'country' | 'country-alpha3' | 'country-numeric' | 'brand' | 'payment-type'
    }
  /** One of several formats. */
  | { kind: 'either'; of: readonly Format[] }
  /** Comma-separated values of one format. */
  | { kind: 'list'; of: Format; max: number }

/** R = always required, C = required under a condition listed beside the table, O = optional. */
export type Need = 'R' | 'C' | 'O'

/**
 * `request`: sent, never returned. `echoed`: sent and returned. `response`: returned only.
 * `stored`: sent and kept for reporting and for follow-ups, not returned.
 */
export type Direction = 'request' | 'echoed' | 'response' | 'stored'

/**
 * The visibility of a value. `none`: as the payment itself. `person`: personal data, redacted in
 * logs. `pan`: sealed in the vault, last four shown. `sad`: sensitive authentication data, in
 * memory only, never written, not even encrypted. `secret`: credentials, never logged or returned.
 */
export type FieldClass = 'none' | 'person' | 'pan' | 'sad' | 'secret'

export type Field = {
  /**
   * Full name on the wire; `[n]` stands for an index from 0, `[name]` for a free key. Other
   * brackets contain a fixed key: `threeDSecure.schemeData[CB-USECASE]`.
   */
  readonly name: string
  readonly format: Format
  readonly need: Need
  readonly direction: Direction
  readonly class: FieldClass
  readonly meaning: string
  readonly options: FieldOptions
}

export type FieldOptions = {
  /** Highest index of `[n]`; 99 by default. */
  readonly maxIndex?: number
  /** Format of `[name]` keys. */
  readonly key?: { readonly pattern: string; readonly max: number }
  /** Older spellings that are accepted for this field. */
  readonly aliases?: readonly string[]
  /** The meaning of an absent value. The engine sees the absence, so nothing is filled in. */
  readonly default?: string
  /** Result code of a value outside the format, if it is not 200.300.404. */
  readonly code?: string
  /** Header of this field's column in the reconciliation file. */
  readonly column?: string
  /**
   * An identifier of merchants, schemes, carriers or acquirers. A tenth of them resemble card
   * numbers by chance, so one is refused only for the account number of its own request.
   */
  readonly reference?: true
  /** Undocumented, but sent by deployed clients: accepted and ignored. */
  readonly tolerated?: true
  /** A setting of a connector that a live engine never uses: its address may be one that live cannot reach. */
  readonly testOnly?: true
  /** The reason for a difference from the source document. */
  readonly because?: string
  readonly deprecated?: true
}

/** A row as written in a table file. */
export type Row = readonly [
  name: string,
  format: Format,
  need: Need,
  direction: Direction,
  fieldClass: FieldClass,
  meaning: string,
  options?: FieldOptions,
]

export type Group = {
  /** Name of the table, used in docs and type names: `card`, `cart.items`. */
  readonly name: string
  readonly title: string
  readonly fields: readonly Field[]
  readonly conditions: readonly Condition[]
}

/** A field that is present or, with `is`, has one of these values. */
export type Presence = { readonly field: string; readonly is?: readonly string[] }

/**
 * A requirement that spans several fields. All names are full names as the tables write them.
 * `code` is the result code of a violation where it is not 200.300.404.
 */
export type Condition = Rule & { readonly code?: string }

export type Rule =
  /**
   * When any of `when` is present, every one of `need` must be; only while `onlyIf` holds, and not
   * while `unless` does.
   */
  | {
      rule: 'requires'
      when: readonly string[]
      need: readonly string[]
      onlyIf?: Presence
      unless?: Presence
      message: string
    }
  /** When any of `when` is present, at least one of `of` must be; not while `unless` holds. */
  | {
      rule: 'any'
      when: readonly string[]
      of: readonly string[]
      unless?: Presence
      message: string
    }
  /**
   * The values of `of` together must not consist of digits only. Those named by `ignoring` do not
   * count while its field is present, because the engine ignores them then.
   */
  | {
      rule: 'not-digits-only'
      of: readonly string[]
      ignoring?: { when: string; of: readonly string[] }
      message: string
    }
  /** When `when.field` has one of the values `is`, every one of `need` must be present. */
  | {
      rule: 'implies'
      when: { field: string; is: readonly string[] }
      need: readonly string[]
      message: string
    }
  /** `of` must not all be sent together. */
  | { rule: 'not-together'; of: readonly string[]; message: string }
  /** Every one of `need` must be present in any request, except while `unless` holds. */
  | { rule: 'mandatory'; need: readonly string[]; unless?: Presence; message: string }
  /** At least one of `of` must be present in any request. */
  | { rule: 'at-least-one'; of: readonly string[]; message: string }

export const R = 'R'
export const C = 'C'
export const O = 'O'
export const request = 'request'
export const echoed = 'echoed'
export const response = 'response'
export const stored = 'stored'
export const none = 'none'
export const person = 'person'
export const pan = 'pan'
export const sad = 'sad'
export const secret = 'secret'
/** Options of a row that holds an identifier. */
export const reference = { reference: true } as const

type Of<Kind extends Format['kind']> = Extract<Format, { kind: Kind }>

/** Alphabetic and alphanumeric formats of the document: printable Unicode. `AN(255)` or `AN(3, 128)`. */
export function AN(minOrMax: number, max?: number): Of<'text'> {
  return max === undefined
    ? { kind: 'text', min: 1, max: minOrMax }
    : { kind: 'text', min: minOrMax, max }
}
export const A = AN
/** Digits. `N(8)` is 1 to 8 digits, `N(3, 4)` is 3 or 4. */
export function N(minOrMax: number, max?: number): Of<'digits'> {
  return max === undefined
    ? { kind: 'digits', min: 1, max: minOrMax }
    : { kind: 'digits', min: minOrMax, max }
}
/** Exactly `length` ASCII letters. */
export const letters = (length: number): Of<'letters'> => ({
  kind: 'letters',
  min: length,
  max: length,
})
/** A pattern for the whole value, with a matching example. */
export function match(pattern: string, example: string, min?: number, max?: number): Of<'pattern'> {
  return {
    kind: 'pattern',
    pattern,
    example,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  }
}
export const oneOf = <const Values extends readonly string[]>(
  ...of: Values
): { kind: 'choice'; of: Values } => ({ kind: 'choice', of })
export const flag: Of<'flag'> = { kind: 'flag' }
export const date: Format = { kind: 'date' }
export const dateTime: Format = { kind: 'date-time' }
/** N10.N2: up to ten digits, none or exactly two decimals. */
export const amount: Format = { kind: 'amount', integer: 10 }
/** N13: up to ten digits and always two decimals. */
export const fixedAmount: Format = { kind: 'amount', integer: 10, fixed: true }
export const currency: Format = { kind: 'currency' }
export const country: Format = { kind: 'country' }
export const url = (max: number, min?: number): Of<'url'> =>
  min === undefined ? { kind: 'url', max } : { kind: 'url', min, max }
/** The address of a page, or the link of an app that a device opens. */
export const pageOrApp = (max: number, min: number): Of<'url'> => ({
  kind: 'url',
  min,
  max,
  apps: true,
})
export const either = (...of: Format[]): Format => ({ kind: 'either', of })
export const integer = (min: number, max: number): Of<'integer'> => ({ kind: 'integer', min, max })

function toField(
  prefix: string,
  [name, format, need, direction, fieldClass, meaning, options]: Row,
): Field {
  return {
    name: prefix === '' ? name : `${prefix}.${name}`,
    format,
    need,
    direction,
    class: fieldClass,
    meaning,
    options: options ?? {},
  }
}

/** A table of fields below one prefix (`''` for top-level names). */
export function group(
  prefix: string,
  title: string,
  rows: readonly Row[],
  conditions: readonly Condition[] = [],
  name = prefix || title,
): Group {
  return { name, title, fields: rows.map((row) => toField(prefix, row)), conditions }
}

/** One table made of several parts whose names have different prefixes. */
export function together(
  name: string,
  title: string,
  parts: readonly Group[],
  conditions: readonly Condition[] = [],
): Group {
  return {
    name,
    title,
    fields: parts.flatMap((part) => part.fields),
    conditions: [...parts.flatMap((part) => part.conditions), ...conditions],
  }
}

/** Some fields of a table as a table of their own, the same rows, in the order of `names`. */
export function excerpt(
  source: Group,
  names: readonly string[],
  name: string,
  title: string,
): Group {
  const fields = names.map((wanted) => {
    const field = source.fields.find((candidate) => candidate.name === wanted)
    if (field === undefined) throw new Error(`group ${source.name} has no field ${wanted}`)
    return field
  })
  return { name, title, fields, conditions: [] }
}

/** The same table with another highest index for its `[n]`. */
export function withHighestIndex(source: Group, maxIndex: number): Group {
  const fields = source.fields.map((field) => ({
    ...field,
    options: { ...field.options, maxIndex },
  }))
  return { ...source, fields }
}

/** The same fields below another prefix, for example every customer field below `shipping.customer`. */
export function under(
  source: Group,
  from: string,
  prefix: string,
  title: string,
  change: { without?: readonly string[]; need?: Need; conditions?: readonly Condition[] } = {},
): Group {
  const without = change.without ?? []
  const dropped = (name: string) =>
    without.some((w) => (w.endsWith('.*') ? name.startsWith(w.slice(0, -1)) : name === w))
  const fields = source.fields
    .map((field) => ({ field, rest: field.name.slice(from.length + 1) }))
    .filter(({ rest }) => !dropped(rest))
    .map(({ field, rest }) => ({
      ...field,
      name: `${prefix}.${rest}`,
      need: change.need ?? field.need,
    }))
  return { name: prefix, title, fields, conditions: change.conditions ?? [] }
}
