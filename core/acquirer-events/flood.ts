/** Messages that prove nothing, as far as this process took them: also those of which nothing is kept. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'

type Window = { readonly sinceMs: number; claims: number }

const windows = new WeakMap<Engine, Map<string, Window>>()

function windowOf(engine: Engine, name: string): Window {
  const ofEngine = windows.get(engine) ?? new Map<string, Window>()
  windows.set(engine, ofEngine)
  const nowMs = engine.clock.elapsedMs()
  const known = ofEngine.get(name)
  if (known !== undefined && nowMs - known.sinceMs < limits.unverifiedEventsMs) return known
  const fresh = { sinceMs: nowMs, claims: 0 }
  // Put at the end: the first are the oldest.
  ofEngine.delete(name)
  ofEngine.set(name, fresh)
  if (ofEngine.size > limits.unverifiedAddresses) ofEngine.delete(ofEngine.keys().next().value!)
  return fresh
}

/**
 * Counts claims of a message for an account, and for the address it came from: a stranger uses up his own
 * share before that of the acquirer, who may prove nothing either.
 *
 * @returns whether they are too many: what cannot be understood costs time as well.
 */
export function floods(
  engine: Engine,
  {
    connector,
    account,
    address,
  }: { readonly connector: string; readonly account: string; readonly address: string | undefined },
  claims: number,
): boolean {
  if (address !== undefined) {
    const own = windowOf(engine, `${connector} ${account} ${address}`)
    own.claims += claims
    if (own.claims > limits.unverifiedEventsPerAddress) return true
  }
  const all = windowOf(engine, `${connector} ${account}`)
  all.claims += claims
  return all.claims > limits.unverifiedEvents
}
