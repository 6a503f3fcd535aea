/**
 * The chain of the audit trail. Each link is a keyed hash over its number, the previous link and
 * its whole row. The head, with its own keyed hash, stores the length. An attacker with write
 * access to the database and without the key cannot change, remove, add or reorder linked rows
 * unnoticed. The key derives from the digest data key that was current at the time of the link.
 * That key never seals data, so neither its rotation nor the rotation of key-encryption keys
 * affects a link.
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

/** A key of the chain, and the data key behind it. */
export type ChainKey = { readonly id: string; readonly key: KeyObject }

export type LinkFacts = {
  readonly no: bigint
  /** Hash of the previous link. */
  readonly previous: Buffer
  readonly auditId: string
  /** Null: the row was removed before its link. */
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

/**
 * The end of the chain at a moment, for safekeeping elsewhere: `12:9f…`. A shortened chain cannot
 * contain this end.
 */
export const anchorOf = (no: bigint, mac: Buffer): string => `${no}:${mac.toString('hex')}`

/** The end of the chain was changed: no link is added, and none is forgotten. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain'
}

/** Opens a key of the chain: the current one, or the one of an earlier data key. */
export type OpenChainKey = (dataKeyId?: string) => Promise<ChainKey>

/**
 * Locks the head and verifies it, so that an attacker with write access cannot have the engine sign
 * changed rows.
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
    // The key comes before the connection, since opening a key may need a connection of its own.
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
    // Another process continued under a newer key meanwhile.
  }
}

/** @throws BrokenChain when the head, or the last link it names, was changed. */
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
 * Adds the missing links, taking turns with other processes. Safe to run twice: the same commit
 * removes linked rows from the waiting ones.
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
