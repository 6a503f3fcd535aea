/** A start waits for a database that is away. What cannot pass by itself ends it at once. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { systemClock } from './clock.ts'
import { sqlState } from './db/failures.ts'
import { PoolerError } from './db/pooler.ts'
import { reasonOf } from './error-words.ts'

/** Codes of the network and of names, for a server that may come. */
const comes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE', 'ENOENT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN'],
])

/** Words of a pooler and of the driver for what a person has to correct. They come without a code of their own. */
const wrong =
  /password|authentication|SASL|SSL|TLS|certificate|no such (?:database|user)|unsupported startup parameter/i

/** Whether the database may be there a moment later, without a change of the options. */
export function mayPass(error: unknown): boolean {
  if (error instanceof PoolerError) return false
  const state = sqlState(error)
  if (state !== undefined) {
    return /^(?:57|53|58|25006)/.test(state) || (state.startsWith('08') && !isWrong(error))
  }
  const { code } = (error ?? {}) as { code?: unknown }
  if (typeof code === 'string') return comes.has(code)
  // The driver's own errors have no code.
  return error instanceof Error && !isWrong(error)
}

const isWrong = (error: unknown): boolean => wrong.test(reasonOf(error))

/**
 * Tries until it succeeds, and tells the log every ten seconds what it waits for.
 *
 * @param wait.seconds How long to wait at most.
 * @throws the error of the last try
 */
export async function whenReachable<T>(
  work: () => Promise<T>,
  { seconds, log }: { readonly seconds: number; readonly log: Log },
): Promise<T> {
  const sinceMs = systemClock.elapsedMs()
  let toldMs = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      const result = await work()
      if (toldMs > 0) log.info({}, 'the database is available: the start goes on')
      return result
    } catch (error) {
      const nowMs = systemClock.elapsedMs()
      const leftMs = sinceMs + seconds * 1000 - nowMs
      if (leftMs <= 0 || !mayPass(error)) throw error
      if (nowMs - toldMs >= limits.outageLogMs) {
        toldMs = nowMs
        const fields = { reason: reasonOf(error), seconds: Math.ceil(leftMs / 1000) }
        log.warn(fields, 'the start waits for the database')
      }
      await pause(Math.min(limits.startPauseMs, leftMs))
    }
  }
}
