/** Proves the credentials of an acquirer account by the check of its connector. */
import { setTimeout as pause } from 'node:timers/promises'
import { HttpError, PluginError } from '@tollgate/plugin-kit'
import { ConnectorCall } from '../connector/call.ts'
import { TokenCache } from '../connector/token-cache.ts'
import type { Engine } from '../engine.ts'
import type { AccountRow } from '../entity/store.ts'

export type AccountCheck =
  /** The acquirer takes the credentials. */
  | { readonly is: 'accepted' }
  /** The acquirer refuses them; `unknown`: no answer, or the connector has no check. */
  | { readonly is: 'refused' | 'unknown'; readonly why: string }

/** Before every moment, so that no request of a check can move money. */
const never = 0

/** Never throws for a fault of the acquirer, the connector or the settings. */
export async function checkAccount(engine: Engine, row: AccountRow): Promise<AccountCheck> {
  let target: Awaited<ReturnType<Engine['targets']['inbound']>>
  try {
    target = await engine.targets.inbound(row.connector, row.id)
  } catch (thrown) {
    if (thrown instanceof PluginError) return { is: 'unknown', why: thrown.message }
    throw thrown
  }
  if (target === undefined) return noWord(`the connector ${row.connector} is not installed`)
  const { check, supports } = target.loaded.connector
  if (check === undefined) return noWord(`the connector ${row.connector} has no check`)
  const { clock, services } = engine
  const withinMs = supports.limits?.timeoutMs ?? engine.connectorTimeoutMs
  const bounds = { deadlineMs: clock.elapsedMs() + withinMs, sendByWallMs: never }
  // A cached token of the acquirer would prove the credentials that it was made with.
  const call = new ConnectorCall({ ...services, tokens: new TokenCache(clock) }, target, bounds)
  const done = new AbortController()
  try {
    const late = pause(withinMs, undefined, { signal: done.signal, ref: false }).then(() => tooLate)
    late.catch(() => {})
    const answer = await Promise.race([check(call), late])
    return answerOf(answer, (text) => String(call.scrubbed(text)))
  } catch (thrown) {
    // An error of a connector may quote anything, but those of `http` are the engine's own.
    const why = thrown instanceof HttpError ? String(call.scrubbed(thrown.message)) : nameOf(thrown)
    return noWord(`the check had no answer: ${why}`)
  } finally {
    done.abort()
    call.abort()
    call.finish()
  }
}

const tooLate = Symbol('too late')

function answerOf(answer: unknown, scrubbed: (text: string) => string): AccountCheck {
  if (answer === tooLate) return noWord('the check took too long')
  const { ok, why } = Object(answer) as { readonly ok?: unknown; readonly why?: unknown }
  if (ok === true) return { is: 'accepted' }
  if (ok === false && typeof why === 'string') return { is: 'refused', why: scrubbed(why) }
  if (ok === 'unknown' && typeof why === 'string') return noWord(scrubbed(why))
  return noWord('the check of the connector gave no usable answer')
}

const noWord = (why: string): AccountCheck => ({ is: 'unknown', why })

const nameOf = (thrown: unknown) => (thrown instanceof Error ? thrown.name : typeof thrown)
