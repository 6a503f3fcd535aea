import type { Context, Log, Records } from '../connector.ts'
import type { Json } from '../outcome.ts'
import { TransferError } from '../transfer.ts'
import { type Attempt, type Line, openLine } from './http.ts'
import type { Tokens } from './tokens.ts'

/** The shared state of one case's calls, as an engine's calls share its database and its caches. */
export type Surroundings = {
  readonly config: Readonly<Record<string, unknown>>
  readonly account: Readonly<Record<string, unknown>>
  readonly mode: Context['mode']
  readonly records: Records
  readonly said: Said[]
  readonly clock: { ms: number; now(): Date }
  readonly tokens: Tokens
  readonly sequences: Map<string, number>
}

/** A value that a connector wrote where others read it. */
export type Said = { readonly where: string; readonly what: unknown }

export type CallOptions = {
  /** The time in which money may move is over. */
  readonly tooLate?: boolean
  readonly config?: Readonly<Record<string, unknown>>
  readonly account?: Readonly<Record<string, unknown>>
}

/** The context of one call of a handler, and its record. */
export type Call = {
  readonly context: Context
  readonly attempts: readonly Attempt[]
  /** Whether money may have moved: a tagged request was written, or `sending()` was called. */
  readonly moved: () => boolean
  /** The deadline is over. */
  expire(): void
  finish(): void
}

/** Thrown by `sending()` when the time in which money may move is over. */
class TooLateToSend extends Error {
  override readonly name = 'TooLateToSend'
}

export function openCall(around: Surroundings, options: CallOptions = {}): Call {
  const { tooLate = false, config = around.config, account = around.account } = options
  const abort = new AbortController()
  const line: Line = openLine({ tooLate })
  const tokenKey = (name: string) => JSON.stringify([account, name])
  let marked = false
  const log = (level: string): Log['info'] =>
    function note(fields, message) {
      around.said.push({ where: `log.${level}`, what: [fields, message] })
    }
  const context: Context = {
    http: line.http,
    sending() {
      if (tooLate) throw new TooLateToSend('the time in which this may be sent is over')
      marked = true
    },
    token: (name, get) => around.tokens.get(tokenKey(name), get),
    dropToken: (name, refused) => around.tokens.drop(tokenKey(name), refused),
    async sequence(name, max) {
      const next = ((around.sequences.get(name) ?? 0) % max) + 1
      around.sequences.set(name, next)
      return next
    },
    records: around.records,
    config: Object.freeze({ ...config }),
    account: Object.freeze({ ...account }),
    mode: around.mode,
    clock: around.clock,
    signal: abort.signal,
    log: { info: log('info'), warn: log('warn') },
    async transfer(scheme) {
      throw new TransferError('protocol', `the contract suite has no servers for ${scheme}`)
    },
  }
  return {
    context,
    attempts: line.attempts,
    moved: () => marked || line.attempts.some(({ moves, wroteBytes }) => moves && wroteBytes),
    expire() {
      line.expire()
      abort.abort()
    },
    finish: line.finish,
  }
}

/** Records as an engine keeps them: JSON, compared by value. */
export function openRecords(said: Said[]): Records {
  const stored = new Map<string, string>()
  return {
    async get(key) {
      const text = stored.get(key)
      return text === undefined ? undefined : (JSON.parse(text) as Json)
    },
    async swap(key, expected, value) {
      const before = expected === undefined ? undefined : JSON.stringify(expected)
      if (stored.get(key) !== before) return false
      stored.set(key, JSON.stringify(value))
      said.push({ where: 'records', what: { [key]: value } })
      return true
    },
  }
}
