import { randomBytes } from 'node:crypto'
import type { Json, Records } from '@tollgate/plugin-kit'
import { type Entry, entryFromJson, entryToJson } from './entry.ts'
import { apply, entryOf, type Ledger } from './ledger.ts'

/**
 * Entries that outlive the process, in the records that the engine stores for a connector. A record
 * is written only over the value that was read, so of two processes deciding about one key the
 * second decides again.
 */
export type Keeper = {
  /** Loads a key's stored entry into the ledger. */
  load(key: string): Promise<void>
  /** Stores the durable entries; false when another process wrote first. */
  keep(entries: readonly Entry[]): Promise<boolean>
}

const recordOf = (key: string): string => `entry/${key}`

export function keeperOf(ledger: Ledger, records: Records): Keeper {
  const read = new Map<string, Json | undefined>()
  return {
    async load(key) {
      const stored = await records.get(recordOf(key))
      read.set(key, stored)
      if (stored === undefined) return
      const entry = entryFromJson(stored)
      if (isNews(entry, entryOf(ledger, key))) apply(ledger, [entry])
    },
    async keep(entries) {
      // The original comes first: its mark names the operation, which makes a repeat after an
      // interruption harmless.
      for (const entry of [...entries].reverse()) {
        if (!entry.durable) continue
        if (!read.has(entry.key)) read.set(entry.key, await records.get(recordOf(entry.key)))
        const kept = await records.swap(
          recordOf(entry.key),
          read.get(entry.key),
          entryToJson(entry),
        )
        if (!kept) return false
        read.delete(entry.key)
      }
      return true
    },
  }
}

/** Sums of follow-ups are not stored, so memory is the better copy unless a decision was stored. */
function isNews(stored: Entry, known: Entry | undefined): boolean {
  return (
    known === undefined ||
    known.state !== stored.state ||
    known.chargeback?.state !== stored.chargeback?.state
  )
}

/** Simultaneous decisions about one key; more rounds than that are a fault. */
const mostRounds = 10

/** Decides, stores and then writes; decides again when another process stored first. */
export async function decideKept<Decided extends { readonly writes: readonly Entry[] }>(
  ledger: Ledger,
  about: readonly string[],
  { records }: { readonly records: Records },
  decided: () => Decided,
): Promise<Decided> {
  for (let round = 0; round < mostRounds; round += 1) {
    const keeper: Keeper = keeperOf(ledger, records)
    for (const key of about) await keeper.load(key)
    const change = decided()
    if (!(await keeper.keep(change.writes))) continue
    apply(ledger, change.writes)
    return change
  }
  throw new Error('the simulator could not store an entry: its record kept changing')
}

const secretRecord = 'secret'

/** The secret that proves events and returning shoppers, the same in every process. */
export async function secretOf(records: Records): Promise<string> {
  for (;;) {
    const stored = await records.get(secretRecord)
    if (typeof stored === 'string') return stored
    await records.swap(secretRecord, undefined, randomBytes(32).toString('hex'))
  }
}
