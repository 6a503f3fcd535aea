/** The result of a run, and its lines for the reader. */
import type { Violation } from './assertions.ts'
import type { Silence } from './history.ts'
import type { Done } from './injections.ts'
import { killedAt, type Planned } from './plan.ts'
import type { Profile } from './profiles.ts'

export type Report = {
  readonly violations: readonly (Violation & { readonly assertion: string })[]
  /** The number of violations of each violated assertion. */
  readonly counts: Readonly<Record<string, number>>
  /** Omissions of the run; empty in a valid run. */
  readonly shortcomings: readonly string[]
  readonly payments: number
  readonly tries: number
  readonly perSecond: number
  readonly injected: readonly Done[]
  readonly seconds: number
  /** Spans of more than a second in which no merchant got an approval. */
  readonly silences: readonly Silence[]
}

export function shortcomings(
  profile: Profile,
  injected: readonly Done[],
  payments: number,
): string[] {
  if (profile.goal === undefined) return []
  const done = injected
    .filter(({ result }) => result === 'done')
    .map(({ planned }) => planned.injection)
  const points = killedAt.filter((at) => !done.some((one) => one.is === 'kill' && one.at === at))
  const kinds = new Set(done.map((one) => kindOf(one)))
  const planned = new Set(injected.map(({ planned }) => kindOf(planned.injection)))
  return [
    ...points.map((at) => `no host was killed at ${at}`),
    ...[...planned].filter((kind) => !kinds.has(kind)).map((kind) => `never came about: ${kind}`),
    ...(payments < profile.goal.payments
      ? [`${payments} payments instead of ${profile.goal.payments}`]
      : []),
  ]
}

/** The kind of a fault in the report. */
export function kindOf(injection: Planned['injection']): string {
  switch (injection.is) {
    case 'kill':
      return `kill ${injection.at}`
    case 'freeze':
      return `freeze ${injection.at}`
    case 'outlive':
      return `outlive ${injection.at}`
    case 'clock':
      return `clock ${injection.aheadMs > 0 ? '+1 h' : '-1 h'}`
    case 'postgres':
      return `postgres ${injection.how}`
    case 'commit':
      return `commit ${injection.of}, ${injection.lose} lost`
    case 'pool':
      return `pool ${injection.how}`
    case 'acquirer':
      return `acquirer ${Object.values(injection.fault)
        .filter((value) => typeof value === 'string')
        .join(' ')}`
    case 'events':
      return `events ${injection.how}`
    case 'receiver':
      return `receiver ${injection.fault.how}`
    case 'rotation':
      return 'rotation of the data key'
    case 'migration':
      return 'migration interrupted'
    case 'failover':
      return 'failover'
    case 'leader':
      return `leader: ${injection.fault}`
    case 'settlement':
      return 'settlement'
  }
}

/** The report as lines: the number of faults of each kind. */
export function summary(report: Report): string[] {
  const kinds = Map.groupBy(report.injected, ({ planned }) => kindOf(planned.injection))
  const rows = [...kinds].toSorted().map(([kind, all]) => {
    const missed = all.filter(({ result }) => result === 'missed')
    const why = missed.length === 0 ? '' : `, ${missed.length} missed (${missed[0]!.why})`
    return `  ${kind}: ${all.length - missed.length}${why}`
  })
  const silences = report.injected
    .filter(({ planned }) => planned.injection.is === 'leader')
    .map(
      (done) =>
        `  ${kindOf(done.planned.injection)}: ${silenceOf(done, report)} s without an approval`,
    )
  return [
    ...rows,
    ...silences,
    `${report.payments} payments, ${report.tries} requests, ${report.perSecond.toFixed(0)} payments/s over ${report.seconds.toFixed(0)} s`,
  ]
}

/** Seconds without an approval from the start of a fault until the cluster was whole again. */
function silenceOf({ startedMs, endedMs }: Done, { silences }: Report): string {
  const spans = silences.filter(({ fromMs, toMs }) => toMs > startedMs && fromMs < endedMs)
  const longest = Math.max(0, ...spans.map(({ fromMs, toMs }) => toMs - fromMs))
  return (longest / 1000).toFixed(1)
}
