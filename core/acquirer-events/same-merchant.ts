/**
 * Accounts of one merchant at one merchant account of the acquirer, which sends each event to all their
 * addresses, or to one of them.
 */
import type { Engine } from '../engine.ts'
import type { Target } from '../routing/targets.ts'

/**
 * Whether an event that came for one account may be about a payment of the other. Both accounts belong to
 * one merchant, so that no merchant's secret proves messages about payments of another.
 */
export async function isSameMerchant(
  { targets, directory }: Pick<Engine, 'targets' | 'directory'>,
  connector: string,
  one: string,
  other: string,
): Promise<boolean> {
  const [first, second] = [
    await targets.inbound(connector, one),
    await targets.inbound(connector, other),
  ]
  if (first === undefined || second === undefined || first.mode !== second.mode) return false
  const number = numberOf(first)
  if (number === undefined || number !== numberOf(second)) return false
  const merchants = await Promise.all(
    [first, second].map(({ channelId }) => directory.merchantOf(channelId)),
  )
  return merchants[0] === merchants[1]
}

/** The acquirer's number of the merchant, trimmed and in one case; undefined where none is known. */
function numberOf({ loaded, account }: Target): string | undefined {
  try {
    const number = loaded.connector.settlement?.merchantOf(account).trim().toLowerCase()
    return number === '' ? undefined : number
  } catch {
    return undefined
  }
}
