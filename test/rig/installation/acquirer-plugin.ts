/**
 * The simulated acquirer with additional outcomes: accepted operations that can still fail,
 * disputes with references of their own, and a second connector to the same books without reversals
 * by key.
 */
import {
  accepted,
  type Claim,
  contractVersion,
  definePlugin,
  type Inbound,
  type Operation,
  type Outcome,
} from '@tollgate/plugin-kit'
import { claimsOf } from '../../../connectors/simulator/event.ts'
import {
  simulatorHttp,
  simulatorHttpAuthenticator,
} from '../../../connectors/simulator/http-connector.ts'

/** Cents of amounts that are accepted and can still fail. */
export const acceptedCents = 71n
/** The same, with the end found by polling. */
export const polledCents = 72n
const pollMs = 1_500

/** Its acquirer has no reversal by key. */
export const withoutReversalByKey = 'simulator-http-plain'

/** The authenticator of the same simulator. */
export const authenticatorName = simulatorHttpAuthenticator.name

/** The address of the simulator for all its connectors, and for its authenticator. */
export const connectorsAt = (url: string) => ({
  'simulator-http': { url },
  [withoutReversalByKey]: { url },
  [authenticatorName]: { url },
})

type Send = NonNullable<typeof simulatorHttp.debit>

const asAccepted = (outcome: Outcome, { amount }: Operation): Outcome => {
  const cents = amount.minor % 100n
  const isAccepted = cents === acceptedCents || cents === polledCents
  if (outcome.is !== 'approved' || outcome.amount !== undefined || !isAccepted) return outcome
  return accepted(outcome.refs, cents === acceptedCents ? 'event' : { poll: pollMs })
}

const mayFail =
  (send: Send): Send =>
  async (operation, context) =>
    asAccepted(await send(operation, context), operation)

/** A dispute's event has its reference beside the usual fields. */
function withReference(message: Inbound): readonly Claim[] {
  const { dispute } = JSON.parse(message.body.toString()) as { dispute?: unknown }
  const claims = claimsOf(message)
  return typeof dispute === 'string'
    ? claims.map((claim) => ({ ...claim, reference: dispute }))
    : claims
}

const { enquire, reverseByKey } = simulatorHttp.resolve

const spoken: typeof simulatorHttp = {
  ...simulatorHttp,
  authorize: mayFail(simulatorHttp.authorize!),
  debit: mayFail(simulatorHttp.debit!),
  credit: mayFail(simulatorHttp.credit!),
  capture: mayFail(simulatorHttp.capture!),
  refund: mayFail(simulatorHttp.refund!),
  reverse: mayFail(simulatorHttp.reverse!),
  increment: mayFail(simulatorHttp.increment!),
  resolve: {
    // A polled operation ends as in the books.
    enquire: async (operation, context) => {
      const found = await enquire!(operation, context)
      const isFinal = operation.amount.minor % 100n === polledCents
      return found.is === 'approved' && !isFinal ? (asAccepted(found, operation) as never) : found
    },
    ...(reverseByKey === undefined ? {} : { reverseByKey }),
  },
  inbound: { ...simulatorHttp.inbound!, parse: withReference },
}

const { reverseByKey: _none, ...asksOnly } = spoken.resolve
// Its merchant is the same, and a file is for one connector.
const { settlement: _file, ...withoutFiles } = spoken

export default definePlugin({
  name: 'simulator-http',
  contract: contractVersion,
  connectors: [spoken, { ...withoutFiles, name: withoutReversalByKey, resolve: asksOnly }],
  authenticators: [simulatorHttpAuthenticator],
})
