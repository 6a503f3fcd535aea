/** The lengths, numbers and frequencies of runs. */
import type { Injection } from './plan.ts'
import type { Replication } from './postgres-pair.ts'

export type Profile = {
  readonly name: string
  readonly minutes: number
  readonly merchants: number
  /** Merchants with schedules, in addition to the others. */
  readonly schedulers: number
  /** Shoppers who pay checkouts, in addition to the merchants. */
  readonly shoppers: number
  /** Mean time between two injections. */
  readonly gapMs: number
  readonly only?: readonly Injection['is'][]
  /**
   * The minimum number of payments, with every kind of fault at least once: a shorter run has
   * failed.
   */
  readonly goal?: { readonly payments: number }
  readonly progressMs: number
  /** Only one endpoint gets payments, because two cores cannot send them to all in half an hour. */
  readonly tellsPaymentsOnce?: true
  /** Two servers, the first of which dies. */
  readonly replication?: Replication | 'patroni'
  /**
   * Violations concern data that was never promised: they are counted and reported, and no failure.
   */
  readonly isAboutLoss?: true
}

export const profiles: Readonly<Record<string, Profile>> = {
  // Without hosts that outlive their lease, which takes half a minute each and has tests of its
  // own.
  short: {
    name: 'short',
    minutes: 0.5,
    merchants: 8,
    schedulers: 4,
    shoppers: 4,
    gapMs: 1_500,
    progressMs: 10_000,
    only: [
      'kill',
      'freeze',
      'clock',
      'postgres',
      'commit',
      'pool',
      'acquirer',
      'events',
      'receiver',
      'migration',
      'rotation',
    ],
  },
  full: {
    name: 'full',
    minutes: 30,
    // More merchants share each commit, so that a payment costs a fifth less than with half as
    // many.
    merchants: 128,
    schedulers: 16,
    shoppers: 12,
    gapMs: 8_000,
    goal: { payments: 500_000 },
    progressMs: 30_000,
    tellsPaymentsOnce: true,
  },
  failover: {
    name: 'failover',
    minutes: 0.5,
    merchants: 16,
    schedulers: 4,
    shoppers: 4,
    gapMs: 1_000,
    progressMs: 10_000,
    only: ['failover'],
    replication: 'synchronous',
  },
  // The leader of a Patroni cluster dies, hands over, and stands still.
  patroni: {
    name: 'patroni',
    minutes: 4,
    merchants: 16,
    schedulers: 4,
    shoppers: 4,
    gapMs: 1_000,
    progressMs: 10_000,
    only: ['leader'],
    replication: 'patroni',
  },
  // Violations are the price of an asynchronous standby: they are counted, and no failure.
  'failover-asynchronous': {
    name: 'failover-asynchronous',
    minutes: 0.5,
    merchants: 16,
    schedulers: 4,
    shoppers: 4,
    gapMs: 1_000,
    progressMs: 10_000,
    only: ['failover'],
    replication: 'asynchronous',
    isAboutLoss: true,
  },
}
