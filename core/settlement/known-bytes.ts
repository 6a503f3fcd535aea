/**
 * Bytes that come again. They are read again only if their file has lines of a merchant number that had no account,
 * or none of the importer, and has one now.
 */
import { limits } from '@tollgate/schemas'
import type { Actor } from '../audit/actor.ts'
import type { Mode } from '../connector/registry.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import type { Digest } from '../redaction/references.ts'
import { referenceDigest } from '../vault/reference-digest.ts'
import { folded } from './record-key.ts'
import { merchantsOfFile } from './scope.ts'
import { readAgain } from './store-assign.ts'
import { unknownNumbers } from './store-file.ts'

/** Names a merchant number that is perhaps another merchant's, and is not stored. */
export const digestOfNumber = (merchantNumber: string, digest: Digest): string =>
  digest(`merchant number\n${folded(merchantNumber)}`)

type Again = {
  readonly connector: string
  readonly mode: Mode
  readonly merchant_number: string
  readonly reach_entity_id: string | null
}

/** @returns whether the earlier file is read again: it has lines that count now. */
export async function readAgainIfKnown(
  engine: Pick<Engine, 'lanes' | 'vault' | 'registry' | 'targets'>,
  earlier: { readonly id: string; readonly reach_entity_id: string | null },
  again: Again,
  actor: Actor,
): Promise<boolean> {
  const unknown = await engine.lanes.upkeep(unknownNumbers(earlier.id))
  if (unknown.length === 0) return false
  const reach = earlier.reach_entity_id === null ? null : again.reach_entity_id
  if (!(await hasAccount(engine, unknown, { ...again, reach_entity_id: reach }))) return false
  const reason = 'The same bytes came again, and an account has one of their merchant numbers now.'
  const audit = { id: newId(), actor, remarks: { reason } }
  return (await engine.lanes.single(readAgain(earlier.id, reach, audit))).length > 0
}

async function hasAccount(
  engine: Pick<Engine, 'lanes' | 'vault' | 'registry' | 'targets'>,
  unknown: readonly { readonly number: string | null; readonly lines: number }[],
  again: Again,
): Promise<boolean> {
  const lines = unknown.reduce((sum, row) => sum + row.lines, 0)
  // Further numbers are not stored.
  if (lines >= limits.settlementExceptions) return true
  const digest = referenceDigest(engine.vault)
  const merchants = await merchantsOfFile(engine, again)
  const known = new Set([...merchants.keys()].map((number) => digestOfNumber(number, digest)))
  return unknown.some(({ number }) => number === null || known.has(number))
}
