import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import { newKeyBytes } from '../crypto/cipher.ts'
import { sqlState } from '../db/database.ts'
import type { Lanes } from '../db/lanes.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import type { Keyring } from '../vault/keyring.ts'
import { MissingKeyError } from '../vault/keys.ts'
import {
  aliveMs,
  allDataKeys,
  announceDataKey,
  type DataKeyRow,
  dropInstallationKey,
  dropKeyProbes,
  promoteDataKey,
  replaceMacKey,
  retireDataKey,
  type UseRow,
  withdrawDataKey,
} from '../vault/store.ts'
import { fenceText, proveText, rowsByKey, sealedTables } from '../vault/store-sealed.ts'
import { askEveryMs, defaultWaitMs, everyone, type KeyWork, RotationError } from './followers.ts'
import { type Pass, resealOnce } from './reseal.ts'

export type RotateOptions = {
  /** Creates a new key although the last rotation is unfinished. */
  readonly fresh?: boolean
  /** Continues although keys are lost: their values stay sealed, and a lost mac key is replaced. */
  readonly lost?: boolean
  /** How long to wait for running processes to follow, in milliseconds. Default two minutes. */
  readonly waitMs?: number
  /** From the moment all processes seal with the new key until the old one is closed. Default five seconds. */
  readonly graceMs?: number
  /** Receives sentences about the progress. */
  readonly tell?: (line: string) => void
}

export type Rotation = {
  /** The current key. */
  readonly keyId: string
  /** Rows that this call sealed anew. */
  readonly moved: number
  readonly retired: readonly string[]
  /** Old keys that had to stay, and why. */
  readonly kept: readonly { readonly keyId: string; readonly why: string }[]
}

const tellEveryMs = 1_000
const fenceTries = 200

/**
 * Seals all rows under a new data key while payments continue. Each step is committed and can be repeated,
 * so the next rotation finishes an interrupted one, and concurrent rotations share the work: announce a
 * key, wait until every running process can open the key, make the key current, wait until every process
 * seals with it, seal old rows again, prove that no old row is left, retire the old key.
 *
 * @throws RotationError naming the processes that do not follow · KeyProviderError · MissingKeyError
 */
export async function rotate(work: KeyWork, options: RotateOptions = {}): Promise<Rotation> {
  const { lanes, clock } = work
  const tell = options.tell ?? (() => {})
  const graceMs = options.graceMs ?? limits.flushBudgetMs
  const waitMs = options.waitMs ?? defaultWaitMs
  await lanes.single(dropKeyProbes(null))
  await openOrLost(work, options.lost === true, tell)
  await announce(work, options.fresh === true, tell)
  const progress = new Progress(work, tell)
  for (let confirmed: { keyId: string; sinceMs: number } | undefined; ; ) {
    const to = await takeOver(work, waitMs, tell)
    if (confirmed?.keyId !== to.id) confirmed = { keyId: to.id, sinceMs: clock.elapsedMs() }
    const old = (await sealKeys(lanes)).filter(({ state }) => state === 'previous')
    await progress.begin(old)
    const pass = await onePass(work, old, to, (rows) => progress.add(rows))
    progress.tell()
    if (pass === undefined || pass.moved + pass.left > 0) {
      // Other transactions lock the remaining rows; the pause avoids a busy loop.
      if (pass?.moved === 0) await pause(askEveryMs)
      continue
    }
    // Values sealed with the old key just before a process followed have reached the database by
    // now.
    const restMs = confirmed.sinceMs + graceMs - clock.elapsedMs()
    if (restMs > 0) {
      await pause(restMs)
      continue
    }
    const retired: string[] = []
    const kept: { keyId: string; why: string }[] = []
    for (const { id } of old) {
      const shut = pass.shut.get(id) ?? 0
      const why = shut > 0 ? `${shut} rows under it cannot be opened` : await retire(work, id)
      if (why === undefined) retired.push(id)
      else kept.push({ keyId: id, why })
    }
    for (const id of retired) tell(`data key ${id} seals nothing any more and is retired`)
    return { keyId: to.id, moved: progress.moved, retired, kept }
  }
}

/**
 * A wrong key file must not start a second set of keys: the present key has to open, unless the
 * operator declares it lost.
 */
async function openOrLost(
  work: KeyWork,
  isLost: boolean,
  tell: (line: string) => void,
): Promise<void> {
  const { lanes, keyring } = work
  for (const row of await lanes.single(allDataKeys)) {
    if (row.state !== 'current' && row.state !== 'announced') continue
    const why = await shutBecause(keyring, row)
    if (why === undefined) continue
    if (!isLost) {
      throw new RotationError(
        `${why} Nothing was changed. Only if that key is lost for good, "tollgate keys rotate --lost" goes on without what it sealed.`,
      )
    }
    if (row.purpose === 'mac') await renewMac(work)
    else if (row.purpose === 'acquirer') await lanes.single(dropInstallationKey(row.id, work.by))
    else if (row.state === 'announced') await lanes.single(withdrawDataKey(row.id, work.by))
    tell(`data key ${row.id} is lost`)
  }
}

/** Why a data key does not open with the keys that were given. */
async function shutBecause(keyring: Keyring, row: DataKeyRow): Promise<string | undefined> {
  try {
    await keyring.get(row.id, row)
    return undefined
  } catch (error) {
    if (error instanceof MissingKeyError) return error.message
    throw error
  }
}

/** Creates another key for digests. @returns its id. @throws RotationError while processes run. */
export async function renewMac({ lanes, keys, by }: KeyWork): Promise<string> {
  const rows = await lanes.single(allDataKeys)
  const was = rows.find(({ purpose, state }) => purpose === 'mac' && state === 'current')
  if (was === undefined) throw new RotationError('This database has no keys yet.')
  const { keyId, wrapped } = await keys.wrap(newKeyBytes())
  const id = newId()
  const made = await lanes.single(replaceMacKey(was.id, id, keyId, wrapped, aliveMs, by))
  if (made.length > 0) return id
  throw new RotationError(
    'The key for digests is replaced only while no process runs: stop all of them, wait 15 seconds and run the command again.',
  )
}

/** Reports the progress, once a second and after each pass. */
class Progress {
  moved = 0
  readonly #work: KeyWork
  readonly #tell: (line: string) => void
  #total: number | undefined
  #told = 0
  #toldMs = 0

  constructor(work: KeyWork, tell: (line: string) => void) {
    this.#work = work
    this.#tell = tell
  }

  async begin(old: readonly DataKeyRow[]): Promise<void> {
    if (this.#total !== undefined || old.length === 0) return
    const counts = await this.#work.lanes.upkeep(rowsByKey)
    this.#total = counts
      .filter(({ id }) => old.some((key) => key.id === id))
      .reduce((sum, { rows }) => sum + Number(rows), 0)
  }

  add(rows: number): void {
    this.moved += rows
    if (this.#work.clock.elapsedMs() - this.#toldMs > tellEveryMs) this.tell()
  }

  tell(): void {
    if (this.moved === this.#told) return
    this.#told = this.moved
    this.#toldMs = this.#work.clock.elapsedMs()
    this.#tell(`${this.moved} of ${Math.max(this.moved, this.#total ?? 0)} rows sealed anew`)
  }
}

/** Creates a new key, unless an unfinished rotation has one. */
async function announce(
  { lanes, keys, keyring, by }: KeyWork,
  isFresh: boolean,
  tell: (line: string) => void,
): Promise<void> {
  const rows = await sealKeys(lanes)
  const current = rows.find(({ state }) => state === 'current')
  if (current === undefined) {
    throw new RotationError('There is nothing to rotate: this database has no data key yet.')
  }
  const unfinished = rows.find(({ state }) => state === 'announced')
  if (unfinished !== undefined) return tell(`going on with data key ${unfinished.id}`)
  for (const row of rows.filter(({ state }) => state === 'previous')) {
    if (isFresh || (await shutBecause(keyring, row)) !== undefined) continue
    return tell(`finishing the rotation to data key ${current.id}`)
  }
  const id = newId()
  const { keyId, wrapped } = await keys.wrap(newKeyBytes())
  const made = await lanes.single(announceDataKey(id, current.id, keyId, wrapped, by))
  if (made.length === 0) return tell('another rotation was first; joining it')
  await faultPoint('key-announced', id)
  tell(`made data key ${id}, wrapped by key "${keyId}"`)
}

/** Makes an announced key current once every process can open it, and waits until every process seals with it. */
async function takeOver(work: KeyWork, waitMs: number, tell: (line: string) => void) {
  const { lanes, keyring } = work
  const announced = (await sealKeys(lanes)).find(({ state }) => state === 'announced')
  if (announced !== undefined) {
    // A process must not seal with a key that it cannot open.
    await keyring.get(announced.id, announced)
    await following({ work, waitMs, tell }, 'open', announced.id, (use) =>
      [use.ready_key_id, use.data_key_id].includes(announced.id),
    )
    const [promoted] = await lanes.single(promoteDataKey(announced.id, work.by))
    await faultPoint('key-promoted', announced.id)
    if (promoted !== undefined) tell(`data key ${announced.id} seals from now on`)
  }
  const current = (await sealKeys(lanes)).find(({ state }) => state === 'current')!
  await following(
    { work, waitMs, tell },
    'seal with',
    current.id,
    (use) => use.data_key_id === current.id,
  )
  return keyring.get(current.id, current)
}

const following = (
  { work, waitMs, tell }: { work: KeyWork; waitMs: number; tell: (line: string) => void },
  what: string,
  keyId: string,
  follows: (use: UseRow) => boolean,
): Promise<void> =>
  everyone(work, waitMs, {
    follows,
    why: (count, names) =>
      `${count} cannot ${what} data key ${keyId} yet: ${names}. Do they have the key-encryption key it is wrapped by? Nothing is lost; run the command again to go on.`,
    tell: (count, names, isLate) => {
      if (isLate) tell(`${count} cannot ${what} data key ${keyId} yet: ${names}`)
    },
  })

/** One pass, or undefined when a newer key has taken over meanwhile and the old one is closed. */
async function onePass(
  { lanes, keyring, clock }: KeyWork,
  old: readonly DataKeyRow[],
  to: Awaited<ReturnType<Keyring['get']>>,
  moved: (rows: number) => void,
): Promise<Pass | undefined> {
  if (old.length === 0) return { moved: 0, left: 0, shut: new Map() }
  try {
    const from = old.map(({ id }) => id)
    return await resealOnce({ lanes, keyring, clock, from, to, moved })
  } catch (error) {
    if (sqlState(error) === '23514') return undefined
    throw error
  }
}

/**
 * Closes an old key: constraints keep every process from committing rows under it, then Postgres
 * proves that there are none. Safe to run again and in several processes at once.
 *
 * @returns why the key has to stay, or undefined when it is retired.
 */
export async function retire(work: KeyWork, keyId: string): Promise<string | undefined> {
  try {
    for (const table of sealedTables) {
      await alter(work, fenceText(table, keyId))
      await faultPoint('key-fenced', keyId)
    }
    for (const table of sealedTables) await alter(work, proveText(table, keyId))
  } catch (error) {
    const reason = stays[sqlState(error) ?? '']
    if (reason === undefined) throw error
    return reason.replace('<id>', keyId)
  }
  await faultPoint('key-proven', keyId)
  await work.lanes.single(retireDataKey(keyId, work.by))
  await faultPoint('key-retired', keyId)
  return undefined
}

/** Explanations of Postgres' errors that keep a key in use. */
const stays: Readonly<Record<string, string>> = {
  '23514': 'rows are still sealed under it; rotate again',
  '42501':
    'only the owner of the tables can retire it: run "tollgate keys retire <id>" with the database URL of that user',
  '55P03': 'the tables are too busy to be closed for it; run the command again',
}

/** Gives up on a lock quickly and retries, since a waiting lock blocks every payment behind it. */
async function alter({ database, patient }: KeyWork, text: string): Promise<void> {
  for (let failed = 1; ; failed += 1) {
    try {
      await patient.query(database.rewrite(text))
      return
    } catch (error) {
      if (sqlState(error) === '42710') return
      if (sqlState(error) !== '55P03' || failed === fenceTries) throw error
      await pause(100)
    }
  }
}

export async function sealKeys(lanes: Lanes): Promise<DataKeyRow[]> {
  return (await lanes.single(allDataKeys)).filter(({ purpose }) => purpose === 'seal')
}
