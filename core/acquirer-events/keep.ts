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
 * @returns whether work on the event has to begin: it is new, or is known and waits, since the answer of the database to
 * an earlier try may be lost. A handed one that is known has its work.
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
  if (known.isSame) return known.isOpen && handed === undefined
  const another = { ...event, claim: text, digest: digestOf([canonical(claim)]) }
  if (handed === undefined) {
    const ended = await endOfContent(engine, another, claim)
    const beside = await engine.lanes.together(addVerifiedBeside(another), ended)
    if (beside.length > 0) return true
  }
  await listContent(engine, another, claim, known.account)
  return false
}

async function keepUnproven({ lanes }: Engine, event: EventOf, text: string): Promise<boolean> {
  const added = await lanes.single(addUnproven(event, text))
  await faultPoint('after-event', event.eventId)
  if (added.length > 0) return true
  return (await lanes.single(addUnprovenBeside(event, text))).length > 0
}

type Known = {
  /** The account at which the event id is known. */
  readonly account: string
  /** The own account heard exactly this. */
  readonly isSame: boolean
  readonly isOpen: boolean
}

/**
 * Stores a verified claim, unless its event id is known. An event id counts for one operation per merchant number: the
 * first one, at whichever account of the number it came. Two that come at once take turns, so that one is the first.
 *
 * @returns what is known under the id; undefined when the event is new.
 */
async function addProven(
  engine: Engine,
  event: EventOf,
  claim: StoredClaim,
  text: string,
  handed: Handed | undefined,
): Promise<Known | undefined> {
  const { lanes } = engine
  const { connector, account, eventId } = event
  const [first] = await lanes.single(addAlone(event, text, handed))
  if (first?.is_added) return undefined
  if (first?.is_same != null)
    return { account, isSame: first.is_same, isOpen: first.is_open === true }
  const apart: string[] = []
  for (;;) {
    const turn = `event ${connector} ${eventId}`
    const added = await lanes.alone(turn, addFirst(event, claim.key, text, handed, apart))
    if (added.length > 0) return undefined
    const rows = await lanes.single(knownAt(event, claim.key, text, apart))
    for (const { account: other, is_same: isSame, is_open: isOpen } of rows) {
      if (other === account || (await isSameMerchant(engine, connector, account, other)))
        return { account: other, isSame, isOpen }
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
