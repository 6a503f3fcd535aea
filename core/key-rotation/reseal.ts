import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { encrypt } from '../crypto/cipher.ts'
import type { Lanes } from '../db/lanes.ts'
import { faultPoint } from '../fault-point.ts'
import { lowestId } from '../ids.ts'
import { boundTo, opened, type Place } from '../vault/binding.ts'
import type { DataKey, Keyring } from '../vault/keyring.ts'
import { MissingKeyError } from '../vault/keys.ts'
import {
  type Purpose,
  type Resealed,
  type SealedRow,
  sealedTable,
  sealedTables,
} from '../vault/store-sealed.ts'

/** Rows that one statement reads, and rows that one statement locks: a few milliseconds each. */
const rowsPerPage = 1_000
const rowsPerSwap = 200

export type Pass = {
  /** Rows that are under the new key now. */
  readonly moved: number
  /** Rows that were locked or changed meanwhile; the next pass decides about them. */
  readonly left: number
  /** Number of rows under each key that do not open: the key is lost, or the rows were changed by hand. */
  readonly shut: ReadonlyMap<string, number>
}

export type Resealing = {
  readonly lanes: Lanes
  readonly keyring: Keyring
  readonly clock: Clock
  /** Old keys. */
  readonly from: readonly string[]
  readonly to: DataKey
  readonly moved?: (rows: number) => void
}

/**
 * Reads every sealed row once, and seals rows under an old key again. Safe to run twice and in several
 * processes at once: a row is replaced only if it is unchanged since the read, so erased rows stay erased
 * and changed rows stay changed. After a crash, each row is either old or new.
 *
 * @throws KeyProviderError when an old key cannot be opened now.
 */
export async function resealOnce(work: Resealing): Promise<Pass> {
  const pass = { moved: 0, left: 0, shut: new Map<string, number>() }
  for (const table of sealedTables) {
    for (let after = lowestId; ; ) {
      const page = await work.lanes.read(sealedTable[table].page(after, work.from, rowsPerPage))
      const last = page.at(-1)
      if (last === undefined) break
      after = last.id
      for (const keyId of work.from) {
        const rows = page.filter((row) => row.data_key_id === keyId && row.sealed !== null)
        for (let at = 0; at < rows.length; at += rowsPerSwap) {
          const done = await resealSome(work, table, keyId, rows.slice(at, at + rowsPerSwap))
          pass.moved += done.moved
          pass.left += done.left
          if (done.shut > 0) pass.shut.set(keyId, (pass.shut.get(keyId) ?? 0) + done.shut)
        }
      }
    }
  }
  return pass
}

async function resealSome(
  { lanes, keyring, clock, to, moved }: Resealing,
  table: Purpose,
  keyId: string,
  rows: readonly SealedRow[],
): Promise<{ moved: number; left: number; shut: number }> {
  const startedMs = clock.elapsedMs()
  const from = await openable(keyring, keyId)
  const fresh: Resealed[] = []
  for (const { id, owner_id, registration_id, sealed } of rows) {
    const place = { table, id, ownerId: owner_id ?? '-', registrationId: registration_id }
    const anew = from === undefined ? undefined : resealed(from, to, place, sealed!)
    if (anew !== undefined) fresh.push(anew)
  }
  const shut = rows.length - fresh.length
  if (fresh.length === 0) return { moved: 0, left: 0, shut }
  await faultPoint('rows-opened', table)
  const swapped = await lanes.single(sealedTable[table].swap(keyId, to.id, fresh))
  await faultPoint('rows-resealed', table)
  moved?.(swapped.length)
  // Half of the time belongs to payments.
  await pause(Math.min(1_000, clock.elapsedMs() - startedMs))
  return { moved: swapped.length, left: fresh.length - swapped.length, shut }
}

/** Undefined when the key is lost. */
async function openable(keyring: Keyring, keyId: string): Promise<DataKey | undefined> {
  try {
    return await keyring.get(keyId)
  } catch (error) {
    if (error instanceof MissingKeyError) return undefined
    throw error
  }
}

function resealed(from: DataKey, to: DataKey, place: Place, was: Buffer): Resealed | undefined {
  let plain: Buffer
  try {
    plain = opened(from, place, was)
  } catch {
    return undefined
  }
  const sealed = encrypt(to.key, plain, boundTo(to, place))
  plain.fill(0)
  return { id: place.id, was, sealed }
}
