import assert from 'node:assert/strict'
import type { Claim, Connector, Context, Kind, Operation } from '../connector.ts'
import {
  type Accepted,
  type Approved,
  type Found,
  MissingReference,
  type Money,
  type Outcome,
  type Refs,
  type ReversalEnd,
  type Reversed,
} from '../outcome.ts'
import type { CallOptions } from './call.ts'
import { claimsIn } from './case.ts'
import {
  type Environment,
  openEnvironment,
  type StageOptions,
  type Told,
  type Until,
} from './environment.ts'
import type { Attempt } from './http.ts'
import { judge } from './judge.ts'
import { keyAdvice } from './key-advice.ts'
import {
  type Done,
  firstOperation,
  operationOn,
  originalKind,
  scenesOf,
  withArticle,
  withoutInstrument,
} from './operation.ts'
import type { Acquirer, Booking, Brought, Sandbox } from './sandbox.ts'

/** The environment of one case, with the acquirer and the connector. */
export type Stage = Environment<Context> & {
  readonly connector: Connector
  readonly sandbox: Sandbox
  readonly acquirer: Acquirer
  /** Calls the handler of an operation. */
  perform(operation: Operation, options?: CallOptions & Until): Promise<Performed<Outcome>>
  enquire(operation: Operation, options?: CallOptions & Until): Promise<Performed<Found>>
  reverseByKey(operation: Operation, options?: CallOptions & Until): Promise<Performed<Reversed>>
  complete(operation: Operation, outcome: Outcome, brought: Brought): Promise<Performed<Outcome>>
  /** An operation of this kind, with its original carried out; for the scene's amount, or this one. */
  prepare(kind: Kind, amount?: Money): Promise<Operation>
  /** Carries an operation out; fails unless it was done. */
  done(operation: Operation): Promise<Done>
  bookings(): Promise<readonly Booking[]>
  /** What is wrong with the key of an operation that was not done, for the end of a message. */
  keyAdvice(operation: Operation, attempts: readonly Attempt[]): Promise<string>
}

/** `outcome` is the engine's view; an error of an enquiry or a reversal is `unknown`. */
export type Performed<T> = Told<T> & { readonly outcome: T }

export async function openStage(
  connector: Connector,
  sandbox: Sandbox,
  options: StageOptions,
): Promise<Stage> {
  const { server: acquirer, environment } = await openEnvironment(
    connector.supports.modes,
    (engine) => sandbox.open(engine),
    options,
    (context) => context,
  )
  const { said, clock, config, account, call, forgetTokens, close } = environment
  const outcomeOf = <T>(told: Told<T>): T | { is: 'unknown'; why: string } =>
    told.returned ?? { is: 'unknown', why: 'the call threw' }

  const keys = new Set<string>()

  const stage: Stage = {
    connector,
    sandbox,
    acquirer,
    said,
    clock,
    config,
    account,
    call,
    forgetTokens,
    close,
    get front() {
      return environment.front
    },
    async perform(operation, more) {
      const handler = connector[operation.kind]
      assert.ok(handler, `the connector has no ${operation.kind}`)
      keys.add(operation.key)
      const told = await call((context) => handler(operation, context), more)
      const lacking = MissingReference.is(told.thrown) && !told.moved && told.thrown.outcome
      return { ...told, outcome: judge(lacking || told.returned, told.moved, operation.kind) }
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
    async prepare(kind, amount) {
      const on = originalKind(connector, kind)
      if (on !== undefined) {
        return operationOn(connector, kind, await stage.done(await stage.prepare(on, amount)))
      }
      const [scene] = scenesOf(sandbox, kind)
      assert.ok(scene, `sandbox.approved has no scene for ${kind}`)
      return firstOperation(connector, kind, amount === undefined ? scene : { ...scene, amount })
    },
    async done(operation) {
      const { outcome: first, thrown, attempts } = await stage.perform(operation)
      const outcome = await endOf(stage, operation, first)
      if (isDone(outcome)) return { operation, outcome }
      const was = `${operation.kind} should be approved but was ${told(outcome, thrown)}`
      throw new assert.AssertionError({
        message: was + (await stage.keyAdvice(operation, attempts)),
      })
    },
    bookings: () => acquirer.bookings(),
    keyAdvice: async (operation, attempts) =>
      keyAdvice(operation, attempts, await acquirer.bookings(), keys),
  }
  return stage
}

/**
 * The end of an operation that the acquirer only took, as its connector said that the engine hears of it: by the
 * acquirer's event, or by an enquiry. Another outcome is its own end.
 */
export async function endOf<T extends Found>(
  stage: Stage,
  operation: Operation,
  outcome: T,
): Promise<T | Claim['outcome'] | Found> {
  const { acquirer, connector } = stage
  const next = outcome.is === 'pending' ? outcome.next : undefined
  if (next !== 'event' && !(next !== undefined && 'poll' in next)) return outcome
  const rule = `${withArticle(operation.kind)} is pending, so open() must answer with finish()`
  assert.ok(acquirer.finish, rule)
  await acquirer.finish(operation.key)
  if (next !== 'event' || connector.inbound?.proof === 'none') {
    return (await stage.enquire(operation)).outcome
  }
  if (connector.inbound === undefined) return outcome
  const [claim] = await delivered(stage, operation.key)
  return claim?.outcome ?? outcome
}

/** Whether the acquirer's messages themselves say what became of an operation. */
export const isBelieved = ({ inbound }: Connector): boolean =>
  inbound !== undefined && inbound.proof !== 'none'

export const isDone = (outcome: { readonly is: string }): outcome is Approved | Accepted =>
  outcome.is === 'approved' || outcome.is === 'accepted'

/** The acquirer sends its message about the present state of a key; the claims of the message. */
export async function delivered(stage: Stage, key: string): Promise<readonly Claim[]> {
  const { acquirer } = stage
  assert.ok(acquirer.event, 'the connector has inbound, so open() must answer with event()')
  return claimsIn(stage, await acquirer.event(key))
}

/** A reversal by key that the acquirer only took ends, and the acquirer tells so where it sends events. */
export async function reversalEnded(
  stage: Stage,
  key: string,
  as: ReversalEnd['is'],
): Promise<readonly Claim[]> {
  const { acquirer, connector } = stage
  assert.ok(acquirer.endReversal, 'a reversal that is only requested needs endReversal in open()')
  await acquirer.endReversal(key, as)
  return isBelieved(connector) ? delivered(stage, key) : []
}

/** An outcome in a few words, for messages of failed cases. */
export function told(outcome: Found | Reversed | Claim['outcome'], thrown?: unknown): string {
  const why = 'why' in outcome ? ` (${outcome.why})` : ''
  const error = thrown instanceof Error ? `: ${thrown.name} was thrown, ${thrown.message}` : ''
  const reason = 'reason' in outcome ? ` ${outcome.reason}` : ''
  return `${outcome.is}${reason}${why}${error}`
}
