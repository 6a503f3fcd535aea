/** Where an attempt with a card begins to count as one that a card tester might make. */
import type { Trial } from '../card-testing/attempt.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import type { CheckedAccount } from '../request/account.ts'
import type { Request } from './accept.ts'
import type { Use } from './first-request.ts'

/**
 * Undefined for what is not counted: accounts that are no cards, and charges of schedules, which no
 * shopper makes and no attacker may stop.
 *
 * @throws TooManyFailures 429 800.120.100.
 */
export function beginTrial(
  engine: Engine,
  channel: Channel,
  paymentId: string,
  { fields }: Request,
  { kind }: CheckedAccount,
  numbers: Readonly<Record<string, string>>,
  sealed: { readonly fingerprint: Buffer } | null,
  use: Use,
): Trial | undefined {
  if (use.scheduled !== undefined || sealed === null) return undefined
  if (kind !== 'card' && kind !== 'tokenAccount') return undefined
  const number = numbers[`${kind}.number`]
  if (number === undefined) return undefined
  const attempt = {
    paymentId,
    channelId: channel.id,
    // What stands above a channel is its merchant.
    merchantId: channel.path[1] ?? channel.id,
    tokenId: use.caller?.id,
    fields,
    number,
    fingerprint: sealed.fingerprint,
  }
  return engine.cardTesting.begin(attempt, channel.settings)
}
