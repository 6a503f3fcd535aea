/**
 * The chain of the audit trail. Each link is a keyed hash over its number, the link before and all of its
 * row; the head, under one of its own, says how long the chain is. Who can write to the database, and has
 * not the key, can neither change, remove, add nor reorder a linked row unnoticed. The key follows from the
 * data key of digests, whichever was current when the link was made: that is never sealed data, so neither
 * its rotation nor that of the key-encryption keys touches a link.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import type { Lanes } from '../db/lanes.ts'
import { faultPoint } from '../fault-point.ts'
import {
  addLinks,
  type HeadRow,
  headNow,
  holdHead,
  linksFrom,
  type NewLink,
  unlinked,
} from './store-chain.ts'

/** A key of the chain, and the data key that it follows from. */
export type ChainKey = { readonly id: string; readonly key: KeyObject }

export type LinkFacts = {
  readonly no: bigint
  /** Of the link before. */
  readonly previous: Buffer
  readonly auditId: string
  /** Null: the row was gone before it was linked. */
  readonly content: string | null
}

export function linkMac(key: KeyObject, { no, previous, auditId, content }: LinkFacts): Buffer {
  const text = `link 1\n${no}\n${previous.toString('hex')}\n${auditId}\n${content ?? ''}`
  return createHmac('sha256', key).update(text).digest()
}

export function headMac(key: KeyObject, head: Omit<HeadRow, 'mac'>): Buffer {
  const ends = [head.last_no, head.last_mac, head.forgotten_no, head.forgotten_mac]
  const text = ends.map((end) => (typeof end === 'bigint' ? end : end.toString('hex'))).join('\n')
  return createHmac('sha256', key).update(`head 1\n${text}`).digest()
}

/** The head with its own keyed hash. */
export const sealedHead = (
  { id, key }: ChainKey,
  head: Omit<HeadRow, 'mac' | 'key_id'>,
): HeadRow => {
  const full = { ...head, key_id: id }
  return { ...full, mac: headMac(key, full) }
}

/** Where the chain ended at a moment, to be kept elsewhere: `12:9f…`. A shorter chain cannot show it again. */
export const anchorOf = (no: bigint, mac: Buffer): string => `${no}:${mac.toString('hex')}`

/** The end of the chain is not as the engine left it: nothing is linked to it, and nothing forgotten. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain'
}

/** Opens a key of the chain: the current one, or the one that follows from a data key of before. */
export type OpenChainKey = (dataKeyId?: string) => Promise<ChainKey>

/**
 * Works with the head held, once it was found to be as the engine left it: who can write to the tables must
 * not have the engine sign what they made of it.
 *
 * @throws BrokenChain
 */
export async function withHead<T>(
  lanes: Lanes,
  open: OpenChainKey,
  work: (client: Client, head: HeadRow) => Promise<T>,
): Promise<T> {
  const { database, pools } = lanes
  for (;;) {
    // The key before the connection: opening one may need a connection of its own.
    const [seen] = await lanes.single(headNow)
    const keyId = seen?.key_id ?? null
    const chainKey = keyId === null ? undefined : await open(keyId)
    const done = await database.transaction(pools.single, async (client) => {
      const [head] = await database.query(client, holdHead)
      if (head === undefined) throw new BrokenChain('the head of the chain was removed')
      if (head.key_id !== keyId) return undefined
      checkEnd(head, chainKey, await database.query(client, linksFrom(head.last_no)))
      return { result: await work(client, head) }
    })
    if (done !== undefined) return done.result
    // Another process went on under a newer key meanwhile.
  }
}

/** @throws BrokenChain when the head, or the last link that it tells of, is not as the engine left it. */
function checkEnd(
  head: HeadRow,
  chainKey: ChainKey | undefined,
  links: readonly { readonly no: bigint; readonly mac: Buffer }[],
): void {
  const { last_no: lastNo, forgotten_no: forgottenNo } = head
  if (chainKey === undefined) {
    if (lastNo !== 0n || forgottenNo !== 0n) throw new BrokenChain('the head was put back')
  } else if (!isSame(headMac(chainKey.key, head), head.mac)) {
    throw new BrokenChain('the head of the chain, which says how long it is, was changed')
  }
  const beyond = links.find(({ no }) => no > lastNo)
  if (beyond !== undefined) throw new BrokenChain(`link ${beyond.no} was added beyond the end`)
  if (lastNo === forgottenNo) return
  const last = links.find(({ no }) => no === lastNo)
  if (last === undefined) throw new BrokenChain(`link ${lastNo}, the last one, was removed`)
  if (!isSame(last.mac, head.last_mac)) throw new BrokenChain(`link ${lastNo} was changed`)
}

export const isSame = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)

/**
 * Gives rows that have none their links, in turns with whoever else does. Safe to run twice: what is linked
 * waits no more, in the same commit.
 *
 * @returns how many. @throws BrokenChain
 */
export async function addNextLinks(
  lanes: Lanes,
  open: OpenChainKey,
  most: number = limits.auditLinksAtOnce,
): Promise<number> {
  const { database } = lanes
  const chainKey = await open()
  return withHead(lanes, open, async (client, head) => {
    const rows = await database.query(client, unlinked(most))
    let no = head.last_no
    let previous = head.last_mac
    const links = rows.map(({ audit_id: auditId, content }): NewLink => {
      no += 1n
      const mac = linkMac(chainKey.key, { no, previous, auditId, content })
      previous = mac
      return { auditId, mac }
    })
    if (links.length > 0) {
      const after = sealedHead(chainKey, { ...head, last_no: no, last_mac: previous })
      await database.query(client, addLinks(head.last_no + 1n, links, after))
      await faultPoint('audit-linked', String(no))
    }
    return links.length
  })
}
