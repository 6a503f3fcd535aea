/** Forms of options as data, for whatever checks its options before it opens anything. */
import { suggest, vocabularyOf } from './near-name.ts'

/** One wrong option. */
export type OptionProblem = { readonly option: string; readonly message: string }

/** Options of `createGateway` or of a host that are missing, unknown or wrong. The message names all of them. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError'
  readonly problems: readonly OptionProblem[]

  constructor(problems: readonly OptionProblem[], what = 'createGateway') {
    const lines = problems.map(({ option, message }) => `\n  ${option} ${message}`)
    super(`${what} cannot start:${lines.join('')}`)
    this.problems = problems
  }
}

/** Why a value is wrong, after the option's name; undefined when it is right. */
export type Form = (value: unknown) => string | undefined

export const whole =
  (min: number, max: number): Form =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : `must be a whole number from ${min} to ${max}, not ${shown(value)}`

export const oneOf =
  (...values: string[]): Form =>
  (value) =>
    values.includes(value as string)
      ? undefined
      : `must be ${values.map((one) => `'${one}'`).join(' or ')}, not ${shown(value)}`

export const flag: Form = (value) =>
  typeof value === 'boolean' ? undefined : `must be true or false, not ${shown(value)}`

export const text: Form = (value) =>
  typeof value === 'string' && value !== '' ? undefined : `must be a text, not ${shown(value)}`

export const callback: Form = (value) =>
  typeof value === 'function' ? undefined : `must be a function, not ${shown(value)}`

export const list: Form = (value) =>
  Array.isArray(value) ? undefined : `must be a list, not ${shown(value)}`

export const group: Form = (value) =>
  isGroup(value) ? undefined : `must be an object, not ${formOf(value)}`

/** An object with these methods. */
export const having =
  (...methods: string[]): Form =>
  (value) => {
    const missing = methods.filter((name) => typeof (value as Group)?.[name] !== 'function')
    return missing.length === 0
      ? undefined
      : `must have ${missing.map((name) => `${name}()`).join(', ')}`
  }

export const webAddress: Form = (value) => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url?.protocol === 'https:' || url?.protocol === 'http:'
    ? undefined
    : `must be an address such as https://pay.example.com, not ${shown(value)}`
}

export type Named<Options> = { readonly [Name in keyof Required<Options>]: Form }

export function problemsOf(
  prefix: string,
  given: Group,
  known: Readonly<Record<string, Form>>,
  needed: readonly string[],
): OptionProblem[] {
  const missing = needed.filter((name) => given[name] === undefined)
  // Options may be getters of a class, or inherited: whatever will be read is checked.
  const read = Object.keys(known).filter((name) => given[name] !== undefined)
  return [
    ...missing.map((name) => ({ option: `${prefix}${name}`, message: 'is missing' })),
    ...[...new Set([...Object.keys(given), ...read])].flatMap((name): OptionProblem[] => {
      const value = given[name]
      const option = `${prefix}${name}`
      const form = Object.hasOwn(known, name) ? known[name] : undefined
      if (form === undefined) {
        const meant = suggest(name, vocabularyOf(Object.keys(known)))
        const hint = meant === undefined ? '' : `; did you mean ${prefix}${meant}?`
        return [{ option, message: `is no option${hint}` }]
      }
      const message = value === undefined ? undefined : form(value)
      return message === undefined ? [] : [{ option, message }]
    }),
  ]
}

/** Defaults below the options of a program, own or inherited. An option that is undefined has its default. */
export function withDefaults<Options extends object>(
  defaults: Options,
  given: { readonly [Name in keyof Options]?: Options[Name] | undefined } = {},
): Options {
  const values: Group = given
  const named = Object.keys({ ...defaults, ...given }).map((name) => [name, values[name]] as const)
  return { ...defaults, ...Object.fromEntries(named.filter(([, value]) => value !== undefined)) }
}

export type Group = Readonly<Record<string, unknown>>

export const isGroup = (value: unknown): value is Group =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An address with a password, or a key in hex or base64: a program may give it as another option. */
const maybeSecret = /^[^:]*:[^@]*@|[0-9a-f]{32}|[\w+/-]{40}/i

export function shown(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number')
    return String(value)
  if (typeof value === 'string') {
    if (value === '') return 'an empty text'
    return maybeSecret.test(value) ? 'a text' : `"${value.slice(0, 64)}"`
  }
  return formOf(value)
}

/** What a value is, without the value. */
export function formOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'a text'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
