import type { KeyObject } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import { anchorOf, headMac, isSame, linkMac } from './chain.ts'
import {
  type EndRow,
  endOfChain,
  type LinkRow,
  linksAfter,
  strayRows,
  toldForgotten,
} from './store-chain.ts'

/** Opens the chain key of a data key. */
export type OpenChainKey = (dataKeyId: string) => Promise<KeyObject>

export type Verified = {
  /** Existing links, and the end of the chain for safekeeping elsewhere. */
  readonly links: bigint
  readonly anchor: string
  /** Signs of manipulation, in words, and what cannot be checked: nobody knows then that it is unchanged. */
  readonly problems: readonly string[]
  /** Those of the problems that say only that a key does not open. They are no signs of manipulation. */
  readonly unchecked: readonly string[]
  /** Facts that cannot be verified now. */
  readonly notes: readonly string[]
}

/** For a widely changed trail, the first places are enough. */
const mostTold = 20

/**
 * Verifies the whole chain.
 *
 * @param anchors Ends of the chain kept elsewhere: each must still exist.
 */
export async function verifyTrail(
  lanes: Lanes,
  open: OpenChainKey,
  anchors: readonly string[] = [],
): Promise<Verified> {
  const found = new Findings()
  const [end] = await lanes.read(endOfChain)
  const keys = new Keys(open, found)
  await checkHead(end!, keys, found)
  const kept = new Kept(anchors)
  const last = end!.highest_no ?? end!.forgotten_no
  let before: Before = { no: end!.forgotten_no, mac: end!.forgotten_mac }
  for (let isEnd = false; !isEnd; ) {
    const rows: LinkRow[] = await lanes.read(
      linksAfter(before.no, last, limits.auditLinksAtOnce),
      limits.slowReadMs,
    )
    for (const row of rows) {
      await checkLink(row, before, keys, found)
      kept.met(row)
      before = row
    }
    isEnd = rows.length < limits.auditLinksAtOnce
  }
  // The rows about forgotten links are verified above, each by its link.
  const told = new Map(
    (await lanes.read(toldForgotten, limits.slowReadMs)).map(({ anchor }) => [
      numberOf(anchor),
      anchor,
    ]),
  )
  const isTold = tellForgotten(end!, told, found)
  kept.tellUnmet(end!.forgotten_no, isTold, told, found)
  for (const { id } of await lanes.read(strayRows(mostTold + 1), limits.slowReadMs)) {
    found.problem(`the row ${id} has no link and waits for none: its link was removed`)
  }
  return {
    links: last - end!.forgotten_no,
    anchor: anchorOf(end!.last_no, end!.last_mac),
    problems: [...found.problems, ...found.unchecked],
    unchecked: found.unchecked,
    notes: found.notes,
  }
}

type Before = { readonly no: bigint; readonly mac: Buffer }

async function checkLink(row: LinkRow, before: Before, keys: Keys, found: Findings): Promise<void> {
  const isNext = row.no === before.no + 1n
  if (!isNext) found.problem(missing(before.no + 1n, row.no - 1n))
  const name = `the row of link ${row.no} (${row.audit_id})`
  if (row.content === null) return found.problem(`${name} was removed`)
  const key = await keys.of(row.key_id)
  // Without the previous link, the hash cannot be computed.
  if (key === undefined || !isNext) return
  const { no, audit_id: auditId, content } = row
  const right = linkMac(key, { no, previous: before.mac, auditId, content })
  if (!isSame(right, row.mac)) found.problem(`${name} was changed, or moved there`)
}

/** Ends of the chain that were kept elsewhere. */
class Kept {
  readonly #unmet: Map<string, string>

  constructor(anchors: readonly string[]) {
    this.#unmet = new Map(anchors.map((anchor) => [numberOf(anchor), anchor]))
    this.#unmet.delete('0')
  }

  met({ no, mac }: LinkRow): void {
    if (this.#unmet.get(String(no)) === anchorOf(no, mac)) this.#unmet.delete(String(no))
  }

  /** @param told Ends of forgotten ranges in the trail, by number. */
  tellUnmet(
    forgotten: bigint,
    isTold: boolean,
    told: ReadonlyMap<string, string>,
    found: Findings,
  ): void {
    for (const [no, anchor] of this.#unmet) {
      const isAsTold = isTold && (told.get(no) ?? anchor) === anchor
      if (BigInt(no) <= forgotten && isAsTold)
        found.note(`link ${no} of the anchor was forgotten by age`)
      else
        found.problem(`link ${no} is not as the anchor has it: the trail was rewritten or cut off`)
    }
  }
}

const numberOf = (anchor: string) => anchor.slice(0, anchor.indexOf(':'))

/** Forgetting links adds a row with the last number; that row outlives the links. */
function tellForgotten(
  { forgotten_no: no, forgotten_mac: mac }: EndRow,
  told: ReadonlyMap<string, string>,
  found: Findings,
): boolean {
  if (no === 0n || told.get(String(no)) === anchorOf(no, mac)) return true
  found.problem(`the links up to ${no} are gone, and no row tells that they were forgotten by age`)
  return false
}

async function checkHead(end: EndRow, keys: Keys, found: Findings): Promise<void> {
  const highest = end.highest_no ?? end.forgotten_no
  if (end.key_id !== null) {
    const key = await keys.of(end.key_id)
    if (key !== undefined && !isSame(headMac(key, end), end.mac)) {
      found.problem('the head of the chain, which says how long it is, was changed')
    }
  } else if (highest > 0n || end.last_no > 0n) {
    found.problem('the head of the chain, which says how long it is, was put back')
  }
  if (highest < end.last_no) found.problem(missing(highest + 1n, end.last_no))
  if (highest > end.last_no)
    found.problem(`links beyond ${end.last_no}, the end of the chain, were added`)
  if (end.waiting > 0 && end.waiting_ms > limits.auditLagMs) {
    found.note(
      `${end.waiting} rows wait for their link since ${Math.round(end.waiting_ms / 1000)} seconds: is a process with role worker or all running?`,
    )
  }
}

const missing = (from: bigint, to: bigint) =>
  from === to ? `link ${from} was removed` : `the links ${from} to ${to} were removed`

class Findings {
  readonly problems: string[] = []
  readonly unchecked: string[] = []
  readonly notes: string[] = []
  #untold = 0

  problem(text: string): void {
    if (this.problems.length < mostTold) this.problems.push(text)
    else {
      this.#untold += 1
      this.problems[mostTold] = `and ${this.#untold} more`
    }
  }

  note(text: string): void {
    this.notes.push(text)
  }
}

/** Opened keys; a key that does not open is reported once. */
class Keys {
  readonly #open: OpenChainKey
  readonly #found: Findings
  readonly #known = new Map<string, KeyObject | undefined>()

  constructor(open: OpenChainKey, found: Findings) {
    this.#open = open
    this.#found = found
  }

  async of(id: string): Promise<KeyObject | undefined> {
    if (!this.#known.has(id)) {
      const key = await this.#open(id).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : 'it does not open'
        this.#found.unchecked.push(`links under data key ${id} cannot be checked: ${why}`)
        return undefined
      })
      this.#known.set(id, key)
    }
    return this.#known.get(id)
  }
}
