/**
 * Stores claims of messages: each once. A verified one with a known id and another content is left to operators,
 * unless the payment's account reads more of what another one handed to it.
 */
import { createHash } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import { storable } from '../db/json.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { entryAbout } from './list.ts'
import {
  addEvent,
  addOtherContent,
  addUnprovenBeside,
  addVerifiedBeside,
  type Handed,
  type StoredClaim,
} from './store.ts'

/** An event of an account: the id is the acquirer's. */
export type EventOf = {
  readonly connector: string
  readonly account: string
  readonly eventId: string
}

/**
 * Stores a claim.
 *
 * @param handed Of an event that another account of the merchant heard of.
 * @returns whether the event is new and needs work.
 */
export async function keepClaim(
  engine: Engine,
  { connector, account, eventId }: EventOf,
  claim: StoredClaim,
  handed?: Handed,
): Promise<boolean> {
  const text = storable(claim)
  await faultPoint('before-event', eventId)
  const rows = await engine.lanes.single(addEvent(connector, account, eventId, text, handed))
  await faultPoint('after-event', eventId)
  if (rows.length > 0) return true
  if (!claim.verified) {
    const beside = await engine.lanes.single(addUnprovenBeside(connector, account, eventId, text))
    return beside.length > 0
  }
  const digest = digestOf([text])
  const another = { connector, account, eventId, claim: text, digest }
  if (handed === undefined) {
    const [beside] = await engine.lanes.single(addVerifiedBeside(another))
    if (beside !== undefined) return true
  }
  const about = { connector, account, eventId, digest, key: claim.key }
  // An operator's retry applies to this content, and not to the first one.
  const entry = await entryAbout(engine, 'event', about, {
    why: 'it came again and says something else',
    now: claim,
    digest,
  })
  await engine.lanes.together(addOtherContent(another, limits.eventContents), [entry])
  return false
}

/** A repeat of the same message is listed once. */
export function digestOf(contents: readonly string[]): string {
  const hash = createHash('sha256')
  for (const content of contents) hash.update(`${content}\n`)
  return hash.digest('hex').slice(0, 16)
}
