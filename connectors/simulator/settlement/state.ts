import type { Reason } from '@tollgate/schemas'
import type { Entry, Movement } from '../entry.ts'
import type { Effect } from '../rules.ts'

/** Zone of the days and times in settlement files. */
export const zone = 'Europe/Berlin'

/** A chargeback or its reversal that the issuer will raise by itself. */
export type DueDispute = {
  readonly kind: 'chargeback' | 'chargebackReversal'
  readonly key: string
  /** Key of the disputed payment, or of the chargeback that is reversed. */
  readonly original: string
  /** In the institute's zone, `yyyy-MM-dd`. */
  readonly day: string
  readonly reason: Reason
}

/** One business day of a merchant. It never changes. */
export type SettledDay = {
  /** In the institute's zone, `yyyy-MM-dd`. */
  readonly day: string
  /** The file; empty for a day on which all money went back. */
  readonly text: string
  /** Keys, with the number of their movements that are settled now. */
  readonly settled: readonly (readonly [key: string, movements: number])[]
  /** Balances that the next payout has to cover, by currency, in minor units as decimal strings. */
  readonly carried: Readonly<Record<string, string>>
  readonly disputes: readonly DueDispute[]
}

/** The settlement of one merchant. Each movement of charged money settles once. */
export type SettlementState = {
  readonly days: SettledDay[]
  readonly settled: Map<string, number>
  /** Entries with movements that are not settled. */
  readonly open: Map<string, Entry>
  carried: Readonly<Record<string, string>>
  disputes: readonly DueDispute[]
}

export const openSettlement = (): SettlementState => ({
  days: [],
  settled: new Map(),
  open: new Map(),
  carried: {},
  disputes: [],
})

/** Movements of money that left the payer's account, or came back to it. */
export const chargesOf = ({ movements }: Entry): readonly Movement[] =>
  movements.filter(({ on, minor }) => on === 'charged' && minor !== 0n)

/** Takes changed entries of the ledger. */
export function takeEntries(state: SettlementState, entries: readonly Entry[]): void {
  for (const entry of entries) {
    const settled = state.settled.get(entry.key) ?? 0
    if (chargesOf(entry).length > settled) state.open.set(entry.key, entry)
  }
}

/** Takes a finished day. */
export function takeDay(state: SettlementState, day: SettledDay): void {
  state.days.push(day)
  for (const [key, movements] of day.settled) {
    state.settled.set(key, movements)
    const entry = state.open.get(key)
    if (entry !== undefined && chargesOf(entry).length === movements) state.open.delete(key)
  }
  state.carried = day.carried
  state.disputes = day.disputes
}

const wallClock = new Intl.DateTimeFormat('sv-SE', {
  timeZone: zone,
  dateStyle: 'short',
  timeStyle: 'medium',
})

/** `yyyy-MM-dd HH:mm:ss` in the institute's zone. */
export const wallTimeOf = (ms: number): string => wallClock.format(ms)
export const dayOf = (ms: number): string => wallTimeOf(ms).slice(0, 10)

export function dayAfter(day: string, days = 1): string {
  const at = new Date(`${day}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() + days)
  return at.toISOString().slice(0, 10)
}

/** The moment of a dispute: the same day in the institute's zone. */
export const atNoon = (day: string): number => Date.parse(`${day}T12:00:00Z`)

/** The number of a merchant in the files has at least five characters. */
export const merchantNumberOf = (merchantId: string): string => merchantId.padStart(5, '0')

/** The next day with something to settle that is over at `today`. */
export function nextDay(state: SettlementState, today: string): string | undefined {
  const moved = [...state.open.values()].map((entry) =>
    dayOf(chargesOf(entry)[state.settled.get(entry.key) ?? 0]!.at),
  )
  let first: string | undefined
  for (const day of [...moved, ...state.disputes.map((dispute) => dispute.day)]) {
    if (first === undefined || day < first) first = day
  }
  if (first === undefined) return undefined
  // Money of a day whose file is written settles with the day after.
  const last = state.days.at(-1)?.day
  const day = last === undefined || first > last ? first : dayAfter(last)
  return day < today ? day : undefined
}

/** The disputes that a newly settled payment leads to. */
export function disputesOf(
  entry: Entry,
  later: Effect['later'],
  settledOn: string,
): readonly DueDispute[] {
  return dueDaysOf(later, dayOf(chargesOf(entry)[0]!.at), settledOn).map(
    ({ event, day, reason }) => ({
      kind: event,
      key: `${event === 'chargeback' ? 'cb' : 'cr'}-${entry.key}`,
      original: event === 'chargeback' ? entry.key : `cb-${entry.key}`,
      day,
      reason,
    }),
  )
}

type Later = NonNullable<Effect['later']>[number]

/** Later events of a payment with their days and reasons. */
export function dueDaysOf(
  later: Effect['later'] = [],
  bookedOn: string,
  settledOn: string,
): readonly (Pick<Later, 'event'> & { readonly day: string; readonly reason: Reason })[] {
  const due: { event: Later['event']; day: string; reason: Reason }[] = []
  for (const { event, days, after, reason } of later) {
    const before = due.at(-1)
    if (after === 'chargeback' && before === undefined) continue
    const from = { booking: bookedOn, settlement: settledOn, chargeback: before?.day ?? '' }[after]
    due.push({
      event,
      day: dayAfter(from, days),
      reason: reason ?? before?.reason ?? '000.100.200',
    })
  }
  return due
}
