/** What work on keys shares: its parts, and the wait for all running processes. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Actor } from '../audit/actor.ts'
import type { Clock } from '../clock.ts'
import type { Database } from '../db/database.ts'
import type { Lanes } from '../db/lanes.ts'
import type * as pg from '../db/pg-types.ts'
import type { Keyring } from '../vault/keyring.ts'
import type { BoundedKeys } from '../vault/providers.ts'
import { aliveMs, type UseRow, usesWithin } from '../vault/store.ts'

/** A step that is impossible now. The message names the reason, and never a key. */
export class RotationError extends Error {
  override readonly name = 'RotationError'
}

/** Shared parts of all work on keys. */
export type KeyWork = {
  readonly database: Database
  readonly lanes: Lanes
  /** Connection whose statements give up locks quickly, so that payments wait only briefly. */
  readonly patient: pg.Pool
  readonly keys: BoundedKeys
  readonly keyring: Keyring
  readonly clock: Clock
  /** The actor of the work. */
  readonly by: Actor
}

export const askEveryMs = 200

/** A process that has the keys follows within a second or two. One that has not by then probably lacks one. */
const lateMs = 3_000

/** How long to wait for running processes to follow. */
export const defaultWaitMs = 120_000

type Follow = {
  readonly follows: (use: UseRow) => boolean
  /** The sentence about the processes that do not follow, from their count and names. */
  readonly why: (count: string, names: string) => string
  /** Comes before each look at them. */
  readonly look?: () => Promise<unknown>
  /** Hears of those that do not follow at the first look, and of those that are late. */
  readonly tell: (count: string, names: string, isLate: boolean) => void
  /** Silence after which a process counts as ended. Default 15 seconds. */
  readonly silenceMs?: number
}

/** Waits until every running process follows. @throws RotationError */
export async function everyone(
  { lanes, clock }: Pick<KeyWork, 'lanes' | 'clock'>,
  waitMs: number,
  { follows, why, look, tell, silenceMs = aliveMs }: Follow,
): Promise<void> {
  const sinceMs = clock.elapsedMs()
  const tellAtMs = [sinceMs, sinceMs + lateMs]
  for (const untilMs = sinceMs + waitMs; ; await pause(askEveryMs)) {
    await look?.()
    const behind = (await lanes.read(usesWithin(silenceMs))).filter((use) => !follows(use))
    if (behind.length === 0) return
    const count = behind.length === 1 ? '1 process' : `${behind.length} processes`
    const names = behind.map(({ name }) => `"${name}"`).join(', ')
    if (clock.elapsedMs() >= untilMs) throw new RotationError(why(count, names))
    if (clock.elapsedMs() < (tellAtMs[0] ?? Number.POSITIVE_INFINITY)) continue
    tell(count, names, tellAtMs.length === 1)
    tellAtMs.shift()
  }
}
