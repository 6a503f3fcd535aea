import assert from 'node:assert/strict'
import type { Context } from '../connector.ts'
import { type Call, type CallOptions, openCall, openRecords, type Said } from './call.ts'
import { type Front, openFront } from './fault-proxy.ts'
import type { Attempt } from './http.ts'
import type { EngineSide } from './sandbox.ts'
import { Tokens } from './tokens.ts'

/** The deadline of the call is over when this resolves. */
export type Until = { readonly until?: Promise<unknown> }

/** The result or error of a call, and the requests sent. */
export type Told<T> = {
  readonly returned?: T
  readonly thrown?: unknown
  readonly attempts: readonly Attempt[]
  /** Whether money may have moved, by the plugin's own statement. */
  readonly moved: boolean
}

/** Only a hang takes a minute, also on a busy machine. */
export const hangMs = 60_000

export type StageOptions = {
  /** Time for an unhindered handler. */
  readonly patienceMs: number
  /** Time for a handler to end after its deadline. */
  readonly graceMs: number
}

/** The server of a sandbox: an acquirer, or a 3-D Secure server. */
type Server = {
  readonly url?: string
  settings(url: string): {
    readonly config: Readonly<Record<string, unknown>>
    readonly account: Readonly<Record<string, unknown>>
  }
  close(): Promise<void>
}

/** The parts of one case that connectors and authenticators share. `OwnContext` is the context of their functions. */
export type Environment<OwnContext> = {
  /** @throws Error for a plugin inside the process, which has no network */
  readonly front: Front
  /** The plugin's log lines and records. */
  readonly said: Said[]
  readonly clock: { ms: number; now(): Date }
  readonly config: Readonly<Record<string, unknown>>
  readonly account: Readonly<Record<string, unknown>>
  /** Calls any function with a context. */
  call<T>(
    work: (context: OwnContext) => T | Promise<T>,
    options?: CallOptions & Until,
  ): Promise<Told<T>>
  /** The acquirer knows none of the access tokens any more. */
  forgetTokens(): void
  close(): Promise<void>
}

/** @param contextOf makes the plugin's context from that of a connector. */
export async function openEnvironment<OwnServer extends Server, OwnContext>(
  modes: readonly Context['mode'][] | undefined,
  open: (engine: EngineSide) => Promise<OwnServer>,
  options: StageOptions,
  contextOf: (context: Context) => OwnContext,
): Promise<{ readonly server: OwnServer; readonly environment: Environment<OwnContext> }> {
  const said: Said[] = []
  const records = openRecords(said)
  const clock = { ms: Date.now(), now: () => new Date(clock.ms) }
  const server = await open({ records, clock })
  const front = server.url === undefined ? undefined : await openFront(server.url)
  const { config, account } = server.settings(front?.url ?? '')
  const around = {
    config,
    account,
    mode: modes?.find((mode) => mode !== 'LIVE') ?? ('EXTERNAL' as const),
    records,
    said,
    clock,
    tokens: new Tokens(),
    sequences: new Map(),
  }
  const environment: Environment<OwnContext> = {
    said,
    clock,
    config,
    account,
    get front() {
      if (front === undefined) throw new Error('the server has no url, so there is no front')
      return front
    },
    async call(work, { until, ...more } = {}) {
      const call = openCall(around, more)
      const sent = () => ({ attempts: call.attempts, moved: call.moved() })
      try {
        const returned = await bounded(() => work(contextOf(call.context)), call, options, until)
        return { returned, ...sent() }
      } catch (thrown) {
        if (thrown instanceof assert.AssertionError) throw thrown
        return { thrown, ...sent() }
      } finally {
        call.finish()
      }
    },
    forgetTokens: () => around.tokens.forget(),
    async close() {
      await front?.close()
      await server.close()
    },
  }
  return { server, environment }
}

/** Waits for a handler; after its deadline only for the grace period. */
async function bounded<T>(
  work: () => T | Promise<T>,
  call: Call,
  { patienceMs, graceMs }: StageOptions,
  until: Promise<unknown> | undefined,
): Promise<T> {
  const impatient = Promise.withResolvers<never>()
  const giveUp = (message: string) => impatient.reject(new assert.AssertionError({ message }))
  const timers = [setTimeout(giveUp, patienceMs, `a handler did not end within ${patienceMs} ms`)]
  let isOver = false
  until?.then(() => {
    call.expire()
    if (isOver) return
    const message = `a handler did not end within ${graceMs} ms after its deadline`
    timers.push(setTimeout(giveUp, graceMs, message))
  })
  try {
    return await Promise.race([Promise.resolve().then(work), impatient.promise])
  } finally {
    isOver = true
    for (const timer of timers) clearTimeout(timer)
  }
}
