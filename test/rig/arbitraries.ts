/**
 * Values and requests from the field tables for property tests: the engine must accept all that the
 * tables allow, and return it unchanged.
 */
import fc from 'fast-check'
import { namesCardData } from '../../core/request/card-data-names.ts'
import { type Tree, treeOf } from '../../schemas/generate/tree.ts'
import {
  brands,
  type Condition,
  countries,
  currencies,
  type Field,
  type Format,
  formatPattern,
  type Group,
  type Operation,
  paymentTypes,
} from '../../schemas/index.ts'

const control = /[\u0000-\u001f\u007f-\u009f]/gu

/** A character allowed in texts: no control character, no half of a surrogate pair. */
const character = fc
  .oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...[...'&=+%;[]."\\é'].map((one) => one.charCodeAt(0))),
    },
    { weight: 2, arbitrary: fc.integer({ min: 0xa0, max: 0xd7ff }) },
    { weight: 1, arbitrary: fc.integer({ min: 0x10000, max: 0x10ffff }) },
  )
  .map((point) => String.fromCodePoint(point))

const digit = fc.integer({ min: 48, max: 57 }).map((code) => String.fromCharCode(code))

/** Mostly short, sometimes as long as the format allows. */
function textOf(unit: fc.Arbitrary<string>, min: number, max: number): fc.Arbitrary<string> {
  const least = Math.max(min, 1)
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.string({ unit, minLength: least, maxLength: Math.min(max, least + 24) }),
    },
    { weight: 1, arbitrary: unit.map((one) => one.repeat(Math.min(max, 5000))) },
    { weight: 1, arbitrary: unit.map((one) => one.repeat(least)) },
  )
}

const digitsOf = (min: number, max: number) => textOf(digit, min, max)

const day = fc
  .integer({ min: Date.UTC(1000, 0, 1) / 86_400_000, max: Date.UTC(9999, 11, 31) / 86_400_000 })
  .map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10))
const second = fc
  .integer({ min: 0, max: 86_399 })
  .map((seconds) => new Date(seconds * 1000).toISOString().slice(11, 19))

/** Outer blanks do not reach the request. */
const isBare = (text: string) => text.trim() === text

/** A valid value of the format, never empty, because an empty value counts as not sent. */
export function validValueOf(format: Format): fc.Arbitrary<string> {
  switch (format.kind) {
    case 'text':
      return textOf(character, format.min, format.max).filter(isBare)
    case 'digits':
      return digitsOf(format.min, format.max)
    case 'letters':
      return fc.stringMatching(new RegExp(`^[A-Za-z]{${format.min},${format.max}}$`))
    case 'pattern': {
      const whole = new RegExp(`^(?:${format.pattern})$`, 'u')
      const { min = 1, max = Number.POSITIVE_INFINITY } = format
      const fits = (text: string) => {
        const length = [...text].length
        return (
          isBare(text) &&
          text.isWellFormed() &&
          whole.test(text) &&
          length >= Math.max(min, 1) &&
          length <= max
        )
      }
      return fc.oneof(
        fc.constant(format.example),
        fc
          .stringMatching(new RegExp(`^(?:${format.pattern})$`), { size: 'small' })
          .map((text) => text.replace(control, 'x'))
          .filter(fits),
      )
    }
    case 'amount': {
      const whole = digitsOf(1, format.integer)
      const cents = fc.tuple(digit, digit).map(([tens, ones]) => `.${tens}${ones}`)
      const decimals = format.fixed ? cents : fc.oneof(cents, fc.constant(''))
      return fc.tuple(whole, decimals).map(([units, rest]) => units + rest)
    }
    case 'decimal':
      return decimalOf(format)
    case 'integer':
      return fc.integer({ min: format.min, max: format.max }).map(String)
    case 'choice':
      return fc.constantFrom(...format.of)
    case 'flag':
      return fc.constantFrom('true', 'false')
    case 'date':
      return day
    case 'date-time':
      return fc.tuple(day, second).map(([date, time]) => `${date} ${time}`)
    case 'url':
      return fc
        .webUrl({ withQueryParameters: true, withFragments: true, size: 'small' })
        .filter((url) => url.length >= (format.min ?? 1) && url.length <= format.max)
    case 'either':
      return fc.oneof(...format.of.map(validValueOf))
    case 'list':
      return fc
        .array(validValueOf(format.of), { minLength: 1, maxLength: Math.min(format.max, 4) })
        .map((values) => values.join(','))
    case 'currency':
      return fc.constantFrom(...currencies.map(([code]) => code))
    case 'country':
      return fc.constantFrom(...countries.map(([alpha2]) => alpha2))
    case 'country-alpha3':
      return fc.constantFrom(...countries.map(([, alpha3]) => alpha3))
    case 'country-numeric':
      return fc.constantFrom(...countries.map(([, , numeric]) => numeric))
    case 'brand':
      return fc.constantFrom(...brands.flatMap(({ code, aliases }) => [code, ...aliases]))
    case 'payment-type':
      return fc.constantFrom(...paymentTypes.map(({ code }) => code))
  }
}

function decimalOf(format: Format & { kind: 'decimal' }): fc.Arbitrary<string> {
  const whole = new RegExp(`^(?:${formatPattern(format)})$`)
  const digits = fc
    .tuple(digitsOf(1, format.integer), fc.string({ unit: digit, maxLength: format.fraction }))
    .map(([units, rest]) => (rest === '' ? units : `${units}.${rest}`))
  return format.max === undefined
    ? digits
    : fc.oneof(
        fc.integer({ min: format.min ?? 0, max: format.max }).map(String),
        digits.filter((text) => whole.test(text)),
      )
}

/** A request as flat names and values, in the order of the tables. */
export type FlatRequest = [name: string, value: string][]

/**
 * Valid requests of one operation with fields of one group: some of them, and all fields that the
 * operation and the conditions then need.
 */
export function requestOf(operation: Operation, group: Group): fc.Arbitrary<FlatRequest> {
  const byName = new Map(operation.fields.map((field) => [field.name, field]))
  const own = group.fields.map((field) => field.name).filter((name) => byName.has(name))
  return fc
    .subarray(own, { minLength: own.length === 0 ? 0 : 1 })
    .map((some) => complete(new Set([...operation.required, ...some]), operation, byName))
    .chain((names) =>
      fc.tuple(...operation.fields.filter(({ name }) => names.has(name)).map(parametersOf)),
    )
    .map((parameters) => parameters.flat())
}

/** Adds required names and drops excluded ones until the request is valid. */
function complete(
  names: Set<string>,
  operation: Operation,
  byName: ReadonlyMap<string, Field>,
): Set<string> {
  const tree = treeOf(operation.fields)
  for (let size = -1; size !== names.size; ) {
    size = names.size
    for (const name of requiredBeside(tree, names)) names.add(name)
    for (const condition of operation.conditions) {
      for (const name of demanded(condition, names)) if (byName.has(name)) names.add(name)
    }
  }
  for (const condition of operation.conditions) {
    if (condition.rule !== 'not-together') continue
    if (condition.of.every((name) => names.has(name))) names.delete(condition.of.at(-1) as string)
  }
  return names
}

/** Rows marked R of every group that has a value. */
function requiredBeside(tree: Tree, names: ReadonlySet<string>): string[] {
  if (tree.kind === 'value') return []
  if (tree.kind === 'list') return requiredBeside(tree.item, names)
  const members = [...tree.members.values()]
  const isSent = tree.path !== '' && [...names].some((name) => name.startsWith(`${tree.path}.`))
  const own = members.flatMap((member) =>
    isSent && member.kind === 'value' && member.field.need === 'R' ? [member.field.name] : [],
  )
  return [...own, ...members.flatMap((member) => requiredBeside(member, names))]
}

function demanded(condition: Condition, names: ReadonlySet<string>): readonly string[] {
  switch (condition.rule) {
    case 'requires':
      return condition.when.some((name) => names.has(name)) ? condition.need : []
    case 'any':
      return condition.when.some((name) => names.has(name)) ? condition.of.slice(0, 1) : []
    case 'implies':
      return names.has(condition.when.field) ? condition.need : []
    case 'mandatory':
      return condition.need
    case 'at-least-one':
      return condition.of.slice(0, 1)
    default:
      return []
  }
}

/** The parameters of one field: one, or one for each element or free key. */
function parametersOf(field: Field): fc.Arbitrary<FlatRequest> {
  // Street lines with digits only are invalid.
  const value = /street[12]$/.test(field.name)
    ? validValueOf(field.format).map((text) => ['S', ...text].slice(0, 50).join(''))
    : validValueOf(field.format)
  if (field.name.includes('[n]')) {
    // Every list has two elements, so that all fields of a list concern the same elements.
    const indexes = [0, 1].map((index) => field.name.replaceAll('[n]', `[${index}]`))
    const inner = field.name.split('[n]').length > 2 ? crossed(field.name) : indexes
    return fc.tuple(...inner.map((name) => value.map((one): [string, string] => [name, one])))
  }
  if (field.name.endsWith('[name]')) {
    const stem = field.name.slice(0, -'[name]'.length)
    return fc
      .uniqueArray(keyOf(field), { minLength: 1, maxLength: 3 })
      .chain((keys) =>
        fc.tuple(
          ...keys.map((key) => value.map((one): [string, string] => [`${stem}[${key}]`, one])),
        ),
      )
  }
  return value.map((one) => [[field.name, one]])
}

function crossed(name: string): string[] {
  const [first = '', ...rest] = name.split('[n]')
  return rest.reduce(
    (names, part) => names.flatMap((stem) => [0, 1].map((index) => `${stem}[${index}]${part}`)),
    [first],
  )
}

function keyOf(field: Field): fc.Arbitrary<string> {
  const { pattern, max } = field.options.key ?? { pattern: '[a-z]{3,9}', max: 64 }
  const machinery = ['__proto__', 'constructor', 'prototype']
  return (
    fc
      .stringMatching(new RegExp(`^(?:${pattern})$`))
      .map((key) => key.replace(control, 'x'))
      .filter((key) => !machinery.includes(key) && [...key].length <= max && key.isWellFormed())
      // A name such as `cv-n` stands for a security code.
      .filter((key) => !namesCardData(key))
  )
}

/** The body of a form with these parameters. */
export function formOf(request: readonly (readonly [string, string])[]): Buffer {
  return Buffer.from(
    request.map(([name, value]) => `${escapeForm(name)}=${escapeForm(value)}`).join('&'),
  )
}

const escapeForm = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
