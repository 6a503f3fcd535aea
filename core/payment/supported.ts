/** Refuses partial operations that the acquirer does not support, before anything is written. */
import type { Connector } from '@tollgate/plugin-kit'
import { GatewayError } from '../errors.ts'
import type { AttemptContext } from './attempt-context.ts'
import type { Effect } from './operation-kinds.ts'
import type { Balance } from './types.ts'

/** The acquirer's limits of an operation, for the reserving statement. */
export function supportedBy(
  { supports }: Connector,
  effect: Effect,
): { readonly wholeOnly: boolean; readonly onceOnly: boolean } {
  switch (effect) {
    case 'capture':
      return {
        wholeOnly: supports.capture?.partial === false,
        onceOnly: supports.capture?.multiple === false,
      }
    case 'refund':
      return { wholeOnly: supports.refund?.partial === false, onceOnly: false }
    case 'release':
      return { wholeOnly: supports.reverse?.partial === false, onceOnly: false }
    default:
      return { wholeOnly: false, onceOnly: false }
  }
}

const names: Readonly<Partial<Record<Effect, string>>> = {
  capture: 'captures',
  refund: 'refunds',
  release: 'reverses',
}

/**
 * The refusal of an operation that the sums allow and the acquirer does not; otherwise undefined.
 */
export function unsupported(
  connector: Connector,
  effect: Effect,
  amountMinor: bigint | null,
  balance: Balance | undefined,
): GatewayError | undefined {
  const { wholeOnly, onceOnly } = supportedBy(connector, effect)
  if (balance === undefined) return undefined
  const verb = names[effect] ?? 'does'
  const refuse = (message: string) =>
    new GatewayError('600.200.400', { parameterErrors: [{ name: 'amount', message }] })
  if (onceOnly && balance.captures > 0) return refuse(`the acquirer ${verb} only once`)
  if (!wholeOnly) return undefined
  const isAuthorisation = balance.kind === 'authorisation'
  const whole = isAuthorisation ? balance.authorised : balance.captured
  const used = isAuthorisation
    ? balance.captured + balance.reversed
    : balance.refunded + balance.refunding
  if (used === 0n && (amountMinor ?? whole) === whole) return undefined
  // An amount beyond the rest has its own refusal.
  if (amountMinor !== null && amountMinor > whole - used) return undefined
  return refuse(`the acquirer ${verb} only the whole amount, not a part of it`)
}

/** The reversal by key of this operation; undefined where the acquirer has none for its kind. */
export function reversalByKey({
  target,
  operation,
}: AttemptContext): Connector['resolve']['reverseByKey'] {
  const { supports, resolve } = target.loaded.connector
  const isCovered = supports.reversibleByKey?.includes(operation.kind) !== false
  return isCovered ? resolve.reverseByKey : undefined
}
