/**
 * Reads the claims of a message one by one, so that a malformed claim does not affect the others.
 */
import { Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { storable } from '../db/json.ts'
import { GatewayError } from '../errors.ts'
import { checkedMoney, checkedTold } from '../payment/checked-outcome.ts'
import { boundedRefs, isTexts, maskedText } from '../payment/checked-texts.ts'
import { type OwnCard, withoutOwnNumber } from '../payment/own-number.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { type Digest, storedReference } from '../redaction/references.ts'
import type { StoredClaim } from './store.ts'

export type ReadClaim =
  | {
      readonly eventId: string
      readonly claim: StoredClaim
      /** Parts of the claim without the mask, which has changed them. */
      readonly clear?: Returning
    }
  | { readonly malformed: Malformed }

type Returning = Readonly<Record<string, unknown>>

export type Malformed = {
  readonly why: string
  /** The event id, when well-formed and no card number. */
  readonly eventId: string | null
  readonly key: string | null
  /** Its content, for people: masked and cut. */
  readonly content: string
}

/**
 * Reads one claim from a connector.
 *
 * @throws GatewayError when no digest can be made now; never because of the claim.
 */
export function readClaim(given: unknown, verified: boolean, now: Date, digest: Digest): ReadClaim {
  let parts: Readonly<Record<string, unknown>> = {}
  let why: string
  try {
    // The code reads each property once, so that a getter cannot change a checked value.
    parts = typeof given === 'object' && given !== null ? { ...given } : {}
    const read = understood(parts, verified, now, digest)
    if (typeof read !== 'string') return read
    why = read
  } catch (error) {
    if (error instanceof GatewayError) throw error
    why = 'it cannot be read'
  }
  const clear = (value: unknown) => (isId(value) && maskCardNumbers(value) === value ? value : null)
  return {
    malformed: { why, eventId: clear(parts.eventId), key: clear(parts.key), content: echo(given) },
  }
}

/** The claim, or its error. */
function understood(
  { eventId, key, outcome, amount, reference }: Readonly<Record<string, unknown>>,
  verified: boolean,
  now: Date,
  digest: Digest,
): ReadClaim | string {
  if (!isId(eventId))
    return `its event id must have 1 to ${limits.eventIdCharacters} visible characters`
  if (!isId(key)) return `its key must have 1 to ${limits.eventIdCharacters} visible characters`
  if (reference !== undefined && !isReference(reference))
    return `its reference must have 1 to ${limits.eventIdCharacters} characters, none of them invisible`
  const money = checkedMoney(amount)
  if (money === undefined) return 'its amount is none'
  const told = outcomeOf(outcome, now)
  if (typeof told === 'string') return told
  // An amount in the outcome takes precedence, since it is the amount that moved.
  const { minor, currency } = checkedMoney(told.amount) ?? money
  if (isDispute(told.is) && minor <= 0n) return 'a chargeback or its reversal must be above 0.00'
  const whole = JSON.stringify({ ...told, amount: undefined })
  // The check comes before the mask, which costs time per character of a stranger's text.
  if (whole.length > limits.claimCharacters) return 'it is too long'
  const text = masked(whole)
  if (text.length > limits.claimCharacters) return 'it is too long'
  const stored: StoredClaim['outcome'] = JSON.parse(text)
  if (!isShallow(stored, limits.claimDepth)) return 'it is nested too deep'
  const claim: StoredClaim = {
    key,
    verified,
    outcome: stored,
    minor: String(minor),
    currency,
    ...(reference === undefined ? {} : { reference: storedReference(reference, digest) }),
  }
  const clear = isDispute(told.is) || !verified ? undefined : returningIn(whole, stored)
  return { eventId, claim, ...(clear === undefined ? {} : { clear }) }
}

/** Parts that return to the acquirer with later operations, and so must keep every digit. */
const returning = ['refs', 'memo', 'networkTxId'] as const

/** The returning parts as they came, where the mask changed them; undefined where it changed none. */
function returningIn(whole: string, stored: StoredClaim['outcome']): Returning | undefined {
  const given = JSON.parse(storable(JSON.parse(whole))) as Returning
  const parts = returning.flatMap((name) => (name in given ? [[name, given[name]]] : []))
  const isSame = parts.every(([name, value]) => isEqual(value, stored[name as string]))
  return isSame ? undefined : Object.fromEntries(parts)
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/**
 * The claim with the references as the acquirer gave them, but for the number of the payment's own card.
 *
 * @param card Of the payment; null: no payment has the key, and every lookalike stays masked.
 */
export function withReferences(
  { claim, clear }: Extract<ReadClaim, { claim: StoredClaim }>,
  card: OwnCard | undefined | null,
): StoredClaim {
  if (clear === undefined || card === null) return claim
  const parts = JSON.parse(JSON.stringify(clear), (_, value: unknown) =>
    typeof value === 'string' ? withoutOwnNumber(value, card) : value,
  )
  return { ...claim, outcome: { ...claim.outcome, ...parts } }
}

type ToldOutcome = { readonly is: string; readonly [name: string]: unknown }

function outcomeOf(given: unknown, now: Date): ToldOutcome | string {
  if (typeof given !== 'object' || given === null) return 'it has no outcome'
  const outcome: Record<string, unknown> = { ...given }
  if (holdsSecret(outcome)) return 'it holds a secret'
  if (isDispute(outcome.is)) {
    const { refs = {} } = outcome
    if (!isTexts(refs)) return 'its refs must be an object of texts'
    return { ...outcome, is: outcome.is, refs: boundedRefs(refs), amount: undefined }
  }
  const told: ToldOutcome = checkedTold(outcome, now)
  return told.is === 'unknown' && outcome.is !== 'unknown' ? String(told.why) : told
}

const isDispute = (is: unknown): is is 'chargeback' | 'chargebackReversal' =>
  is === 'chargeback' || is === 'chargebackReversal'

/** Visible characters: letters, digits and signs, without blanks. */
const visible = /^[^\p{C}\p{Z}]+$/u

const isId = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= limits.eventIdCharacters && visible.test(value)

const isReference = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= limits.eventIdCharacters &&
  value.trim() !== '' &&
  /^[^\p{C}]+$/u.test(value)

/** JSON in its stored form, with card numbers masked. */
function masked(json: string): string {
  const plain = JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' ? maskCardNumbers(value) : value,
  )
  return storable(plain)
}

function holdsSecret(value: unknown, seen = new Set<object>()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  if (Sensitive.is(value)) return true
  seen.add(value)
  return Object.values(value).some((inner) => holdsSecret(inner, seen))
}

const isShallow = (value: unknown, left: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (left > 0 && Object.values(value).every((inner) => isShallow(inner, left - 1)))

/** A printable form of any value. Card numbers are masked everywhere, also in names. */
function echo(given: unknown): string {
  try {
    const text = JSON.stringify(given, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    return maskedText(text ?? typeof given, limits.eventEchoCharacters)
  } catch {
    return 'it cannot be shown'
  }
}
