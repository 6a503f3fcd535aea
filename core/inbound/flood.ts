/** Messages that prove nothing, as far as this process took them: also those of which nothing is kept. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'

type Window = { readonly sinceMs: number; claims: number }

const windows = new WeakMap<Engine, Map<string, Window>>()

function windowOf(engine: Engine, connector: string, account: string): Window {
  const ofEngine = windows.get(engine) ?? new Map<string, Window>()
  windows.set(engine, ofEngine)
  const name = `${connector} ${account}`
  const nowMs = engine.clock.elapsedMs()
  const known = ofEngine.get(name)
  if (known !== undefined && nowMs - known.sinceMs < limits.unverifiedEventsMs) return known
  const fresh = { sinceMs: nowMs, claims: 0 }
  ofEngine.set(name, fresh)
  return fresh
}

/**
 * Counts claims of a message for an account.
 *
 * @returns whether they are too many: what cannot be understood costs time as well.
 */
export function floods(
  engine: Engine,
  { connector, account }: { readonly connector: string; readonly account: string },
  claims: number,
): boolean {
  const window = windowOf(engine, connector, account)
  window.claims += claims
  return window.claims > limits.unverifiedEvents
}
