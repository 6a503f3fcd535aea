import assert from 'node:assert/strict'
import type { Connector, Operation } from '../connector.ts'
import type { Stage } from './harness.ts'
import type { Booking, Sandbox } from './sandbox.ts'

/** One thing that must hold of every connector that can show it. */
export type Case = {
  /** What must hold, said of the connector: "declines what the acquirer declines". */
  readonly name: string
  /** Why a connector cannot show it, which is no fault; undefined: it applies. */
  readonly without?: (connector: Connector, sandbox: Sandbox) => string | undefined
  /** Throws when it does not hold. */
  run(stage: Stage, size: Size): Promise<void>
}

/** How much the case under load does. */
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

/** The first reason of several. */
export const needs =
  (...reasons: readonly NonNullable<Case['without']>[]): NonNullable<Case['without']> =>
  (connector, sandbox) => {
    for (const reason of reasons) {
      const why = reason(connector, sandbox)
      if (why !== undefined) return why
    }
    return undefined
  }

const shown = ({ key, amount }: Booking) => `${key} ${amount.minor} ${amount.currency}`

/** What the acquirer did since `before`, in the words of messages: keys and amounts. */
async function since(stage: Stage, before: readonly Booking[]): Promise<readonly string[]> {
  const left = before.map(shown)
  return (await stage.bookings()).map(shown).filter((text) => {
    const at = left.indexOf(text)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

/** Fails unless the acquirer did exactly these operations since `before`, whatever their keys. */
export async function mustHaveMoved(
  stage: Stage,
  before: readonly Booking[],
  operations: readonly Pick<Operation, 'key' | 'amount'>[],
  rule: string,
): Promise<void> {
  const amounts = (texts: readonly string[]) =>
    texts.map((text) => text.replace(/^\S+ /, '')).sort()
  assert.deepEqual(amounts(await since(stage, before)), amounts(operations.map(shown)), rule)
}

/** Fails when the acquirer did anything since `before`. */
export const mustNotHaveMoved = (stage: Stage, before: readonly Booking[], rule: string) =>
  mustHaveMoved(stage, before, [], rule)

/** Whether exactly this operation was done since `before`. */
export async function wasDone(
  stage: Stage,
  before: readonly Booking[],
  operation: Operation,
): Promise<boolean> {
  const done = await since(stage, before)
  return done.length === 1 && done[0] === shown(operation)
}
