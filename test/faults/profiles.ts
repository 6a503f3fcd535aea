/** How long, how many, how often. */
import type { Injection } from './plan.ts'
import type { Replication } from './postgres-pair.ts'

export type Profile = {
  readonly name: string
  readonly minutes: number
  readonly merchants: number
  /** Merchants with schedules, beside the others. */
  readonly schedulers: number
  /** Mean time between two injections. */
  readonly gapMs: number
  readonly only?: readonly Injection['is'][]
  /** Fewest payments, and every kind of fault at least once: a run that falls short has failed. */
  readonly goal?: { readonly payments: number }
  readonly progressMs: number
  /** One endpoint alone is told of payments: what all would be told in half an hour is more than two cores send. */
  readonly tellsPaymentsOnce?: true
  /** Two servers, of which the first dies. */
  readonly replication?: Replication
  /** What it finds violated was never promised: it is counted and told, and no failure. */
  readonly isAboutLoss?: true
}

export const profiles: Readonly<Record<string, Profile>> = {
  // Without hosts that outlive their lease: that takes half a minute each, and has tests of its own.
  short: {
    name: 'short',
    minutes: 0.5,
    merchants: 8,
    schedulers: 4,
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
    // So many share each commit that a payment costs a fifth less than with half of them.
    merchants: 128,
    schedulers: 16,
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
    gapMs: 1_000,
    progressMs: 10_000,
    only: ['failover'],
    replication: 'synchronous',
  },
  // What it finds violated is the price of an asynchronous standby: it is counted, and no failure.
  'failover-asynchronous': {
    name: 'failover-asynchronous',
    minutes: 0.5,
    merchants: 16,
    schedulers: 4,
    gapMs: 1_000,
    progressMs: 10_000,
    only: ['failover'],
    replication: 'asynchronous',
    isAboutLoss: true,
  },
}
