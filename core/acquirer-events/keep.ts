/**
 * Stores claims of messages: each once. A verified one with a known id and another content is left to operators,
 * unless the payment's account reads more of what another one handed to it.
 */
import { createHash } from 'node:crypto'
import { storable } from '../db/json.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { endOfContent, listContent } from './other-content.ts'
import { isSameMerchant } from './same-merchant.ts'
import type { EventOf, Handed, StoredClaim } from './store.ts'
import { addAlone, addFirst, addUnproven, addUnprovenBeside, knownAt } from './store-add.ts'
import { addVerifiedBeside } from './store-content.ts'

/**
 * Stores a claim.
 *
 * @param handed Of an event that another account of the merchant heard of.
 * @returns whether the event is new and needs work.
 */
export async function keepClaim(
  engine: Engine,
  event: EventOf,
  claim: StoredClaim,
  handed?: Handed,
): Promise<boolean> {
  const text = storable(claim)
  await faultPoint('before-event', event.eventId)
  if (!claim.verified) return keepUnproven(engine, event, text)
  const known = await addProven(engine, event, claim, text, handed)
  await faultPoint('after-event', event.eventId)
  if (known === undefined) return true
  const another = { ...event, claim: text, digest: digestOf([canonical(claim)]) }
  if (handed === undefined) {
    const ended = await endOfContent(engine, another, claim)
    const beside = await engine.lanes.together(addVerifiedBeside(another), ended)
    if (beside.length > 0) return true
  }
  await listContent(engine, another, claim, known)
  return false
}

async function keepUnproven({ lanes }: Engine, event: EventOf, text: string): Promise<boolean> {
  const added = await lanes.single(addUnproven(event, text))
  await faultPoint('after-event', event.eventId)
  if (added.length > 0) return true
  return (await lanes.single(addUnprovenBeside(event, text))).length > 0
}

/**
 * Stores a verified claim, unless its event id is known. An event id counts for one operation per merchant number: the
 * first one, at whichever account of the number it came. Two that come at once take turns, so that one is the first.
 *
 * @returns the account at which the id is known; undefined when the event is new.
 */
async function addProven(
  engine: Engine,
  event: EventOf,
  claim: StoredClaim,
  text: string,
  handed: Handed | undefined,
): Promise<string | undefined> {
  const { lanes } = engine
  const { connector, account, eventId } = event
  if ((await lanes.single(addAlone(event, text, handed))).length > 0) return undefined
  const apart: string[] = []
  for (;;) {
    const turn = `event ${connector} ${eventId}`
    const added = await lanes.alone(turn, addFirst(event, claim.key, text, handed, apart))
    if (added.length > 0) return undefined
    const rows = await lanes.single(knownAt(event, claim.key, apart))
    for (const { account: other } of rows) {
      if (other === account || (await isSameMerchant(engine, connector, account, other)))
        return other
      apart.push(other)
    }
  }
}

/** A repeat of the same message is listed once. */
export function digestOf(contents: readonly string[]): string {
  const hash = createHash('sha256')
  for (const content of contents) hash.update(`${content}\n`)
  return hash.digest('hex').slice(0, 16)
}

/** JSON with names in their order at every depth: a claim that was stored meanwhile has another order. */
const canonical = (claim: StoredClaim): string =>
  JSON.stringify(JSON.parse(storable(claim)), (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
