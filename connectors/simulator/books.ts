import type { Answer, Reversal } from './answer.ts'
import type { Case } from './authentication/case.ts'
import { type Entry, entryToJson } from './entry.ts'
import { type Journal, noJournal, openJournal } from './journal.ts'
import {
  apply,
  type Change,
  decide,
  enquire,
  entriesOf,
  entryOf,
  finish,
  type Ledger,
  openLedger,
  type Request,
  reverseByKey,
  totals,
} from './ledger.ts'
import { cutDay } from './settlement/cut.ts'
import {
  atNoon,
  type DueDispute,
  dayOf,
  merchantNumberOf,
  nextDay,
  openSettlement,
  type SettledDay,
  type SettlementState,
  takeDay,
  takeEntries,
} from './settlement/state.ts'

/**
 * The ledgers of all merchants of one HTTP acquirer, and the cases of its issuer. A change is in memory and in the journal when
 * a method returns; `safe` resolves when it is on the disk, before any answer.
 */
export type Books = {
  decide(merchantId: string, request: Request, now: number): Change
  enquire(merchantId: string, key: string, now: number): Answer
  finish(merchantId: string, key: string, code: string, now: number): Answer
  reverseByKey(merchantId: string, key: string, now: number): Reversal
  entry(merchantId: string, key: string): Entry | undefined
  /** An authentication at the issuer. */
  case(merchantId: string, key: string): Case | undefined
  keepCase(merchantId: string, changed: Case): void
  cases(): readonly Case[]
  /** Settles all days of a merchant that are over. Returns those with a file, oldest first. */
  settle(merchantId: string, now: number): readonly SettledDay[]
  /** A settled day with a file. */
  settledDay(merchantId: string, day: string): SettledDay | undefined
  page(after: number, limit: number): LedgerPage
  safe(): Promise<void>
  close(): Promise<void>
}

/** Entries in order of arrival, as JSON with minor units as strings. */
export type LedgerPage = {
  readonly entries: readonly { readonly merchantId: string; readonly [name: string]: unknown }[]
  /** Start of the next page; null after the last one. */
  readonly next: number | null
  readonly count: number
  readonly totals: Readonly<
    Record<string, Readonly<Record<string, { readonly held: string; readonly charged: string }>>>
  >
}

/** @param file file of the ledger; in memory only without it */
export function openBooks(file?: string): Books {
  const ledgers = new Map<string, Ledger>()
  const cases = new Map<string, Case>()
  const order: { readonly merchantId: string; readonly key: string }[] = []
  const settlements = new Map<string, SettlementState>()
  const ledgerOf = (merchantId: string): Ledger => {
    const known = ledgers.get(merchantId)
    if (known !== undefined) return known
    const opened = openLedger()
    ledgers.set(merchantId, opened)
    return opened
  }
  const settlementOf = (merchantId: string): SettlementState => {
    const known = settlements.get(merchantId) ?? openSettlement()
    settlements.set(merchantId, known)
    return known
  }
  const write = (merchantId: string, entries: readonly Entry[]) => {
    const ledger = ledgerOf(merchantId)
    for (const { key } of entries) {
      if (entryOf(ledger, key) === undefined) order.push({ merchantId, key })
    }
    apply(ledger, entries)
    takeEntries(settlementOf(merchantId), entries)
  }
  const journal: Journal =
    file === undefined
      ? noJournal
      : openJournal(file, ({ merchantId, entries = [], case: found, settled }) => {
          write(merchantId, entries)
          if (found !== undefined) cases.set(`${merchantId} ${found.key}`, found)
          if (settled !== undefined) takeDay(settlementOf(merchantId), settled)
        })
  const change = <Decided extends { readonly writes: readonly Entry[] }>(
    merchantId: string,
    decided: Decided,
  ): Decided => {
    journal.append({ merchantId, entries: decided.writes })
    write(merchantId, decided.writes)
    return decided
  }
  return {
    decide: (merchant, request, now) => change(merchant, decide(ledgerOf(merchant), request, now)),
    enquire: (merchant, key, now) => change(merchant, enquire(ledgerOf(merchant), key, now)).answer,
    finish: (merchant, key, code, now) =>
      change(merchant, finish(ledgerOf(merchant), key, code, now)).answer,
    reverseByKey: (merchant, key, now) =>
      change(merchant, reverseByKey(ledgerOf(merchant), key, now)).answer,
    entry: (merchant, key) => entryOf(ledgerOf(merchant), key),
    case: (merchant, key) => cases.get(`${merchant} ${key}`),
    keepCase(merchantId, changed) {
      const name = `${merchantId} ${changed.key}`
      if (cases.get(name) === changed) return
      journal.append({ merchantId, case: changed })
      cases.set(name, changed)
    },
    cases: () => [...cases.values()],
    settle(merchantId, now) {
      const state = settlementOf(merchantId)
      const ledger = ledgerOf(merchantId)
      const find = (key: string) => entryOf(ledger, key)
      const chargebackOf = (payment: string) =>
        [...entriesOf(ledger)].find(
          ({ kind, original, state }) =>
            kind === 'chargeback' && original === payment && state === 'approved',
        )
      for (;;) {
        const day = nextDay(state, dayOf(now))
        if (day === undefined) return state.days.filter(({ text }) => text !== '')
        for (const due of state.disputes.filter((dispute) => dispute.day <= day)) {
          const disputed = disputeRequestOf(due, find)
          if (disputed !== undefined) change(merchantId, decide(ledger, disputed, atNoon(due.day)))
        }
        const settled = cutDay(state, { find, chargebackOf }, merchantNumberOf(merchantId), day)
        journal.append({ merchantId, settled })
        takeDay(state, settled)
      }
    },
    settledDay: (merchantId, day) =>
      settlementOf(merchantId).days.find((known) => known.day === day && known.text !== ''),
    page(after, limit) {
      const entries = order.slice(after, after + limit).map(({ merchantId, key }) => ({
        merchantId,
        ...entryToJson(entryOf(ledgerOf(merchantId), key)!),
      }))
      const next = after + limit < order.length ? after + limit : null
      return { entries, next, count: order.length, totals: totalsOf(ledgers) }
    },
    safe: () => journal.safe(),
    close: () => journal.close(),
  }
}

function disputeRequestOf(
  { kind, key, original, reason }: DueDispute,
  find: (key: string) => Entry | undefined,
): Request | undefined {
  const amount = find(original)?.amount
  if (amount === undefined) return undefined
  return { kind, key, original, reason, amount, paymentId: '', instrument: '', signs: {} }
}

function totalsOf(ledgers: ReadonlyMap<string, Ledger>): LedgerPage['totals'] {
  const sums = [...ledgers].map(([merchantId, ledger]) => {
    const texts = Object.entries(totals(ledger)).map(([currency, { held, charged }]) => [
      currency,
      { held: String(held), charged: String(charged) },
    ])
    return [merchantId, Object.fromEntries(texts)]
  })
  return Object.fromEntries(sums)
}
