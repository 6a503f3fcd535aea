/**
 * The identity of a line of a settlement file. The same line in a repeated, corrected or split file has the
 * same key, whatever its position. Another content under the same key is a change that operators see.
 */
import { hash } from 'node:crypto'

/** Half of SHA-256: no two of a trillion lines collide by chance. */
const keyBytes = 16

/** A hash of texts and absent values, with the length of each, so that no two lists read alike. */
export function hashOf(parts: readonly (string | null)[]): Buffer {
  let text = ''
  for (const part of parts) text += part === null ? '-;' : `${part.length}:${part};`
  return hash('sha256', text, 'buffer').subarray(0, keyBytes)
}

/** References are compared trimmed and in one case. */
export const folded = (text: string): string => text.trim().toLowerCase()

/** The parts of a line that name it, unmasked: masked numbers can be equal where the numbers are not. */
export type Named = {
  /** Record type, transaction type, cashflow and status; or the kind of a batch line. */
  readonly kind: readonly string[]
  readonly merchantNumber: string
  /** The institute's id of the record; null: the line itself names the record. */
  readonly id: string | null
  readonly batch: string
  /** The line as it came. */
  readonly text: string
}

/**
 * The key of a line. Equal lines without an id have equal keys here; the occurrence of each within its file
 * is added from the second on, so that both survive.
 */
export const keyOf = ({ kind, merchantNumber, id, batch, text }: Named): Buffer =>
  id === null
    ? hashOf([...kind, folded(merchantNumber), 'line', folded(batch), text])
    : hashOf([...kind, folded(merchantNumber), 'id', folded(id)])

/** What a payout has once, whatever the text of its line: an amount under its own reference. */
export type NamedBalance = {
  readonly kind: string
  readonly merchantNumber: string
  readonly batch: string
  readonly currency: string
  readonly payoutId: string | null
}

/**
 * The key of a payout, of an opening or of a closing balance. A corrected line has the same key and another
 * content, so that it is not added to the first one.
 */
export const balanceKeyOf = (named: NamedBalance): Buffer =>
  hashOf([
    ...['batch', named.kind, 'balance', folded(named.merchantNumber), folded(named.batch)],
    named.currency,
    named.payoutId === null ? null : folded(named.payoutId),
  ])

/** The key of a repeated line: the same as `numberTwins` in `store-stage.ts` makes of records. */
export function occurrenceKey(key: Buffer, occurrence: number): Buffer {
  if (occurrence === 1) return key
  const number = Buffer.alloc(8)
  number.writeBigInt64BE(BigInt(occurrence))
  return hash('sha256', Buffer.concat([key, number]), 'buffer').subarray(0, keyBytes)
}

/** A hash of everything that a line says, without its position and its spelling. */
export const contentOf = (values: readonly (string | bigint | null)[]): Buffer =>
  hashOf(values.map((value) => (value === null ? null : folded(String(value)))))
