/** Marks the begin and the result of attempts that may be card testing. */

import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { CardWord, Trial } from '../card-testing/attempt.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import type { CheckedAccount } from '../request/account.ts'
import { isOpen } from './late-word-table.ts'
import type { Scheduled } from './scheduled.ts'
import type { Payment, Source } from './types.ts'

/**
 * Undefined for attempts that do not count: accounts that are no cards, and charges of schedules,
 * which no shopper makes and no attacker may stop.
 *
 * @throws TooManyFailures 429 800.120.100.
 */
export function beginTrial(
  engine: Pick<Engine, 'cardTesting'>,
  channel: Channel,
  paymentId: string,
  { fields }: Request,
  { kind }: CheckedAccount,
  numbers: Readonly<Record<string, string>>,
  sealed: { readonly fingerprint: Buffer } | null,
  use: { readonly scheduled?: Scheduled; readonly caller?: Caller },
): Trial | undefined {
  if (use.scheduled !== undefined || sealed === null) return undefined
  if (kind !== 'card' && kind !== 'tokenAccount') return undefined
  const number = numbers[`${kind}.number`]
  if (number === undefined) return undefined
  const attempt = {
    paymentId,
    channelId: channel.id,
    // The entity above a channel is its merchant.
    merchantId: channel.path[1] ?? channel.id,
    tokenId: use.caller?.id,
    fields,
    number,
    fingerprint: sealed.fingerprint,
  }
  return engine.cardTesting.begin(attempt, channel.settings)
}

/** Decisions by people or by time say nothing about the card. */
const noWord: ReadonlySet<Source> = new Set<Source>(['operator', 'expiry'])

/**
 * Counts the outcome of a settled payment. Never waits.
 *
 * @param trial The trial of the sending process, if still known.
 * @param fingerprint The fingerprint of the erased number.
 */
export function concludeTrial(
  engine: Pick<Engine, 'cardTesting'>,
  trial: Trial | undefined,
  payment: Payment,
  source: Source,
  fingerprint: Buffer | null | undefined,
): void {
  engine.cardTesting.settled(trial, payment, cardWordOf(payment, source), fingerprint)
}

function cardWordOf({ state, effect }: Payment, source: Source): CardWord {
  if (isOpen(state)) return 'open'
  // An authentication takes no money, so its success clears nobody.
  if (state === 'approved') return effect === 'authentication' ? 'nothing' : 'approved'
  return noWord.has(source) ? 'nothing' : 'declined'
}
