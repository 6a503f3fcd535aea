/**
 * The chain of the audit trail. Each link is a keyed hash over its number, the link before and all of its
 * row; the head, under one of its own, says how long the chain is. Who can write to the database, and has
 * not the key, can neither change, remove, add nor reorder a linked row unnoticed. The key follows from the
 * data key of digests, whichever was current when the link was made: that is never sealed data, so neither
 * its rotation nor that of the key-encryption keys touches a link.
 */
import { createHmac, type KeyObject } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import { faultPoint } from '../fault-point.ts'
import { addLinks, type HeadRow, holdHead, type NewLink, setHead, unlinked } from './store-chain.ts'

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

/**
 * Gives rows that have none their links, in turns with whoever else does. Safe to run twice: what is linked
 * waits no more, in the same commit.
 *
 * @returns how many, and the end of the chain.
 */
export async function addNextLinks(
  { database, pools }: Lanes,
  current: () => Promise<ChainKey>,
  most: number = limits.auditLinksAtOnce,
): Promise<{ readonly added: number; readonly anchor: string }> {
  const chainKey = await current()
  return database.transaction(pools.single, async (client) => {
    const [head] = await database.query(client, holdHead)
    const rows = await database.query(client, unlinked(most))
    let no = head!.last_no
    let previous = head!.last_mac
    const links = rows.map(({ audit_id: auditId, content }): NewLink => {
      no += 1n
      const mac = linkMac(chainKey.key, { no, previous, auditId, content })
      previous = mac
      return { no, auditId, mac }
    })
    if (links.length > 0) {
      await database.query(client, addLinks(chainKey.id, links))
      const after = { ...head!, last_no: no, last_mac: previous }
      await database.query(client, setHead(sealedHead(chainKey, after)))
      await faultPoint('audit-linked', String(no))
    }
    return { added: links.length, anchor: anchorOf(no, previous) }
  })
}
