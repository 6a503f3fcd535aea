/**
 * Every data key under the current key-encryption key. A process without that key works from memory for hours, and
 * then opens nothing: so each one first opens a probe under it.
 */
import { newKeyBytes } from '../crypto/cipher.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { MissingKeyError } from '../vault/keys.ts'
import { aliveMs, allDataKeys, dropKeyProbes, rewrapDataKey, showKeyProbe } from '../vault/store.ts'
import { defaultWaitMs, everyone, type KeyWork } from './followers.ts'

export type RewrapOptions = {
  /** How long to wait until running processes open the new key, in milliseconds. Default two minutes. */
  readonly waitMs?: number
  /** Receives sentences about the progress. */
  readonly tell?: (line: string) => void
}

export type Rewrapped = {
  readonly keyId: string
  readonly moved: readonly string[]
  readonly kept: readonly { readonly keyId: string; readonly why: string }[]
}

/**
 * Changes no sealed row. Safe to run twice and in several processes at once; the next call finishes an interrupted
 * one.
 *
 * @throws RotationError naming the processes that cannot open the new key · KeyProviderError
 */
export async function rewrap(work: KeyWork, options: RewrapOptions = {}): Promise<Rewrapped> {
  const { lanes, keys, by } = work
  const { tell = () => {}, waitMs = defaultWaitMs } = options
  const keyId = await keys.currentKeyId()
  const due = (await lanes.single(allDataKeys)).filter(
    (row) => row.state !== 'destroyed' && row.key_encryption_key_id !== keyId,
  )
  if (due.length > 0) await proven(work, waitMs, tell)
  const moved: string[] = []
  const kept: { keyId: string; why: string }[] = []
  for (const row of due) {
    try {
      const after = await keys.rewrap(row.key_encryption_key_id, row.wrapped)
      await lanes.single(rewrapDataKey(row.id, row.wrapped, after.keyId, after.wrapped, by))
      await faultPoint('key-rewrapped', row.id)
      moved.push(row.id)
      tell(`data key ${row.id} is under key "${after.keyId}"`)
    } catch (error) {
      if (!(error instanceof MissingKeyError)) throw error
      kept.push({ keyId: row.id, why: error.message })
    }
  }
  return { keyId, moved, kept }
}

/** Waits until every running process has opened a probe under the current key-encryption key. */
async function proven(work: KeyWork, waitMs: number, tell: (line: string) => void): Promise<void> {
  const { lanes, keys } = work
  const bytes = newKeyBytes()
  const { keyId, wrapped } = await keys.wrap(bytes)
  bytes.fill(0)
  const id = newId()
  // Again at each look: processes ask for a probe only while it is young, and one of a killed command grows old.
  const show = () => lanes.single(showKeyProbe(id, keyId, wrapped))
  try {
    await show()
    await faultPoint('key-probed', id)
    await everyone(work, waitMs, {
      follows: (use) => use.probe_ids.includes(id),
      why: (count, names) =>
        `${count} cannot open what key "${keyId}" wraps: ${names}. Nothing was changed. Give the key to each, or end it, and run the command again.`,
      look: show,
      tell: (count, names, isLate) =>
        tell(
          isLate
            ? `${count} cannot open what key "${keyId}" wraps yet: ${names}; give the key to each, or end it`
            : `waiting until ${count} can open what key "${keyId}" wraps: ${names}`,
        ),
      // A process that stands still for a while would come back without its data keys; a killed one costs this wait.
      silenceMs: Math.max(aliveMs, waitMs),
    })
  } finally {
    await lanes.single(dropKeyProbes(id))
  }
}
