import assert from 'node:assert/strict'
import type { Connector, Context, Kind, Operation } from '../connector.ts'
import type { Found, Outcome, Refs, Reversed } from '../outcome.ts'
import { type Call, type CallOptions, openCall, openRecords, type Said } from './call.ts'
import { type Front, openFront } from './fault-proxy.ts'
import type { Attempt } from './http.ts'
import { judge } from './judge.ts'
import {
  type Done,
  firstOperation,
  operationOn,
  originalKind,
  scenesOf,
  withoutInstrument,
} from './operation.ts'
import type { Acquirer, Booking, Brought, Sandbox } from './sandbox.ts'

/** The environment of one case: the acquirer, the front before it, and an engine's part. */
export type Stage = {
  readonly connector: Connector
  readonly sandbox: Sandbox
  readonly acquirer: Acquirer
  /** @throws Error for a connector inside the process, which has no network */
  readonly front: Front
  /** The connector's log lines and records. */
  readonly said: Said[]
  readonly clock: { ms: number; now(): Date }
  readonly config: Readonly<Record<string, unknown>>
  readonly account: Readonly<Record<string, unknown>>
  /** Calls the handler of an operation. */
  perform(operation: Operation, options?: CallOptions & Until): Promise<Performed<Outcome>>
  enquire(operation: Operation, options?: Until): Promise<Performed<Found>>
  reverseByKey(operation: Operation, options?: Until): Promise<Performed<Reversed>>
  complete(operation: Operation, outcome: Outcome, brought: Brought): Promise<Performed<Outcome>>
  /** Calls any other function with a context. */
  call<T>(
    work: (context: Context) => T | Promise<T>,
    options?: CallOptions & Until,
  ): Promise<Told<T>>
  /** An operation of this kind, with its original carried out. */
  prepare(kind: Kind): Promise<Operation>
  /** Carries an operation out; fails unless it was done. */
  done(operation: Operation): Promise<Done>
  bookings(): Promise<readonly Booking[]>
  close(): Promise<void>
}

/** The deadline of the call is over when this resolves. */
export type Until = { readonly until?: Promise<unknown> }

/** The result or error of a call, and the requests sent. */
export type Told<T> = {
  readonly returned?: T
  readonly thrown?: unknown
  readonly attempts: readonly Attempt[]
  /** Whether money may have moved, by the connector's own statement. */
  readonly moved: boolean
}

/** `outcome` is the engine's view; an error of an enquiry or a reversal is `unknown`. */
export type Performed<T> = Told<T> & { readonly outcome: T }

export type StageOptions = {
  /** Time for an unhindered handler. */
  readonly patienceMs: number
  /** Time for a handler to end after its deadline. */
  readonly graceMs: number
}

export async function openStage(
  connector: Connector,
  sandbox: Sandbox,
  options: StageOptions,
): Promise<Stage> {
  const said: Said[] = []
  const records = openRecords(said)
  const clock = { ms: Date.now(), now: () => new Date(clock.ms) }
  const acquirer = await sandbox.open({ records, clock })
  const front = acquirer.url === undefined ? undefined : await openFront(acquirer.url)
  const { config, account } = acquirer.settings(front?.url ?? '')
  const around = {
    config,
    account,
    mode: connector.supports.modes?.find((mode) => mode !== 'LIVE') ?? 'EXTERNAL',
    records,
    said,
    clock,
    tokens: new Map(),
    sequences: new Map(),
  }
  const call: Stage['call'] = async (work, { until, ...more } = {}) => {
    const open = openCall(around, more)
    try {
      const returned = await bounded(() => work(open.context), open, options, until)
      return { returned, ...sentBy(open) }
    } catch (thrown) {
      if (thrown instanceof assert.AssertionError) throw thrown
      return { thrown, ...sentBy(open) }
    } finally {
      open.finish()
    }
  }
  const outcomeOf = <T>(told: Told<T>): T | { is: 'unknown'; why: string } =>
    told.returned ?? { is: 'unknown', why: 'the call threw' }

  const stage: Stage = {
    connector,
    sandbox,
    acquirer,
    said,
    clock,
    config,
    account,
    call,
    get front() {
      if (front === undefined) throw new Error('the acquirer has no url, so there is no front')
      return front
    },
    async perform(operation, more) {
      const handler = connector[operation.kind]
      assert.ok(handler, `the connector has no ${operation.kind}`)
      const told = await call((context) => handler(operation, context), more)
      return { ...told, outcome: judge(told.returned, told.moved, operation.kind) }
    },
    async enquire(operation, more) {
      const { enquire } = connector.resolve
      assert.ok(enquire, 'the connector has no resolve.enquire')
      const told = await call((context) => enquire(withoutInstrument(operation), context), more)
      return { ...told, outcome: outcomeOf(told) }
    },
    async reverseByKey(operation, more) {
      const { reverseByKey } = connector.resolve
      assert.ok(reverseByKey, 'the connector has no resolve.reverseByKey')
      const asked = withoutInstrument(operation)
      const told = await call((context) => reverseByKey(asked, context), more)
      return { ...told, outcome: outcomeOf(told) }
    },
    async complete(operation, outcome, brought) {
      const { complete } = connector
      assert.ok(complete, 'the connector has no complete')
      const { refs = {}, memo } = outcome as { refs?: Refs; memo?: never }
      const more = memo === undefined ? {} : { memo }
      const back = { ...brought, refs, ...more }
      const told = await call((context) => complete(withoutInstrument(operation), back, context))
      return { ...told, outcome: judge(told.returned, told.moved, operation.kind) }
    },
    async prepare(kind) {
      const on = originalKind(connector, kind)
      if (on !== undefined) {
        return operationOn(connector, kind, await stage.done(await stage.prepare(on)))
      }
      const [scene] = scenesOf(sandbox, kind)
      assert.ok(scene, `sandbox.approved has no scene for ${kind}`)
      return firstOperation(connector, kind, scene)
    },
    async done(operation) {
      const { outcome, thrown } = await stage.perform(operation)
      if (outcome.is !== 'approved' && outcome.is !== 'accepted') {
        assert.fail(`${operation.kind} should be approved but was ${told(outcome, thrown)}`)
      }
      return { operation, outcome }
    },
    bookings: () => acquirer.bookings(),
    async close() {
      await front?.close()
      await acquirer.close()
    },
  }
  return stage
}

/** An outcome in a few words, for messages of failed cases. */
export function told(outcome: Found | Reversed, thrown?: unknown): string {
  const why = 'why' in outcome ? ` (${outcome.why})` : ''
  const error = thrown instanceof Error ? `: ${thrown.name} was thrown, ${thrown.message}` : ''
  const reason = 'reason' in outcome ? ` ${outcome.reason}` : ''
  return `${outcome.is}${reason}${why}${error}`
}

export const sentBy = (call: Call) => ({ attempts: call.attempts, moved: call.moved() })

/** Waits for a handler; after its deadline only for the grace period. */
export async function bounded<T>(
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
