/** Counts the unverified messages that this process received, including those it did not store. */
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
  // Re-inserted at the end, so that the first entry is the oldest.
  ofEngine.delete(name)
  ofEngine.set(name, fresh)
  if (ofEngine.size > limits.unverifiedAddresses) ofEngine.delete(ofEngine.keys().next().value!)
  return fresh
}

/**
 * Counts the claims of a message for its account and for its sender's address. A stranger uses up
 * the share of one address before the acquirer's, whose messages may be unverified as well.
 *
 * @returns whether the limit is exceeded; malformed claims cost time as well and count.
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
