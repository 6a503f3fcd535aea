/** Where an attempt with a card begins to count as one that a card tester might make, and what it came to. */

import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { CardWord, Trial } from '../card-testing/attempt.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import type { CheckedAccount } from '../request/account.ts'
import { isOpen } from './late-words.ts'
import type { Scheduled } from './scheduled.ts'
import type { Payment, Source } from './types.ts'

/**
 * Undefined for what is not counted: accounts that are no cards, and charges of schedules, which no
 * shopper makes and no attacker may stop.
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
    // What stands above a channel is its merchant.
    merchantId: channel.path[1] ?? channel.id,
    tokenId: use.caller?.id,
    fields,
    number,
    fingerprint: sealed.fingerprint,
  }
  return engine.cardTesting.begin(attempt, channel.settings)
}

/** What was decided by people, or by time, tells nothing about the card. */
const noWord: ReadonlySet<Source> = new Set<Source>(['operator', 'expiry'])

/**
 * A payment was moved to what it now is. Waits for nothing.
 *
 * @param trial Of the process that sent it, where it still has it.
 * @param fingerprint Of the number that was erased with it.
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

function cardWordOf({ state }: Payment, source: Source): CardWord {
  if (isOpen(state)) return 'open'
  if (state === 'approved') return 'approved'
  return noWord.has(source) ? 'nothing' : 'declined'
}
