/**
 * Payments that a line names by a long number with the check digit of a card number. The line has a digest of it;
 * the digests of the payments' names are computed here, because no key leaves the process.
 */
import type { Sql } from '../../db/sql.ts'
import { lowestId } from '../../ids.ts'
import type { Digest } from '../../redaction/references.ts'
import { mostInOrder, mostInRef } from '../checked-value.ts'
import { folded } from '../record-key.ts'
import { maskedName, storedName } from '../stored-name.ts'
import { askedMasked, type Maskable, type MaskedWhere, maskable } from './store-masked.ts'
import type { MaskedName } from './store-named.ts'
import type { Places } from './stored-places.ts'

const pagePayments = 50_000

type Read = <Row>(statement: Sql<Row>) => Promise<Row[]>

type MaskedRun = {
  readonly id: string
  readonly places: Places
  readonly refs: readonly [string, string, string]
  readonly digest: Digest
}

/** The payments of the names that lines have only masked. Most runs have none. */
export async function maskedNames(
  read: Read,
  { id: runId, places, refs, digest }: MaskedRun,
  where: MaskedWhere,
): Promise<MaskedName[]> {
  const rows = await read(askedMasked(runId))
  if (rows.length === 0) return []
  const asked = new Set(rows.map(({ scope_id: scopeId, key }) => `${scopeId} ${key}`))
  const endings = endingsOf(rows.map(({ key }) => key))
  const found: MaskedName[] = []
  const first = where === 'known' ? lowestId : where.after
  for (let after: string | undefined = first; after !== undefined; ) {
    const page: Maskable[] = await read(
      maskable(runId, places, refs, where, endings, after, pagePayments),
    )
    after = undefined
    for (const { scope_id: scopeId, id, kind, name } of page) {
      if (scopeId === null) after = id ?? undefined
      else {
        const most = kind === '4' ? mostInOrder : mostInRef
        const key = `${kind} ${folded(storedName(name!, most, digest))}`
        if (asked.has(`${scopeId} ${key}`)) found.push({ scopeId, paymentId: id!, key })
      }
    }
  }
  return found
}

/** What stays of a masked name; null: the end of a name is cut off. */
function endingsOf(keys: readonly string[]): string[] | null {
  const shown = keys.map((key) => maskedName.exec(key.slice(2))?.[1] ?? '')
  const isWhole = shown.every((text) => text.length < mostInRef - 17)
  return isWhole ? [...new Set(shown.map((text) => text.slice(-4)))] : null
}
