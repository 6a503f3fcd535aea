/** Refuses callers that guess the middle digits of a card number. */
import { limits } from '@tollgate/schemas'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { passesLuhn } from '../redaction/card-number.ts'
import { digitsOf } from '../redaction/card-numbers.ts'

/**
 * This refusal depends on the request alone; other refusals of back-pressure depend on the moment.
 */
export class TooManyNumbers extends GatewayError {
  constructor(waitMs: number) {
    super('800.120.100', {
      status: 429,
      description:
        'too many different card numbers with the same first six and last four digits, try again later',
      retryAfterSeconds: Math.ceil(waitMs / 1000),
    })
  }
}

/**
 * The threshold of the channel's settings, else of the environment. The test environment has none.
 */
function thresholdOf({ environment }: Engine, { settings }: Pick<Channel, 'settings'>) {
  const { distinctNumbers, distinctNumbersHours } = settings
  const usual = environment === 'live' ? limits.distinctNumbers : 0
  const most = typeof distinctNumbers === 'number' ? distinctNumbers : usual
  const hours = typeof distinctNumbersHours === 'number' ? distinctNumbersHours : undefined
  return { most, windowMs: hours === undefined ? limits.distinctNumbersMs : hours * 3_600_000 }
}

/** Lengths of card numbers in fields that also hold other accounts. */
const shortest = 12
const longest = 19

/** Numbers that look like card numbers, in any field, since a guess may use any field. */
function likeCards(numbers: Readonly<Record<string, string>>): string[] {
  const found = new Set<string>()
  for (const [field, number] of Object.entries(numbers)) {
    if (field === 'card.number' || field === 'tokenAccount.number') found.add(number)
    else {
      const digits = digitsOf(number)
      const isLong = digits.length >= shortest && digits.length <= longest
      if (isLong && passesLuhn(digits)) found.add(digits)
    }
  }
  return [...found]
}

/**
 * Counts the card numbers of a request, including lookalikes in fields of other accounts. Storing,
 * paying and verifying count alike. Numbers from the vault are no guesses and do not count. A
 * repeated number counts once.
 *
 * @param numbers by the full names of their fields.
 * @throws TooManyNumbers 429 800.120.100 after too many different numbers with the same ends.
 */
export function refuseManyNumbers(
  engine: Engine,
  channel: Pick<Channel, 'id' | 'settings'>,
  caller: Caller | undefined,
  numbers: Readonly<Record<string, string>>,
): void {
  const threshold = thresholdOf(engine, channel)
  if (threshold.most === 0) return
  // The embedding program is one caller for all merchants, so its numbers count per channel.
  const byToken = caller === undefined || caller.entityId === null ? [] : [`token ${caller.id}`]
  const scopes = [`channel ${channel.id}`, ...byToken]
  const waits = likeCards(numbers).map((number) =>
    engine.distinctNumbers.count(scopes, number, threshold),
  )
  const waitMs = Math.max(0, ...waits)
  if (waitMs === 0) return
  engine.alarm('card-testing', {
    subject: scopes.at(-1)!,
    why: 'many different card numbers with the same first six and last four digits',
    channel: channel.id,
    token: caller?.id ?? null,
  })
  throw new TooManyNumbers(waitMs)
}
