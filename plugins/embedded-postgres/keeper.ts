import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { EmbeddedPostgresError, reasonOf, systemCode } from './error.ts'
import type { Place } from './location.ts'
import { attend, ensureDatabase, type Presence } from './presence.ts'
import { findServer, shutDown } from './server.ts'
import { withStartLock } from './start-lock.ts'

const firstRetryMs = 100
const longestRetryMs = 5_000
const recoveredWithinMs = 10 * 60_000
/** SQLSTATE of a server that is starting, recovering or shutting down. */
const cannotConnectNow = '57P03'

export interface Keeper {
  stop(): Promise<void>
}

/**
 * Stays present at a running server, starts it again when it dies (as when a machine short of memory
 * kills it), and at the end shuts it down unless others use it. Called under the start lock.
 */
export async function keepRunning(parts: {
  /** Of the administrative database. */
  readonly url: string
  readonly database: string
  readonly binaries: string
  readonly place: Place
  readonly log: (line: string) => void
  readonly startAgain: () => Promise<unknown>
}): Promise<Keeper> {
  const { url, place, binaries, log } = parts
  const data = join(place.root, 'data')
  const stopped = new AbortController()
  let presence: Presence | null = await enter()
  let recovery: Promise<void> = Promise.resolve()

  async function enter(): Promise<Presence> {
    const entered = await connect(url, place, lost)
    try {
      await ensureDatabase(url, parts.database)
      return entered
    } catch (thrown) {
      await entered.leave().catch(() => undefined)
      throw thrown
    }
  }

  function lost(): void {
    presence = null
    if (!stopped.signal.aborted) recovery = recover()
  }

  async function recover(): Promise<void> {
    log('the connection to PostgreSQL was lost; looking after the server')
    let said = ''
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      if (stopped.signal.aborted) return
      try {
        presence = await withStartLock(place.directory, log, async () => {
          if (stopped.signal.aborted) return null
          await parts.startAgain()
          return enter()
        })
        if (presence !== null) log('PostgreSQL runs again')
        return
      } catch (thrown) {
        const reason = reasonOf(thrown)
        if (reason !== said) log(`PostgreSQL could not be started again, trying on: ${reason}`)
        said = reason
      }
      await pause(waitMs, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined)
    }
  }

  /** Null when the server does not say who uses it. */
  async function askAndLeave(): Promise<boolean | null> {
    try {
      const asked = presence ?? (await attend(url, () => undefined))
      try {
        return await asked.othersAreThere()
      } finally {
        await asked.leave()
      }
    } catch {
      return null
    }
  }

  return {
    async stop() {
      stopped.abort()
      await recovery
      await withStartLock(place.directory, log, async () => {
        const others = findServer(data) === null ? null : await askAndLeave()
        const server = findServer(data)
        if (server === null) return
        if (others === false) return shutDown(binaries, data, server.pid)
        const why = others === null ? 'it does not answer' : 'others use it'
        log(`PostgreSQL runs on as process ${server.pid}: ${why}`)
      })
    },
  }
}

/** Waits out a server that is recovering after one of its processes was killed. */
async function connect(url: string, place: Place, onLost: () => void): Promise<Presence> {
  const since = performance.now()
  for (;;) {
    try {
      return await attend(url, onLost)
    } catch (thrown) {
      if (
        systemCode(thrown) === cannotConnectNow &&
        performance.now() - since < recoveredWithinMs
      ) {
        await pause(50)
        continue
      }
      throw new EmbeddedPostgresError(
        `PostgreSQL runs but does not let the gateway in (${reasonOf(thrown)}); ${join(place.directory, 'password')} must hold the password of its user`,
      )
    }
  }
}
