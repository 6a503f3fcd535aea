/** The data keys that a vault starts with. Safe to run in several processes at once: one of them makes a key. */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { newKeyBytes } from '../crypto/cipher.ts'
import type { Lanes } from '../db/lanes.ts'
import { newId } from '../ids.ts'
import { type DataKey, type Keyring, wordOf } from './keyring.ts'
import { MissingKeyError } from './keys.ts'
import type { BoundedKeys } from './providers.ts'
import { addDataKey, allDataKeys, type DataKeyRow, earlierMacKeys } from './store.ts'

/** Makes the keys of a new database. @returns the current keys by purpose. */
export async function makeMissing(lanes: Lanes, keys: BoundedKeys): Promise<CurrentKeys> {
  const found = await currentKeys(lanes)
  const missing = (['mac', 'seal'] as const).filter((purpose) => !found.has(purpose))
  if (missing.length === 0) return found
  for (const purpose of missing) {
    const { keyId, wrapped } = await keys.wrap(newKeyBytes())
    await lanes.single(addDataKey(newId(), purpose, keyId, wrapped))
  }
  // Another process may have been first.
  return currentKeys(lanes)
}

export type CurrentKeys = ReadonlyMap<DataKeyRow['purpose'], DataKeyRow>

export async function currentKeys(lanes: Lanes): Promise<CurrentKeys> {
  const rows = await lanes.single(allDataKeys)
  return new Map(
    rows.filter(({ state }) => state === 'current').map((row) => [row.purpose, row] as const),
  )
}

/** Replaced digest keys whose rows may still be valid. Rows of a lost key are not found. */
export async function openEarlier(lanes: Lanes, keyring: Keyring, log: Log): Promise<DataKey[]> {
  const opened: DataKey[] = []
  for (const row of await lanes.single(earlierMacKeys(limits.idempotencyDays))) {
    try {
      opened.push(await keyring.get(row.id, row))
    } catch (error) {
      if (!(error instanceof MissingKeyError)) throw error
      log.warn(
        { dataKey: row.id, why: wordOf(error) },
        'repeats of requests from before the digest key was replaced are not recognised',
      )
    }
  }
  return opened
}
