/**
 * The names that Adyen gets from us, and repeats in webhooks and reports. A payment is called by its key, and
 * everything that is done to a payment by what it is and its own key. So a webhook never tells the end of a capture as
 * the end of its payment.
 */
import type { Kind, Operation } from '@tollgate/plugin-kit'

const marks = { capture: 'cp', refund: 'rf', reverse: 'rv', increment: 'ia' } as const

export type Modification = keyof typeof marks

export const isModification = (kind: Kind): kind is Modification => kind in marks

/** A cancellation names its amount here: its request has none, and Adyen's webhook may have another one. */
export function referenceOf({ kind, key, amount }: Operation): string {
  if (!isModification(kind)) return key
  const whole = kind === 'reverse' ? `${amount.minor}${amount.currency}` : ''
  return `${marks[kind]}${whole}.${key}`
}

/** Adyen repeats its answer to a known key, with the name of then: cancellations had no amount in it at first. */
export const isNameOf = (operation: Operation, name: unknown): boolean =>
  name === referenceOf(operation) ||
  (operation.kind === 'reverse' && name === `${marks.reverse}.${operation.key}`)

/** A reversal by key. Each try has a name of its own, because Adyen answers a known name as it did before. */
export const undoReferenceOf = (key: string, round: number): string => `undo${round}.${key}`

/** Names of merchant accounts, as Tollgate compares the merchant numbers of settlement files. */
export const isSameName = (one: string, other: string): boolean =>
  one.trim().toLowerCase() === other.trim().toLowerCase()

export type Named =
  | { readonly is: 'payment'; readonly key: string }
  | { readonly is: 'undo'; readonly key: string; readonly round: number }
  | { readonly is: Modification; readonly key: string; readonly whole?: Whole }

/** The amount of a cancellation. */
export type Whole = { readonly minor: string; readonly currency: string }

/** What a reference names; undefined for one that is not ours. */
export function readReference(reference: string): Named | undefined {
  const form = /^(?:(cp|rf|rv|ia|undo)([0-9]{0,18})([A-Z]{3})?\.)?([0-9a-f]{32})$/
  const parts = form.exec(reference)
  if (parts === null) return undefined
  const [, mark, number = '', currency, key = ''] = parts
  if (mark === undefined) return { is: 'payment', key }
  if (mark === 'undo') return { is: 'undo', key, round: Number(number) }
  const kind = (Object.keys(marks) as Modification[]).find((name) => marks[name] === mark)
  if (kind === undefined) return undefined
  const isWhole = kind === 'reverse' && number !== '' && currency !== undefined
  return { is: kind, key, ...(isWhole ? { whole: { minor: number, currency } } : {}) }
}
