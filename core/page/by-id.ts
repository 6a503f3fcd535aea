/** Pages whose cursor is the id of their last entry, newest first. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { refuse, textOf } from '../request/values.ts'
import { fitting, weigh } from './portions.ts'

export type Page<Entry> = { readonly entries: readonly Entry[]; readonly nextCursor?: string }

/** The field tables allow only numbers within their bounds. */
export const limitOf = (fields: RequestFields): number => Number(textOf(fields, 'limit') ?? 100)

/** Null for the first page. @throws GatewayError for a text that is not an id. */
export function cursorOf(fields: RequestFields): string | null {
  const cursor = textOf(fields, 'cursor')
  if (cursor === undefined || isId(cursor)) return cursor ?? null
  throw wrongCursor(cursor)
}

export const wrongCursor = (cursor: string): GatewayError =>
  refuse('200.300.404', 'cursor', 'must be a nextCursor of an earlier answer', cursor)

/**
 * Limited by bytes as well as by entries.
 *
 * @param rows one more than the limit, if there are more
 */
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
