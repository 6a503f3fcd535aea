import type { Money } from '@tollgate/plugin-kit'
import type { Reason } from '@tollgate/schemas'
import { type Answer, answerOf, type Reversal, reversalOf } from './answer.ts'
import {
  type Entry,
  type EntryKind,
  type Labels,
  type Movement,
  noSums,
  referenceOf,
} from './entry.ts'
import { type Effect, effectOf, undoing } from './movement.ts'
import { type Code, codeFor } from './reasons.ts'
import { judge, type Settled, type Signs, type Verdict } from './verdict.ts'

/**
 * The books of the simulated acquirer. The functions here read them, use no clock and do no I/O:
 * they return the answer and the entries to write, and `apply` writes. In between a transport can
 * store the entries.
 *
 * A bounded ledger forgets the oldest entries, half its limit at a time, because removing single
 * entries from the front of a Map walks over all earlier ones.
 */
export type Ledger = {
  readonly limit: number
  recent: Map<string, Entry>
  older: ReadonlyMap<string, Entry>
}

/** @param limit maximum number of entries; unlimited by default */
export const openLedger = (limit = Number.POSITIVE_INFINITY): Ledger => ({
  limit,
  recent: new Map(),
  older: new Map(),
})

export const entryOf = (ledger: Ledger, key: string): Entry | undefined =>
  ledger.recent.get(key) ?? ledger.older.get(key)

/** All entries, each once, in no particular order. */
export function* entriesOf(ledger: Ledger): Generator<Entry> {
  yield* ledger.recent.values()
  for (const entry of ledger.older.values()) {
    if (!ledger.recent.has(entry.key)) yield entry
  }
}

/** One operation as the acquirer sees it. */
export type Request = {
  readonly kind: Exclude<EntryKind, 'none'>
  readonly key: string
  readonly paymentId: string
  readonly amount: Money
  /** Key of the original operation. */
  readonly original?: string
  /** A reauthorisation: ends the original authorisation. */
  readonly replaces?: boolean
  readonly final?: boolean
  /** The instrument without secrets: BIN, last four, expiry. */
  readonly instrument: string
  readonly signs: Signs
  /** For settlement files. */
  readonly labels?: Labels
  /** Of a chargeback or its reversal. */
  readonly reason?: Reason
  /** Store the outcome beyond the process, because its answer will be late. */
  readonly durable?: boolean
  /** The result code that the merchant wants as a decline. */
  readonly decline?: string
}

/**
 * `delivery` concerns the answer, not the money: `lost` means done and not reported, `never` means
 * that the request did not arrive and nothing is written.
 */
export type Change = {
  readonly answer: Answer
  readonly writes: readonly Entry[]
  readonly delivery: Entry['delivery'] | 'never'
}

/** The time for a shopper on the bank's page. */
const shopperMs = 30 * 60_000
/** Kinds decided by the rules; all others follow from the books. */
const judged: readonly EntryKind[] = ['authorize', 'debit', 'credit', 'verify']

/** Decides one operation. The same key with the same content gives the same answer again. */
export function decide(ledger: Ledger, request: Request, now: number): Change {
  const known = entryOf(ledger, request.key)
  if (known !== undefined) return repeat(ledger, known, request, now)
  const entry = newEntry(request)
  if (request.decline === neverSent) return notSent(entry)
  if (request.decline !== undefined) {
    const declined = decline(entry, request.decline, now)
    return { answer: answerOf(declined, now), writes: [declined], delivery: 'once' }
  }
  if (!judged.includes(request.kind)) {
    const writes = approve(ledger, entry, now)
    return { answer: answerOf(writes[0], now), writes, delivery: 'once' }
  }
  return judgement(ledger, entry, judge(request.signs, request.amount), now)
}

/** The code of a request that never reaches the acquirer, which is safe to repeat. */
export const neverSent = '900.100.600'

const notSent = ({ key }: Entry): Change => ({
  answer: { status: 'declined', key, code: neverSent },
  writes: [],
  delivery: 'never',
})

function judgement(ledger: Ledger, plain: Entry, verdict: Verdict, now: number): Change {
  const { decision } = verdict
  if (decision.is === 'notSent') return notSent(plain)
  const delivery = decision.is === 'answerLost' ? 'lost' : verdict.delivery
  const ordinary = delivery === 'once' && (decision.is === 'approved' || decision.is === 'declined')
  const entry: Entry = {
    ...plain,
    delivery,
    ...(ordinary ? {} : { durable: true }),
    ...(verdict.avs === undefined ? {} : { avs: verdict.avs }),
    ...(verdict.cvv === undefined ? {} : { cvv: verdict.cvv }),
    ...(verdict.later === undefined ? {} : { later: verdict.later }),
    ...(verdict.settlement === undefined ? {} : { settlement: verdict.settlement }),
  }
  const writes = carryOut(ledger, entry, decision, now)
  return { answer: answerOf(writes[0], now), writes, delivery }
}

type Writes = readonly [Entry, ...Entry[]]

function carryOut(ledger: Ledger, entry: Entry, decision: Settled, now: number): Writes {
  switch (decision.is) {
    case 'declined':
      return [decline(entry, codeFor(decision.reason), now)]
    case 'pending': {
      const due = decision.ends === undefined ? {} : { due: dueAt(decision.ends, now) }
      return [note({ ...entry, ...due, state: 'pending', code: decision.reason ?? '09' }, now)]
    }
    case 'redirect': {
      const due = { at: now + shopperMs, code: 'abandoned' }
      return [note({ ...entry, due, shopper: true, state: 'pending', code: '09' }, now)]
    }
    default:
      return approve(ledger, entry, now)
  }
}

const dueAt = (ends: { seconds: number; as: 'approved' | Reason }, now: number) => ({
  at: now + ends.seconds * 1000,
  code: ends.as === 'approved' ? '00' : codeFor(ends.as),
})

/** The state of a key. Ends a pending payment whose time has come, and changes nothing else. */
export function enquire(ledger: Ledger, key: string, now: number): Change {
  const entry = entryOf(ledger, key)
  if (entry === undefined) {
    return { answer: { status: 'notFound', key, code: '25' }, writes: [], delivery: 'once' }
  }
  const writes = whenDue(ledger, entry, now)
  return { answer: answerOf(writes[0] ?? entry, now), writes, delivery: 'once' }
}

/**
 * Ends a pending operation: `00` approves it, any other code declines it. Others stay unchanged.
 */
export function finish(ledger: Ledger, key: string, code: string, now: number): Change {
  const entry = entryOf(ledger, key)
  if (entry?.state !== 'pending') return enquire(ledger, key, now)
  const late = whenDue(ledger, entry, now)
  const writes = late.length > 0 ? late : end(ledger, entry, code, now)
  return { answer: answerOf(writes[0] ?? entry, now), writes, delivery: 'once' }
}

/**
 * Undoes the operation of a key and closes the key for good: a later operation under it is
 * declined. Refused without a change when follow-ups exist.
 */
export function reverseByKey(
  ledger: Ledger,
  key: string,
  now: number,
): { readonly answer: Reversal; readonly writes: readonly Entry[] } {
  const known = entryOf(ledger, key)
  if (known === undefined) {
    return { answer: { status: 'nothing', key, code: 'key-closed' }, writes: [tombstone(key, now)] }
  }
  if (known.state === 'closed') return { answer: reversalOf(known), writes: [] }
  const due = whenDue(ledger, known, now)
  const entry = due[0] ?? known
  if (entry.state !== 'approved') {
    const closed = close(entry, 'key-closed', now)
    return { answer: reversalOf(closed), writes: [closed] }
  }
  // The money of a pending payment whose time has come is returned in the same step.
  const find = (wanted: string) => due.find((e) => e.key === wanted) ?? entryOf(ledger, wanted)
  const effect = undoing(entry, find, now)
  if (typeof effect === 'string') {
    const answer = { status: 'refused', key, code: effect, reference: referenceOf(entry) } as const
    return { answer, writes: due }
  }
  const writes = spread(close(entry, 'key-reversed', now), effect, find)
  return { answer: reversalOf(writes[0]), writes }
}

/** Writes the entries returned by a function above. */
export function apply(ledger: Ledger, writes: readonly Entry[]): void {
  for (const entry of writes) ledger.recent.set(entry.key, entry)
  if (ledger.recent.size * 2 >= ledger.limit) {
    ledger.older = ledger.recent
    ledger.recent = new Map()
  }
}

/** The totals of the payer's accounts by currency, in minor units: the sum of all movements. */
export function totals(ledger: Ledger): Record<string, { held: bigint; charged: bigint }> {
  const sums: Record<string, { held: bigint; charged: bigint }> = {}
  for (const { movements } of entriesOf(ledger)) {
    for (const { on, minor, currency } of movements) {
      sums[currency] ??= { held: 0n, charged: 0n }
      sums[currency][on] += minor
    }
  }
  return sums
}

function repeat(ledger: Ledger, known: Entry, request: Request, now: number): Change {
  if (known.state === 'closed') {
    return { answer: answerOf(known, now), writes: [], delivery: 'once' }
  }
  if (!isSame(known, request)) {
    const answer = { status: 'declined', key: request.key, code: 'key-reused' } as const
    return { answer, writes: [], delivery: 'once' }
  }
  return { ...enquire(ledger, known.key, now), delivery: known.delivery }
}

const whenDue = (ledger: Ledger, entry: Entry, now: number): Writes | [] =>
  entry.state === 'pending' && entry.due !== undefined && now >= entry.due.at
    ? end(ledger, entry, entry.due.code, now)
    : []

function end(ledger: Ledger, entry: Entry, code: string, now: number): Writes {
  return code === '00' ? approve(ledger, entry, now) : [decline(entry, code, now)]
}

function approve(ledger: Ledger, entry: Entry, now: number): Writes {
  const find = (key: string) => entryOf(ledger, key)
  const effect = effectOf(entry, find, now)
  if (typeof effect === 'string') return [decline(entry, effect, now)]
  const { sums, shifts } = effect
  return spread(note({ ...entry, state: 'approved', code: '00', sums, shifts }, now), effect, find)
}

const decline = (entry: Entry, code: string | Code, now: number): Entry =>
  note({ ...entry, state: 'declined', code }, now)

const close = (entry: Entry, code: Code, now: number): Entry =>
  note({ ...entry, state: 'closed', code, durable: true }, now)

/** The entry with its movements, then every other changed entry. */
function spread(entry: Entry, effect: Effect, find: (key: string) => Entry | undefined): Writes {
  const moved = { ...entry, movements: [...entry.movements, ...effect.movements] }
  if (effect.shifts.length + effect.marks.length === 0) return [moved]
  const changed = new Map<string, Entry>([[entry.key, moved]])
  const current = (key: string) => changed.get(key) ?? find(key)
  for (const { key, sum, minor } of effect.shifts) {
    const target = current(key)
    if (target === undefined) continue
    changed.set(key, { ...target, sums: { ...target.sums, [sum]: target.sums[sum] + minor } })
  }
  for (const { key, change } of effect.marks) {
    const target = current(key)
    if (target !== undefined) changed.set(key, change(target))
  }
  const [first, ...others] = changed.values()
  return [first!, ...others]
}

function newEntry(request: Request): Entry {
  const { key, kind, paymentId, amount, original, instrument } = request
  const isCard = request.signs.number !== undefined && kind !== 'credit'
  return {
    key,
    kind,
    paymentId,
    amount,
    instrument,
    state: 'declined',
    code: '',
    sums: noSums,
    finalBy: {},
    delivery: 'once',
    movements: noMovements,
    shifts: [],
    history: [],
    ...(original === undefined ? {} : { original }),
    ...(request.replaces ? { replaces: true } : {}),
    ...(request.final ? { final: true } : {}),
    ...(request.labels === undefined ? {} : { labels: request.labels }),
    ...(request.reason === undefined ? {} : { reason: request.reason }),
    ...(request.durable || request.reason !== undefined ? { durable: true } : {}),
    ...(isCard ? { card: true } : {}),
  }
}
const noMovements: readonly Movement[] = []

/** Without the CVV, because a repeat after an interruption has none. */
const isSame = (entry: Entry, { kind, amount, original, instrument }: Request): boolean =>
  entry.kind === kind &&
  entry.amount.minor === amount.minor &&
  entry.amount.currency === amount.currency &&
  entry.original === original &&
  entry.instrument === instrument

const nothing = { minor: 0n, currency: '' }

/** Blocks an operation that has not arrived yet. */
function tombstone(key: string, now: number): Entry {
  const request = { key, paymentId: '', amount: nothing, instrument: '', signs: {} } as const
  return close({ ...newEntry({ ...request, kind: 'verify' }), kind: 'none' }, 'key-closed', now)
}

const note = (entry: Entry, at: number): Entry => ({
  ...entry,
  history: [...entry.history, { at, state: entry.state, code: entry.code }],
})
