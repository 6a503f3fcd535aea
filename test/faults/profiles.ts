/** The lengths, numbers and frequencies of runs. */
import type { LeaderFault, PatroniSetup } from './patroni.ts'
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
  readonly replication?: Replication
  /** A cluster under Patroni, and what happens to it, in an order that the seed decides. */
  readonly patroni?: PatroniSetup & { readonly faults: readonly LeaderFault[] }
  /**
   * Violations concern data that was never promised: they are counted and reported, and no failure.
   */
  readonly isAboutLoss?: true
}

const patroni = {
  merchants: 16,
  schedulers: 4,
  shoppers: 4,
  gapMs: 1_000,
  progressMs: 10_000,
  only: ['leader'],
} as const

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
  patroni: {
    ...patroni,
    name: 'patroni',
    minutes: 8,
    patroni: {
      mode: 'synchronous',
      proxy: 'closes',
      faults: ['kill', 'switchover', 'stall', 'wake', 'standbys', 'registry'],
    },
  },
  // For continuous integration.
  'patroni-short': {
    ...patroni,
    name: 'patroni-short',
    minutes: 2.5,
    patroni: { mode: 'synchronous', proxy: 'closes', faults: ['kill', 'switchover'] },
  },
  // No commit is acknowledged without a standby, so both standbys may die.
  'patroni-strict': {
    ...patroni,
    name: 'patroni-strict',
    minutes: 6,
    patroni: {
      mode: 'strict',
      proxy: 'closes',
      faults: ['kill', 'switchover', 'stall', 'standbys'],
    },
  },
  // A proxy that keeps connections to a former leader, which goes on answering.
  'patroni-keeps': {
    ...patroni,
    name: 'patroni-keeps',
    minutes: 4,
    patroni: { mode: 'synchronous', proxy: 'keeps', faults: ['kill', 'wake'] },
  },
  'patroni-asynchronous': {
    ...patroni,
    name: 'patroni-asynchronous',
    minutes: 6,
    patroni: {
      mode: 'asynchronous',
      proxy: 'keeps',
      faults: ['behind', 'switchover', 'wake'],
    },
    isAboutLoss: true,
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
