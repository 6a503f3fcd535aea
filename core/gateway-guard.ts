/**
 * The one guard around a gateway. Whatever part of it a program calls: while the database cannot be used, the call
 * fails with one refusal, and after the end of the gateway with another. So a new method needs no code for either.
 * A misspelt option is refused here, too, where the method does not look for it itself.
 */
import { traced } from './call-trace.ts'
import { unknownOptions } from './caller/call-options.ts'
import { isUnavailable } from './db/failures.ts'
import { databaseUnavailable } from './db/unavailable.ts'
import { GatewayError } from './errors.ts'

/** Whether a gateway was closed. */
export type End = { isClosed: boolean }

/**
 * Methods that answer at any time: they end the gateway, or say something about it without its database. `call`
 * answers with a refusal instead of throwing one.
 */
export const answersAlways: ReadonlySet<PropertyKey> = new Set([
  ...['close', 'call', 'refuse', 'answers', 'isReady', 'whyShut', 'alarm', 'statements'],
  Symbol.asyncDispose,
])

/** The refusal of every call after the end of a gateway. */
export const closedError = (cause?: unknown): GatewayError =>
  new GatewayError('800.800.801', {
    status: 503,
    description: 'This gateway was closed and takes no more calls.',
    retryAfterSeconds: 1,
    cause,
  })

/** The error that a program or client gets: a refusal in place of an error of the database that is away. */
export function refusalOf(error: unknown, end: End): unknown {
  if (!isUnavailable(error)) return error
  return end.isClosed ? closedError(error) : databaseUnavailable(error)
}

/** Methods that return no promise, so they throw. */
const synchronous: ReadonlySet<PropertyKey> = new Set(['on', 'serves', 'portOf', 'connectors'])

type Method = (...given: unknown[]) => unknown

/** The names that the objects among a method's arguments can have, in their order. */
type Names = readonly (Readonly<Record<string, true>> | undefined)[]

/** The names of methods' options, under the methods' own names. */
export type NamesOfOptions = { readonly [name: PropertyKey]: Names | NamesOfOptions | undefined }

const isNames = (row: Names | NamesOfOptions | undefined): row is Names => Array.isArray(row)

/** Of the first argument that has an unknown name. */
function unknownIn(given: readonly unknown[], names: Names): GatewayError | undefined {
  for (const [at, known] of names.entries()) {
    const refusal = known && unknownOptions(given[at], Object.keys(known))
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** What a report file is read with. */
type File = { readonly open: () => AsyncIterable<unknown> }

const isFile = (value: unknown): value is File =>
  typeof value === 'object' && value !== null && typeof (value as File).open === 'function'

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** A gateway behind its guard. */
export function guarded<Whole extends object>(
  gateway: Whole,
  end: End,
  options: NamesOfOptions,
): Whole {
  const parts = new WeakMap<object, object>()
  return partOf(gateway, options, true)

  function partOf<Part extends object>(part: Part, names: NamesOfOptions, isWhole = false): Part {
    const known = parts.get(part)
    if (known !== undefined) return known as Part
    const methods = new WeakMap<Method, Method>()
    const proxy = new Proxy(part, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown
        const row = Object.hasOwn(names, name) ? names[name] : undefined
        if (name === 'constructor') return value
        if (typeof value === 'function') {
          const method = value as Method
          const own =
            methods.get(method) ?? methodOf(target, name, method, isNames(row) ? row : [], isWhole)
          methods.set(method, own)
          return own
        }
        return typeof value === 'object' && value !== null
          ? partOf(value, row === undefined || isNames(row) ? {} : row)
          : value
      },
    })
    parts.set(part, proxy)
    return proxy
  }

  function methodOf(
    target: object,
    name: PropertyKey,
    method: Method,
    names: Names,
    isWhole: boolean,
  ): Method {
    const isOpen = isWhole && answersAlways.has(name)
    return (...given) =>
      traced(() => {
        const work = () => Reflect.apply(method, target, given)
        if (isOpen) return work()
        const refusal = end.isClosed ? closedError() : unknownIn(given, names)
        return refusal === undefined ? result(work) : refused(refusal, name, method)
      })
  }

  /** Fails in the way of the method: some return no promise. */
  function refused(refusal: GatewayError, name: PropertyKey, method: Method): unknown {
    const isGenerator = method.constructor.name === 'AsyncGeneratorFunction'
    if (isGenerator || synchronous.has(name)) throw refusal
    return Promise.reject(refusal)
  }

  function result(work: () => unknown): unknown {
    let value: unknown
    try {
      value = work()
    } catch (error) {
      throw refusalOf(error, end)
    }
    if (value instanceof Promise) {
      return value.then(
        (given: unknown) => (isFile(given) ? openable(given) : given),
        (error: unknown) => Promise.reject(refusalOf(error, end)),
      )
    }
    return isStream(value) ? stream(value) : value
  }

  function openable(file: File): File {
    return { ...file, open: () => stream(file.open()) }
  }

  async function* stream<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
    try {
      yield* items
    } catch (error) {
      throw refusalOf(error, end)
    }
  }
}
