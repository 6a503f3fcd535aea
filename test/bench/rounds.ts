/**
 * Interleaved rounds: every contestant runs briefly in each round, so that a slow moment of the
 * machine affects all.
 */
import type { Contestant } from './contestants.ts'
import type { Server } from './database.ts'
import { familyMs, processMs } from './processor-time.ts'

export type Measurement = {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time for each payment. */
  readonly nodeMs: number
  readonly postgresMs: number
  readonly loadMs: number
  readonly walBytes: number
}

/** One contestant at one level of load, with one measurement for each round. */
export type Series = {
  readonly contestant: Contestant
  readonly concurrent: number
  readonly rounds: Measurement[]
}

export type Plan = {
  readonly concurrent: readonly number[]
  readonly rounds: number
  readonly durationMs: number
  readonly warmUpMs: number
}

async function measureOnce(
  contestant: Contestant,
  concurrent: number,
  durationMs: number,
  server: Server,
  loadPid: number,
): Promise<Measurement> {
  const sample = async () => ({
    wal: await server.walBytes(),
    node: processMs(contestant.pid),
    load: processMs(loadPid),
    postgres: familyMs(server.pid),
  })
  const before = await sample()
  const load = await contestant.run(concurrent, durationMs)
  const after = await sample()
  return {
    perSecond: load.payments / load.seconds,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    nodeMs: (after.node - before.node) / load.payments,
    postgresMs: (after.postgres - before.postgres) / load.payments,
    loadMs: (after.load - before.load) / load.payments,
    walBytes: (after.wal - before.wal) / load.payments,
  }
}

export async function runRounds(
  contestants: readonly Contestant[],
  server: Server,
  loadPid: number,
  plan: Plan,
): Promise<Series[]> {
  for (const contestant of contestants) {
    await contestant.run(Math.max(...plan.concurrent), plan.warmUpMs)
  }
  const series = plan.concurrent.flatMap((concurrent) =>
    contestants.map((contestant): Series => ({ contestant, concurrent, rounds: [] })),
  )
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const concurrent of plan.concurrent) {
      const level = series.filter((one) => one.concurrent === concurrent)
      // The order alternates, because a busy predecessor slows the next contestant.
      const turned = round % 2 === 0 ? level : level.toReversed()
      for (const { contestant, rounds } of turned) {
        rounds.push(await measureOnce(contestant, concurrent, plan.durationMs, server, loadPid))
      }
    }
  }
  return series
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low, high] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN]
  return sorted.length % 2 === 1 ? high : (low + high) / 2
}

/**
 * Median, lowest and highest ratio of one figure by round, so that neighbours in time are compared.
 */
export function ratio(
  over: Series,
  under: Series,
  figure: keyof Measurement,
): { median: number; low: number; high: number } {
  const values = over.rounds.map((measured, round) => {
    return measured[figure] / (under.rounds[round]?.[figure] ?? Number.NaN)
  })
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) }
}
