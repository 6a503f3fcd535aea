/** Requests split into parts, so that the fuzzer can change each one. */
import fc from 'fast-check'
import { endpoints, groups, operationNamed } from '../../schemas/index.ts'
import { requestOf } from '../rig/arbitraries.ts'
import { own } from './ground.ts'
import {
  hostileJson,
  hostileNames,
  hostilePaths,
  hostileValues,
  mediaTypes,
  methods,
} from './hostile.ts'
import type { Random } from './random.ts'
import { requestBytes } from './wire.ts'

export type Pair = readonly [name: string, value: string]

export type Input = {
  readonly operation: string
  readonly method: string
  /** `{id}` stands for an own payment, `{connector}` and `{account}` for the simulator's. */
  readonly path: string
  readonly headers: readonly Pair[]
  readonly as: 'form' | 'json' | 'none'
  readonly pairs: readonly Pair[]
  /** Replaces the body made from the pairs. */
  readonly raw?: Buffer
}

const form = 'application/x-www-form-urlencoded'
const authorization: Pair = ['Authorization', 'Bearer <token>']

const debit: readonly Pair[] = [
  ['entityId', own.channel],
  ['amount', '92.00'],
  ['currency', 'EUR'],
  ['paymentType', 'DB'],
  ['paymentBrand', 'VISA'],
  ['card.number', '4200000000000000'],
  ['card.holder', 'Jane Jones'],
  ['card.expiryMonth', '05'],
  ['card.expiryYear', '2034'],
  ['card.cvv', '123'],
]

/** Valid requests of every operation that together have every field of its tables. */
export function seedInputs(seed: number, of: typeof endpoints = endpoints): Input[] {
  return of.flatMap((endpoint) => {
    const { operation, method, path, login } = endpoint
    const base: Input = {
      operation,
      method,
      path,
      headers: login === 'token' ? [authorization] : [],
      as: method === 'POST' ? 'form' : 'none',
      pairs: [],
    }
    // Documents of half a megabyte would measure the loopback.
    if (operation === 'openapi.get' || operation === 'reference.get') return []
    if (endpoint.accepts.length === 0) {
      return [{ ...base, pairs: method === 'POST' ? [['a', 'b'] as const] : [] }]
    }
    const whole = operationNamed(operation)
    const samples = groups
      .filter(({ name }) => endpoint.accepts.includes(name))
      .flatMap((group) => fc.sample(requestOf(whole, group), { seed, numRuns: 3 }))
    const start: readonly Pair[] =
      operation === 'payments.create'
        ? debit
        : operation === 'payments.followUp'
          ? [
              ['paymentType', 'RF'],
              ['amount', '1.00'],
              ['currency', 'EUR'],
            ]
          : [['entityId', own.channel]]
    return [[], ...samples].map((sample): Input => {
      const taken = new Set(start.map(([name]) => name))
      return { ...base, pairs: [...start, ...sample.filter(([name]) => !taken.has(name))] }
    })
  })
}

const vocabulary = [
  ...new Set(
    endpoints
      .filter(({ accepts }) => accepts.length > 0)
      .flatMap(({ operation }) => operationNamed(operation).fields.map(({ name }) => name)),
  ),
].map((name) => name.replaceAll('[n]', '[0]').replace('[name]', '[abc]'))

const splice = <T>(list: readonly T[], at: number, remove: number, ...add: T[]): T[] =>
  list.toSpliced(at, remove, ...add)

type Change = (input: Input, random: Random, corpus: readonly Input[]) => Input

const changePair =
  (change: (pair: Pair, random: Random) => readonly Pair[]): Change =>
  (input, random) => {
    if (input.pairs.length === 0) return input
    const at = random.below(input.pairs.length)
    return { ...input, pairs: splice(input.pairs, at, 1, ...change(input.pairs[at]!, random)) }
  }

const aName = (random: Random) =>
  random.once(3) ? random.pick(hostileNames) : random.pick(vocabulary)

const changes: readonly Change[] = [
  changePair(() => []),
  changePair((pair) => [pair, pair]),
  changePair(([name], random) => [[name, random.pick(hostileValues)]]),
  changePair(([name], random) => [[name, random.pick(hostileValues)]]),
  changePair(([, value], random) => [[aName(random), value]]),
  changePair((pair, random) => [pair, [aName(random), random.pick(hostileValues)]]),
  changePair((pair, random) => [pair, [random.pick(vocabulary), random.pick(hostileValues)]]),
  changePair(([name, value], random) => [[name, cut(value, random)]]),
  changePair(([name, value], random) => [[cut(name, random), value]]),
  changePair(([name, value], random) => [
    [random.once(2) ? name.toUpperCase() : name.replace(/\d+/, String(random.below(1100))), value],
  ]),
  (input, random, corpus) => {
    const other = random.pick(corpus)
    const half = random.below(other.pairs.length + 1)
    return { ...input, pairs: [...input.pairs, ...other.pairs.slice(half)] }
  },
  (input) => ({ ...input, as: input.as === 'json' ? 'form' : 'json' }),
  (input, random) => ({
    ...input,
    headers: [...input.headers, ['Content-Type', random.pick(mediaTypes)]],
  }),
  (input, random) => ({
    ...input,
    headers: [...input.headers, ['Idempotency-Key', visible(random.pick(hostileValues))]],
  }),
  (input, random) => ({
    ...input,
    headers: [['Authorization', visible(random.pick(authorizations))]],
  }),
  (input, random) => {
    const raw = bodyOf(input)
    return raw === undefined ? input : { ...input, raw: changedBytes(raw, random) }
  },
  (input, random) => {
    const raw = bodyOf(input)
    return raw === undefined ? input : { ...input, raw: changedBytes(raw, random) }
  },
]

const rareChanges: readonly Change[] = [
  (input, random) => ({ ...input, path: random.pick(hostilePaths) }),
  (input, random) => ({ ...input, method: random.pick(methods) }),
  (input, random) => ({ ...input, path: `${input.path}?${visible(random.pick(hostileValues))}` }),
  (input, random) => {
    const parts = Array.from({ length: 1 + random.below(40) }, () => random.pick(hostileJson))
    const names = parts.map((part) => `${JSON.stringify(aName(random))}:${part}`)
    return { ...input, as: 'json', raw: Buffer.from(`{${names.join(',')}}`) }
  },
  (input, random) => {
    // Many parameters of one kind.
    const name = random.pick(vocabulary)
    const value = random.pick(hostileValues).slice(0, 40)
    const pairs = Array.from(
      { length: 20 + random.below(300) },
      (_, index): Pair => [name.replace('[0]', `[${index}]`).replace('abc', `abc${index}`), value],
    )
    return { ...input, pairs: [...input.pairs, ...pairs] }
  },
]

const authorizations = [
  'Bearer ',
  'Bearer',
  'bearer <token>',
  'Bearer <token> <token>',
  'Bearer  <token>',
  'Basic dXNlcjpwYXNz',
  '<token>',
  `Bearer ${'a'.repeat(513)}`,
  'Bearer \u00e9',
  'Bearer null',
  "Bearer ' or 1=1",
]

/** Keeps the characters allowed in a header or a path. */
const visible = (text: string) =>
  text.replaceAll(/[^\x21-\x7e\u00a0-\u00ff<>]/gu, '').slice(0, 2000)

function cut(text: string, random: Random): string {
  const at = random.below(text.length + 1)
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + String.fromCodePoint(random.below(0x3000)) + text.slice(at)
    case 2:
      return text.slice(0, at) + text
    default:
      return (
        text.slice(0, at) +
        random.pick(['.', '[', ']', '\u0000', ' ', '0', '-']) +
        text.slice(at + 1)
      )
  }
}

function changedBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1)
  switch (random.below(6)) {
    case 0:
      return bytes.subarray(0, at)
    case 1: {
      const changed = Buffer.from(bytes)
      for (let times = 1 + random.below(4); times > 0 && changed.length > 0; times -= 1) {
        changed[random.below(changed.length)] = random.below(256)
      }
      return changed
    }
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from([random.below(256)]),
        bytes.subarray(at),
      ])
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(random.below(bytes.length + 1))])
    case 4: {
      const part = bytes.subarray(at, at + 1 + random.below(20))
      return Buffer.concat([bytes, ...new Array<Buffer>(1 + random.below(20)).fill(part)])
    }
    default:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(
          random.pick(['&', '=', '%', '%u0041', '+', '"', '\\', '{', '[', '\u0000', '\ufffe']),
        ),
        bytes.subarray(at),
      ])
  }
}

/** An input after several changes, with parts of other inputs of the corpus. */
export function mutated(
  input: Input,
  random: Random,
  corpus: readonly Input[],
  times: number,
): Input {
  let changed = input
  for (let left = times; left > 0; left -= 1) {
    const change = random.once(24) ? random.pick(rareChanges) : random.pick(changes)
    changed = change(changed, random, corpus)
  }
  // Repeated splicing would make inputs long and slow without finding anything new.
  return changed.pairs.length > 1500 ? { ...changed, pairs: changed.pairs.slice(0, 1500) } : changed
}

const escaped = (text: string) => encodeURIComponent(text.toWellFormed())

const bodies = new WeakMap<Input, Buffer>()

/** The body of an input, or undefined without one. */
export function bodyOf(input: Input): Buffer | undefined {
  if (input.raw !== undefined) return input.raw
  if (input.as === 'none') return undefined
  const known = bodies.get(input)
  if (known !== undefined) return known
  const body = encodedBody(input)
  bodies.set(input, body)
  return body
}

function encodedBody({ as, pairs }: Input): Buffer {
  if (as === 'form') {
    return Buffer.from(pairs.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join('&'))
  }
  return Buffer.from(nestedJson(pairs))
}

/** Nested as the names say; a contradicting name stays flat. */
function nestedJson(pairs: readonly Pair[]): string {
  const root: Record<string, unknown> = Object.create(null)
  for (const [name, value] of pairs) {
    const steps = name.split(/\.|\[|\]\.?/).filter((step) => step !== '')
    let at: Record<string, unknown> = root
    for (const step of steps.slice(0, -1)) {
      at[step] ??= Object.create(null)
      const next = at[step]
      if (typeof next !== 'object') break
      at = next as Record<string, unknown>
    }
    at[steps.at(-1) ?? name] = value
  }
  return JSON.stringify(root)
}

/** The input without data of this run, so that a seed reproduces it. */
export function textOf(input: Input): string {
  const body = bodyOf(input)
  const headers = input.headers.map(([name, value]) => `${name}: ${value}`).join('\n')
  return `${input.method} ${input.path}\n${headers}\n\n${body?.toString('latin1') ?? ''}`
}

export type Places = {
  readonly token: string
  /** Own payments, for follow-ups. */
  readonly ids: readonly string[]
}

/** The bytes of an input in this run. */
export function bytesOf(input: Input, { token, ids }: Places, number: number): Buffer {
  const path = input.path
    .replace('{id}', ids[number % ids.length]!)
    .replace('{connector}', 'simulator')
    .replace('{account}', 'internal')
  const body = bodyOf(input)
  const type: Pair[] =
    body === undefined || input.headers.some(([name]) => name === 'Content-Type')
      ? []
      : [['Content-Type', input.as === 'json' ? 'application/json' : form]]
  const headers = [...input.headers, ...type].map(
    ([name, value]): Pair => [name, value.replaceAll('<token>', token)],
  )
  return requestBytes(input.method, path.replaceAll(/[^\x21-\x7e]/g, ''), headers, body)
}
