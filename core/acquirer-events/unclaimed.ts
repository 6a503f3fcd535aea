/** Events about an operation that nobody knows, or that another account made. Its record may be late, or lost with a database. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { entryAbout } from './list.ts'
import type { InboundRow } from './store.ts'

/** Money moved, says whoever is proven to be the acquirer. */
const saysMoney = new Set(['approved', 'accepted', 'chargeback'])

/** Waits for the record of money that moved; in the end it is listed as money without a payment. */
export async function unknownKey(
  engine: Engine,
  { connector, account, event_id, claim, age_ms }: InboundRow,
): Promise<'wait' | 'unknown-key'> {
  if (!claim.verified || !saysMoney.has(claim.outcome.is)) return 'unknown-key'
  if (age_ms < limits.unclaimedMs) return 'wait'
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

/** It moves nothing of a payment that another account made; what is proven is not dropped without a trace. */
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
