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

/** Makes the keys of a new database. */
export async function makeMissing(lanes: Lanes, keys: BoundedKeys): Promise<void> {
  for (const purpose of ['mac', 'seal'] as const) {
    if ((await current(lanes, purpose)) !== undefined) continue
    const { keyId, wrapped } = await keys.wrap(newKeyBytes())
    await lanes.single(addDataKey(newId(), purpose, keyId, wrapped))
  }
}

/** @throws MissingKeyError · KeyProviderError */
export async function openCurrent(
  lanes: Lanes,
  keyring: Keyring,
  purpose: DataKeyRow['purpose'],
): Promise<DataKey> {
  const row = (await current(lanes, purpose))!
  return keyring.get(row.id, row)
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

async function current(
  lanes: Lanes,
  purpose: DataKeyRow['purpose'],
): Promise<DataKeyRow | undefined> {
  const rows = await lanes.single(allDataKeys)
  return rows.find((row) => row.purpose === purpose && row.state === 'current')
}
