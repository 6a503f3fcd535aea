/** Fetches the new settlement files of one account at its acquirer. */
import { setTimeout as pause } from 'node:timers/promises'
import type { RemoteFile } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { ConnectorCall } from '../connector/call.ts'
import type { Engine } from '../engine.ts'
import type { AccountRow } from '../entity/store.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { addTimer, removeTimer } from '../timer/store.ts'
import { merchantOfAccount, receive } from './receive.ts'
import { anyAccount, cursorOf, planFetches, saveCursor } from './store-scope.ts'

/** Longest text that a connector may name as its position. */
const cursorCharacters = 4_000

/** The fetch took longer than its limit. */
class FetchTooSlow extends Error {
  override readonly name = 'FetchTooSlow'
}

/**
 * The next fetch has its time before this one begins, so that a fetch that fails or hangs is repeated then
 * and not sooner. The cursor moves after a file is stored: a crash in between fetches the file again, and
 * its bytes are recognised.
 */
export async function fetchFiles(engine: Engine, accountId: string): Promise<void> {
  const { lanes, log, registry } = engine
  const [account] = await lanes.single(anyAccount(accountId))
  const fetch = account && registry.get(account.connector)?.connector.settlement?.fetch
  if (account === undefined || fetch === undefined) {
    await lanes.single(removeTimer('settlement-fetch', accountId))
    return
  }
  await lanes.single(addTimer(newId(), 'settlement-fetch', accountId, limits.settlementFetchMs))
  try {
    await fetchNow(engine, account)
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.name : 'unknown'
    log.warn(
      { account: accountId, connector: account.connector, error },
      'settlement files could not be fetched; the next fetch is in an hour',
    )
  }
}

/** @returns the number of files that came. @throws what the connector throws, or `FetchTooSlow`. */
export function fetchNow(engine: Engine, account: AccountRow): Promise<number> {
  return engine.inFlight.track(withinLimit((signal) => fetchNew(engine, account, signal)))
}

/** Gives new accounts their timer. No statement without a connector that fetches. */
export async function planFetchTimers({
  lanes,
  registry,
}: Pick<Engine, 'lanes' | 'registry'>): Promise<void> {
  const fetching = registry
    .names()
    .filter((name) => registry.get(name)?.connector.settlement?.fetch !== undefined)
  if (fetching.length === 0) return
  await lanes.upkeep(planFetches(fetching, limits.settlementFetchMs))
}

async function withinLimit(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const done = new AbortController()
  const late = pause(limits.settlementFetchWithinMs, undefined, {
    signal: done.signal,
    ref: false,
  }).then(() => {
    throw new FetchTooSlow('the fetch took too long')
  })
  const stop = new AbortController()
  const working = work(stop.signal)
  working.catch(() => {})
  late.catch(() => {})
  try {
    return await Promise.race([working, late])
  } finally {
    done.abort()
    stop.abort()
  }
}

async function fetchNew(engine: Engine, account: AccountRow, signal: AbortSignal): Promise<number> {
  const { lanes, clock } = engine
  const merchant = await merchantOfAccount(engine, account)
  if (merchant === undefined) throw new Error('the account has no merchant number')
  const target = await engine.targets.inbound(account.connector, account.id)
  if (target === undefined) return 0
  const { settlement } = target.loaded.connector
  const bounds = {
    deadlineMs: clock.elapsedMs() + limits.settlementFetchWithinMs,
    sendByWallMs: clock.realMs() + limits.settlementFetchWithinMs,
  }
  const call = new ConnectorCall(engine.services, target, bounds)
  signal.addEventListener('abort', () => call.abort(), { once: true })
  let files = 0
  try {
    const [known] = await lanes.single(cursorOf(account.id))
    for await (const file of settlement!.fetch!(known?.cursor, call)) {
      if (signal.aborted) return files
      await store(engine, account, merchant, file, signal)
      files += 1
    }
    return files
  } finally {
    call.finish()
  }
}

async function store(
  engine: Engine,
  account: AccountRow,
  merchant: NonNullable<Awaited<ReturnType<typeof merchantOfAccount>>>,
  { name, cursor, open }: RemoteFile,
  signal: AbortSignal,
): Promise<void> {
  if (typeof cursor !== 'string' || cursor.length > cursorCharacters) {
    throw new TypeError(`a cursor is a text of at most ${cursorCharacters} characters`)
  }
  await receive(
    engine,
    {
      connector: account.connector,
      mode: account.mode,
      accountId: account.id,
      entityId: account.channel_id,
      merchant,
      name: String(name),
      source: 'fetch',
    },
    until(signal, await open()),
  )
  await faultPoint('settlement-fetched', account.id)
  // A fetch that was given up must not move the cursor beside its successor.
  if (signal.aborted) return
  await engine.lanes.single(saveCursor(account.id, cursor))
}

/** The same bytes, until the fetch is given up: a part of a file must not become a file. */
async function* until(
  signal: AbortSignal,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    signal.throwIfAborted()
    yield chunk
  }
  signal.throwIfAborted()
}
