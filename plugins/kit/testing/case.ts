import assert from 'node:assert/strict'
import type { Claim, Connector, Inbound, Operation } from '../connector.ts'
import type { Stage } from './harness.ts'
import type { Booking, Sandbox } from './sandbox.ts'

/** One rule for every connector that supports it. */
export type Case = {
  /** The rule as a sentence: "a decline of the acquirer is declined with its reason". */
  readonly name: string
  /** The reason why the case does not apply, which is no fault; undefined: it applies. */
  readonly without?: (connector: Connector, sandbox: Sandbox) => string | undefined
  /** Throws when the rule is broken. */
  run(stage: Stage, size: Size): Promise<void>
}

/** The amount of work in the case under load. */
export type Size = { readonly parallel: number }

export const needsHandler =
  (...kinds: readonly Operation['kind'][]) =>
  (connector: Connector): string | undefined =>
    kinds.some((kind) => connector[kind] !== undefined)
      ? undefined
      : `the connector has no ${kinds.join(', ')}`

export const needsLine = (_connector: Connector, sandbox: Sandbox): string | undefined =>
  sandbox.answers === undefined ? 'the connector works inside the process' : undefined

export const needsEnquiry = (connector: Connector): string | undefined =>
  connector.resolve.enquire === undefined ? 'the connector has no resolve.enquire' : undefined

export const needsReversal = (connector: Connector): string | undefined =>
  connector.resolve.reverseByKey === undefined
    ? 'the connector has no resolve.reverseByKey'
    : undefined

/** The first of several reasons. */
export const needs =
  (...reasons: readonly NonNullable<Case['without']>[]): NonNullable<Case['without']> =>
  (connector, sandbox) => {
    for (const reason of reasons) {
      const why = reason(connector, sandbox)
      if (why !== undefined) return why
    }
    return undefined
  }

/** The claims of a message. @throws the connector's error. */
export async function claimsIn(stage: Stage, message: Inbound): Promise<readonly Claim[]> {
  const { inbound } = stage.connector
  const { returned, thrown } = await stage.call((context) => inbound!.parse(message, context))
  if (returned === undefined) throw thrown
  return returned
}

const shown = ({ key, amount }: Booking) => `${key} ${amount.minor} ${amount.currency}`

/** The acquirer's bookings since `before` for messages: keys and amounts. */
async function since(stage: Stage, before: readonly Booking[]): Promise<readonly string[]> {
  const left = before.map(shown)
  return (await stage.bookings()).map(shown).filter((text) => {
    const at = left.indexOf(text)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

/** Fails unless the acquirer booked exactly these operations since `before`, under any keys. */
export async function mustHaveMoved(
  stage: Stage,
  before: readonly Booking[],
  operations: readonly Pick<Operation, 'key' | 'amount'>[],
  rule: string,
): Promise<void> {
  const amounts = (texts: readonly string[]) =>
    texts.map((text) => text.replace(/^\S+ /, '')).sort()
  const booked = amounts(await since(stage, before))
  const asked = amounts(operations.map(shown))
  const told = (all: readonly string[]) =>
    all.length === 0 ? 'nothing' : `${all.slice(0, 3).join(', ')}${all.length > 3 ? ', …' : ''}`
  const was = `the acquirer booked ${told(booked)} instead of ${told(asked)} (minor units)`
  assert.deepEqual(booked, asked, `${rule}: ${was}`)
}

/** Fails when the acquirer booked anything since `before`. */
export const mustNotHaveMoved = (stage: Stage, before: readonly Booking[], rule: string) =>
  mustHaveMoved(stage, before, [], rule)

/** Whether exactly this operation was booked since `before`. */
export async function wasDone(
  stage: Stage,
  before: readonly Booking[],
  operation: Operation,
): Promise<boolean> {
  const done = await since(stage, before)
  return done.length === 1 && done[0] === shown(operation)
}
