/**
 * Interleaved rounds of two hosts on separate databases, for scenarios that differ in the database.
 */
import { printRows } from '../print.ts'
import { median } from '../rounds.ts'
import { assertAllApproved, type Target, type Traffic } from './ground.ts'
import type { StreamReport } from './traffic.ts'

export type Pair = {
  readonly plain: { readonly title: string; readonly target: Target }
  readonly other: { readonly title: string; readonly target: Target }
}

export type Rounds = {
  readonly plain: StreamReport[]
  readonly other: StreamReport[]
}

/** One load of both hosts, in alternating order. */
export async function runRound(
  traffic: Traffic,
  pair: Pair,
  rounds: Rounds,
  concurrent: number,
  durationMs: number,
): Promise<void> {
  const which = ['plain', 'other'] as const
  for (const name of rounds.plain.length % 2 === 0 ? which : which.toReversed()) {
    const { all } = await traffic({
      streams: [{ ...pair[name].target, name: 'all', kind: 'approved', pace: { concurrent } }],
      durationMs,
    })
    assertAllApproved(all!)
    rounds[name].push(all!)
  }
}

/** Rates and times of both hosts at each level, and the median of the rounds' ratios. */
export function printPair(pair: Pair, levels: ReadonlyMap<number, Rounds>): void {
  const rows = [...levels].flatMap(([concurrent, rounds]) =>
    (['plain', 'other'] as const).map((name) => {
      const ratios = rounds[name].map(
        (report, round) => report.perSecond / rounds.plain[round]!.perSecond,
      )
      const figure = (of: (report: StreamReport) => number) => median(rounds[name].map(of))
      return [
        `${concurrent} concurrent, ${pair[name].title}`,
        figure(({ perSecond }) => perSecond).toFixed(0),
        figure(({ p50Ms }) => p50Ms).toFixed(2),
        figure(({ p99Ms }) => p99Ms).toFixed(2),
        median(ratios).toFixed(2),
        `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
      ]
    }),
  )
  printRows(['', 'payments/s', 'p50 ms', 'p99 ms', 'ratio', 'range'], rows)
}
