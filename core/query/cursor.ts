import { hash } from 'node:crypto'
import { isId } from '../ids.ts'
import { refuse } from '../request/values.ts'
import type { Criteria } from './criteria.ts'
import type { Place } from './sort-key.ts'

/** The position at which a page ended, and the length of its last time window; 0 without a window. */
export type Cursor = { readonly after: Place; readonly spanMs: number }

/**
 * A cursor belongs to its search: the digest covers the criteria. The digest needs no key, since a
 * cursor gives no rights: the caller alone decides whose payments are found.
 */
const digestOf = (text: string, criteria: Criteria) =>
  hash('sha256', `${text} ${JSON.stringify(criteria)}`, 'base64url').slice(0, 16)

export function formatCursor({ after, spanMs }: Cursor, criteria: Criteria): string {
  const text = `${after.atMs.toString(36)}-${after.id}-${spanMs.toString(36)}`
  return `${Buffer.from(text).toString('base64url')}.${digestOf(text, criteria)}`
}

/** @throws GatewayError 400 naming `cursor` when it was changed or comes from another search. */
export function parseCursor(sent: string, criteria: Criteria): Cursor {
  const [encoded = '', digest, ...rest] = sent.split('.')
  const text = Buffer.from(encoded, 'base64url').toString('latin1')
  const parts = /^(-?[0-9a-z]{1,10})-([0-9a-f]{32})-([0-9a-z]{1,10})$/.exec(text)
  if (parts === null || rest.length > 0 || digest !== digestOf(text, criteria)) {
    throw refuse('200.300.404', 'cursor', 'must be the nextCursor of an answer to this very search')
  }
  const [, at = '', id = '', span = ''] = parts
  if (!isId(id)) throw refuse('200.300.404', 'cursor', 'must be the nextCursor of an answer')
  return { after: { atMs: Number.parseInt(at, 36), id }, spanMs: Number.parseInt(span, 36) }
}
