/**
 * Captures of 0.01 on one authorisation beside unrelated payments. The same captures on many
 * authorisations separate the cost of their number from the cost of the shared row.
 */
import { card } from '../payment.ts'
import { printRows } from '../print.ts'
import { median } from '../rounds.ts'
import {
  assertAllApproved,
  type Ground,
  newTarget,
  newTraffic,
  pay,
  type Scenario,
} from './ground.ts'
import type { Stream, StreamReport } from './traffic.ts'

const unrelatedPerSecond = 150
const capturesUnderWay = 8
const manyAuthorisations = 64

const authorisation = {
  amount: '1000000.00',
  currency: 'EUR',
  paymentBrand: 'VISA',
  paymentType: 'PA',
  ...Object.fromEntries(Object.entries(card).map(([name, value]) => [`card.${name}`, value])),
}

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const target = await newTarget(ground, 'follow_ups')
  const traffic = await newTraffic(ground)
  const hot = [await pay(target, authorisation)]
  const spread: string[] = []
  for (let no = 0; no < manyAuthorisations; no += 1) spread.push(await pay(target, authorisation))
  const unrelated: Stream = {
    ...target,
    name: 'unrelated',
    kind: 'approved',
    pace: { perSecond: unrelatedPerSecond },
  }
  const captures = (ids: readonly string[]): Stream => ({
    ...target,
    name: 'captures',
    kind: 'captures',
    ids,
    pace: { concurrent: capturesUnderWay },
  })
  const cases = [
    { title: 'no captures', streams: [unrelated] },
    { title: 'captures on one authorisation', streams: [unrelated, captures(hot)] },
    { title: `captures on ${manyAuthorisations}`, streams: [unrelated, captures(spread)] },
  ]
  const rounds = cases.map((): Readonly<Record<string, StreamReport>>[] => [])
  for (let round = 0; round < (isSmall ? 2 : 9); round += 1) {
    for (const [index, { streams }] of cases.entries()) {
      const reports = await traffic({ streams, durationMs: isSmall ? 500 : 4000 })
      Object.values(reports).forEach(assertAllApproved)
      // The first round warms up.
      if (round > 0) rounds[index]!.push(reports)
    }
  }
  const figure = (index: number, name: string, of: (report: StreamReport) => number) =>
    median(rounds[index]!.map((reports) => (reports[name] ? of(reports[name]) : Number.NaN)))
  printRows(
    [
      'unrelated payments, 150 a second, beside',
      'p50 ms',
      'p99 ms',
      'p99 ratio',
      'captures/s',
      'captures p99 ms',
    ],
    cases.map(({ title }, index) => {
      const ratios = rounds[index]!.map(
        (reports, round) => reports.unrelated!.p99Ms / rounds[0]![round]!.unrelated!.p99Ms,
      )
      const ofCaptures = (of: (report: StreamReport) => number) => {
        const value = figure(index, 'captures', of)
        return Number.isNaN(value) ? '–' : value.toFixed(0)
      }
      return [
        title,
        figure(index, 'unrelated', ({ p50Ms }) => p50Ms).toFixed(1),
        figure(index, 'unrelated', ({ p99Ms }) => p99Ms).toFixed(1),
        median(ratios).toFixed(2),
        ofCaptures(({ perSecond }) => perSecond),
        ofCaptures(({ p99Ms }) => p99Ms),
      ]
    }),
  )
}

export const followUps: Scenario = {
  name: 'follow-ups',
  title: 'Captures of 0.01 on one hot authorisation beside unrelated payments',
  run,
}
