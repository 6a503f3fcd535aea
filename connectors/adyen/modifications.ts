/**
 * What is known of captures, refunds and their like, by Adyen's reference of each. A failure can come days later, and
 * Adyen can carry out what failed before.
 */
import type { Json, Operation, Records } from '@tollgate/plugin-kit'
import { isModification, type Modification } from './references.ts'

type Known = {
  readonly is: Modification
  readonly key: string
  /** Failures that were followed by a success. */
  readonly round: number
  readonly hasFailed: boolean
}

const nameOf = (pspReference: string): string => `modification:${pspReference}`

const knownIn = (value: Json | undefined): Known | undefined =>
  value === undefined ? undefined : (value as unknown as Known)

/** Keeps which operation Adyen calls by this reference. */
export async function rememberModification(
  records: Records,
  pspReference: string,
  { kind, key }: Operation,
): Promise<void> {
  if (!isModification(kind)) return
  const known: Known = { is: kind, key, round: 0, hasFailed: false }
  await records.swap(nameOf(pspReference), undefined, known as unknown as Json)
}

export async function modificationOf(
  records: Records,
  pspReference: string,
): Promise<Pick<Known, 'is' | 'key'> | undefined> {
  return pspReference === '' ? undefined : knownIn(await records.get(nameOf(pspReference)))
}

/**
 * The round of a piece of news about a modification: 0, and one more for each success after a failure. Without it, the
 * second success would be a repeat of the first one. A repeat is in the round of the first message.
 */
export async function roundOf(
  records: Records,
  pspReference: string,
  isFailure: boolean,
  isProven: boolean,
): Promise<number> {
  const value = await records.get(nameOf(pspReference))
  const known = knownIn(value)
  if (value === undefined || known === undefined) return 0
  const isAgain = !isFailure && known.hasFailed
  const next = { ...known, round: known.round + (isAgain ? 1 : 0), hasFailed: isFailure }
  const isNews = next.round !== known.round || next.hasFailed !== known.hasFailed
  // Anybody can send an unproven message, so it changes nothing.
  if (isNews && isProven) await records.swap(nameOf(pspReference), value, next as unknown as Json)
  return next.round
}

/** An increase, and the new sum by which Adyen knows it. */
type Increase = { readonly minor: string; readonly sum: string }

const increaseName = (key: string): string => `increase:${key}`

export async function rememberIncrease(
  records: Records,
  { key, amount, original }: Operation,
): Promise<void> {
  const sum = (original?.authorised?.minor ?? 0n) + amount.minor
  const known: Increase = { minor: String(amount.minor), sum: String(sum) }
  await records.swap(increaseName(key), undefined, known)
}

/** The increase that a new sum means; undefined for an increase that is not known. */
export async function increaseOf(
  records: Records,
  key: string,
  sum: bigint,
): Promise<bigint | undefined> {
  const known = (await records.get(increaseName(key))) as Increase | undefined
  return known === undefined ? undefined : BigInt(known.minor) + sum - BigInt(known.sum)
}

/** A cancellation names no amount in its request, and Adyen's webhook may have another one than the operation. */
const wholeName = (key: string): string => `whole:${key}`

export async function rememberWhole(records: Records, { key, amount }: Operation): Promise<void> {
  const { minor, currency } = amount
  await records.swap(wholeName(key), undefined, { minor: String(minor), currency })
}

export async function wholeOf(
  records: Records,
  key: string,
): Promise<{ readonly minor: bigint; readonly currency: string } | undefined> {
  const known = (await records.get(wholeName(key))) as
    | { readonly minor: string; readonly currency: string }
    | undefined
  return known === undefined ? undefined : { ...known, minor: BigInt(known.minor) }
}
