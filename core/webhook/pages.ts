/** Pages of endpoints and of their logs. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { isId } from '../ids.ts'
import { fitting, weigh } from '../page/portions.ts'
import { refuse, textOf } from '../request/values.ts'

export type Page<Entry> = { readonly entries: readonly Entry[]; readonly nextCursor?: string }

export const limitOf = (fields: RequestFields) => Number(textOf(fields, 'limit') ?? 100)

export function cursorOf(fields: RequestFields): string | null {
  const cursor = textOf(fields, 'cursor')
  if (cursor === undefined || isId(cursor)) return cursor ?? null
  throw refuse('200.300.404', 'cursor', 'must be a nextCursor of an earlier answer', cursor)
}

export function pageOf<Entry extends { readonly id: string }>(
  rows: readonly Entry[],
  limit: number,
): Page<Entry> {
  const shown = rows.slice(0, limit)
  const entries = shown.slice(0, fitting(shown.map(weigh), 0))
  const last = entries.at(-1)
  return rows.length > entries.length && last !== undefined
    ? { entries, nextCursor: last.id }
    : { entries }
}
