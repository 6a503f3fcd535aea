/** Refuses whoever tries out card numbers of which he knows the first six and the last four digits. */
import { limits } from '@tollgate/schemas'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'

/** One refusal among those of back-pressure that follows from the request alone, and not from the moment. */
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

/** What a channel's settings say, and where they are silent, what its environment does: nothing in test. */
function thresholdOf({ environment }: Engine, { settings }: Channel) {
  const { distinctNumbers, distinctNumbersHours } = settings
  const usual = environment === 'live' ? limits.distinctNumbers : 0
  const most = typeof distinctNumbers === 'number' ? distinctNumbers : usual
  const hours = typeof distinctNumbersHours === 'number' ? distinctNumbersHours : undefined
  return { most, windowMs: hours === undefined ? limits.distinctNumbersMs : hours * 3_600_000 }
}

/**
 * Counts a card number that a request brought along. What it is stored as, paid with or verified for
 * makes no difference; a number out of the vault is nobody's guess and is not counted.
 *
 * @throws TooManyNumbers 429 800.120.100 when there were too many different ones of its kind.
 */
export function refuseManyNumbers(
  engine: Engine,
  channel: Channel,
  caller: Caller | undefined,
  number: string | undefined,
): void {
  const threshold = thresholdOf(engine, channel)
  if (number === undefined || threshold.most === 0) return
  // The embedding program is one caller for all its merchants: its channels are counted.
  const byToken = caller === undefined || caller.entityId === null ? [] : [`token ${caller.id}`]
  const scopes = [`channel ${channel.id}`, ...byToken]
  const waitMs = engine.distinctNumbers.count(scopes, number, threshold)
  if (waitMs === 0) return
  engine.alarm('card-testing', {
    subject: scopes.at(-1)!,
    why: 'many different card numbers with the same first six and last four digits',
    channel: channel.id,
    token: caller?.id ?? null,
  })
  throw new TooManyNumbers(waitMs)
}
