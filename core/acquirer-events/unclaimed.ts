/**
 * Events about an operation that is unknown or belongs to another account. The operation's record
 * may be late, or lost with a database: a request under its key writes it again.
 */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { entryAbout } from './list.ts'
import type { InboundRow } from './store.ts'

/** Outcomes of verified messages that mean moved money. */
const saysMoney = new Set([
  'approved',
  'accepted',
  'notReversed',
  'chargeback',
  'chargebackReversal',
])

/**
 * Every verified message waits for its record, since a decline or a reversal changes the payment as
 * much as an approval. Finally lists money without a payment.
 */
export async function unknownKey(
  engine: Engine,
  { connector, account, event_id, claim, age_ms, waits }: InboundRow,
): Promise<'wait' | 'unknown-key'> {
  if (!claim.verified) return 'unknown-key'
  if (age_ms < limits.unclaimedMs) {
    // The first look can be faster than the payment.
    if (waits === 1) {
      engine.log.info(
        { connector, account, event: event_id },
        'a proven event names a key that no payment has, and waits for its payment',
      )
    }
    return 'wait'
  }
  if (!saysMoney.has(claim.outcome.is)) return 'unknown-key'
  const about = { connector, account, eventId: event_id, key: claim.key }
  await engine.lanes.single(
    await entryAbout(engine, 'unclaimed', about, {
      said: claim.outcome.is,
      minor: claim.minor,
      currency: claim.currency,
      refs: claim.outcome.refs ?? {},
    }),
  )
  return 'unknown-key'
}

/** Another account's event moves nothing; a verified one is listed. */
export async function otherAccount(
  engine: Engine,
  { connector, account, event_id, claim }: InboundRow,
): Promise<'other-account'> {
  if (!claim.verified) return 'other-account'
  const about = { connector, account, eventId: event_id, key: claim.key }
  await engine.lanes.single(
    await entryAbout(engine, 'event', about, {
      why: 'it names a payment of another account',
      said: claim.outcome.is,
      minor: claim.minor,
      currency: claim.currency,
    }),
  )
  return 'other-account'
}
