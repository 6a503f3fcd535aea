/**
 * Approved payments at half of the host's capacity, while another merchant's declines and invalid
 * requests fill the rest and then exceed it. Requests turned away with 429 must cost little, and
 * the approved ones should stay nearly as fast.
 */
import { anotherMerchant } from '../installation.ts'
import { printRows } from '../print.ts'
import { median } from '../rounds.ts'
import {
  assertAllApproved,
  type Ground,
  newHost,
  newInstallation,
  newTraffic,
  type Scenario,
} from './ground.ts'
import type { Stream, StreamReport } from './traffic.ts'

const concurrent = 64

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const target = await newHost(ground, await newInstallation(ground, 'overload'), {
    name: 'overload',
    // The setting of live.
    settings: { TOLLGATE_FAILING_AT_ONCE: '2' },
  })
  const traffic = await newTraffic(ground)
  // As long as the server's pause between rounds of upkeep, so that all share it equally.
  const durationMs = isSmall ? 500 : 20_000
  const other = await anotherMerchant(target)
  const stream = (kind: Stream['kind'], pace: Stream['pace']): Stream => ({
    ...target,
    ...(kind === 'approved' ? {} : other),
    name: kind,
    kind,
    pace,
  })
  const maxima: number[] = []
  for (let round = 0; round < 4; round += 1) {
    const { approved } = await traffic({
      streams: [stream('approved', { concurrent })],
      durationMs: isSmall ? 500 : 5000,
    })
    assertAllApproved(approved!)
    maxima.push(approved!.perSecond)
  }
  // The first round warms up.
  const most = median(maxima.slice(1))
  const offered = stream('approved', { perSecond: most / 2 })
  const cases = [
    { title: 'approved alone', streams: [offered] },
    {
      title: 'declines and validation errors fill the rest',
      streams: [
        offered,
        stream('declined', { perSecond: most / 4 }),
        stream('invalid', { perSecond: most / 4 }),
      ],
    },
    {
      title: `${2 * concurrent} clients send as many as they can`,
      streams: [offered, stream('declined', { concurrent }), stream('invalid', { concurrent })],
    },
  ]
  const rounds = cases.map((): Readonly<Record<string, StreamReport>>[] => [])
  for (let round = 0; round < (isSmall ? 1 : 5); round += 1) {
    for (const [index, { streams }] of cases.entries()) {
      rounds[index]!.push(await traffic({ streams, durationMs }))
    }
  }
  console.log(
    `  at most ${most.toFixed(0)} payments/s, approved ones offered at ${(most / 2).toFixed(0)}`,
  )
  printRows(
    ['', 'approved p50 ms', 'p99 ms', 'p99 ratio', 'approved', 'declined', 'invalid'],
    cases.map(({ title }, index) => {
      const reports = rounds[index]!
      const ratios = reports.map(
        (report, round) => report.approved!.p99Ms / rounds[0]![round]!.approved!.p99Ms,
      )
      return [
        title,
        median(reports.map(({ approved }) => approved!.p50Ms)).toFixed(1),
        median(reports.map(({ approved }) => approved!.p99Ms)).toFixed(1),
        median(ratios).toFixed(2),
        answersOf(reports, 'approved'),
        answersOf(reports, 'declined'),
        answersOf(reports, 'invalid'),
      ]
    }),
  )
  console.log('  With the rest filled, the p99 of approved payments is to stay within 1.5 times.')
}

/** The number of answers of a kind by status, over all rounds: `400: 1234, 429: 5`. */
function answersOf(
  reports: readonly Readonly<Record<string, StreamReport>>[],
  name: string,
): string {
  const sums: Record<string, number> = {}
  for (const report of reports) {
    for (const [status, count] of Object.entries(report[name]?.answers ?? {})) {
      sums[status] = (sums[status] ?? 0) + count
    }
  }
  const texts = Object.entries(sums).map(([status, count]) => `${status}: ${count}`)
  return texts.length === 0 ? '–' : texts.join(', ')
}

export const overload: Scenario = {
  name: 'overload',
  title: 'Overload: approved payments at half of the highest rate, others around them',
  run,
}
