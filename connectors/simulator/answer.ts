import type { Money } from '@tollgate/plugin-kit'
import { type Entry, networkTxIdOf, referenceOf } from './entry.ts'

/** The acquirer's answer about one key, the same over every transport. */
export type Answer = {
  readonly status: 'approved' | 'declined' | 'pending' | 'notFound'
  readonly key: string
  readonly code: string
  readonly reference?: string
  readonly amount?: Money
  readonly text?: string
  readonly avs?: string
  readonly cvv?: string
  readonly networkTxId?: string
  /**
   * The event that ends a pending payment: the shopper, time (then polling makes sense), or an
   * event.
   */
  readonly wait?: 'shopper' | { readonly pollMs: number } | 'event'
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** The result of a reversal by key. */
export type Reversal = {
  readonly status: 'reversed' | 'nothing' | 'refused'
  readonly key: string
  readonly code: string
  readonly reference?: string
}

export const reversalOf = (entry: Entry): Reversal => ({
  status: entry.code === 'key-reversed' ? 'reversed' : 'nothing',
  key: entry.key,
  code: entry.code,
  reference: referenceOf(entry),
})

/** The acquirer's answer about an entry at a given time. */
export function answerOf(entry: Entry, now: number): Answer {
  const { key, code, amount, avs, cvv } = entry
  const status = entry.state === 'closed' ? 'declined' : entry.state
  return {
    status,
    key,
    code,
    reference: referenceOf(entry),
    // A key closed before its operation arrived has no amount.
    ...(entry.kind === 'none' ? {} : { amount }),
    ...(avs === undefined ? {} : { avs }),
    ...(cvv === undefined ? {} : { cvv }),
    ...(entry.card && status === 'approved' ? { networkTxId: networkTxIdOf(entry) } : {}),
    ...(status === 'pending' ? waiting(entry, now) : {}),
  }
}

function waiting({ due, shopper }: Entry, now: number): Pick<Answer, 'wait' | 'expiresAt'> {
  if (due === undefined) return { wait: 'event' }
  if (shopper) return { wait: 'shopper', expiresAt: due.at }
  return { wait: { pollMs: Math.max(due.at - now, 0) } }
}
