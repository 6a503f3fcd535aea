/**
 * A slow acquirer outside the process: its latency alone limits the payments, thousands of waiting
 * ones cost little memory, and none may be lost.
 */

import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startChild } from '../child.ts'
import { printRows } from '../print.ts'
import { charged, startAcquirer } from './acquirer.ts'
import {
  type Ground,
  newHost,
  newInstallation,
  newTraffic,
  peakMegabytes,
  type Scenario,
} from './ground.ts'

type Level = { readonly delayMs: number; readonly concurrent: number; readonly seconds: number }

/** Rates within the capacity of one process on two cores. */
const levels: readonly Level[] = [
  { delayMs: 50, concurrent: 32, seconds: 15 },
  { delayMs: 300, concurrent: 200, seconds: 15 },
  { delayMs: 2000, concurrent: 1000, seconds: 20 },
  { delayMs: 8000, concurrent: 5000, seconds: 40 },
]
const smallLevels: readonly Level[] = [
  { delayMs: 50, concurrent: 8, seconds: 1 },
  { delayMs: 300, concurrent: 30, seconds: 1.5 },
]
const residentLimit = 300
/** As docs/operating.md recommends. */
const nodeOptions = { NODE_OPTIONS: '--max-semi-space-size=4' }

type EmbeddedReport = { readonly sent: number; readonly approved: number }

async function run(ground: Ground): Promise<void> {
  const acquirer = await startAcquirer(ground)
  const installation = await newInstallation(ground, 'slow_acquirer', acquirer)
  const host = await newHost(ground, installation, {
    name: 'slow_acquirer',
    isBuilt: true,
    configFile: fileURLToPath(new URL('slow-acquirer.config.js', import.meta.url)),
    settings: { ...nodeOptions, BENCH_ACQUIRER: acquirer },
  })
  const traffic = await newTraffic(ground)
  const client = new pg.Client({ connectionString: installation.url })
  await client.connect()
  ground.stop.defer(() => client.end())
  const approvedRows = async () => {
    const { rows } = await client.query<{ count: string }>(
      "select count(*) as count from tollgate.payment where state = 'approved'",
    )
    return Number(rows[0]?.count)
  }
  const rows: string[][] = []
  let sent = 0
  let answered = 0
  for (const { delayMs, concurrent, seconds } of ground.isSmall ? smallLevels : levels) {
    const delaysMs = [delayMs / 2, delayMs * 1.5] as const
    const order = {
      streams: [
        { ...host, name: 'all', kind: 'approved' as const, delaysMs, pace: { concurrent } },
      ],
      durationMs: seconds * 1000,
      rampMs: delayMs,
      countFromMs: Math.min(2 * delayMs, seconds * 500),
    }
    const { value, megabytes } = await peakMegabytes(host.pid, () => traffic(order))
    const all = value.all!
    sent += all.sent
    answered += all.approved
    const possible = (concurrent * 1000) / delayMs
    rows.push([
      `${delayMs} ms`,
      String(concurrent),
      all.perSecond.toFixed(0),
      possible.toFixed(0),
      (all.perSecond / possible).toFixed(2),
      (all.p50Ms - delayMs).toFixed(1),
      `${megabytes.toFixed(0)} MB`,
      JSON.stringify(all.answers),
    ])
  }
  // The same in an embedder's process without HTTP.
  const { delayMs, concurrent, seconds } = (ground.isSmall ? smallLevels : levels).at(-1)!
  const embedder = await startChild(
    new URL('slow-embedded.js', import.meta.url),
    {
      ...nodeOptions,
      BENCH_DATABASE: installation.url,
      BENCH_KEYS: installation.keys,
      BENCH_ENTITY: installation.entityId,
      BENCH_ACQUIRER: acquirer,
    },
    undefined,
    [],
  )
  ground.stop.defer(embedder.stop)
  const { value, megabytes } = await peakMegabytes(
    embedder.pid,
    () => embedder.ask({ delayMs, concurrent, seconds }) as Promise<EmbeddedReport>,
  )
  sent += value.sent
  answered += value.approved
  rows.push([
    `${delayMs} ms`,
    `${concurrent}, embedded`,
    ...['', '', '', ''],
    `${megabytes.toFixed(0)} MB`,
    JSON.stringify({ approved: value.approved }),
  ])
  printRows(
    [
      'acquirer',
      'in flight',
      '/s',
      'acquirer alone /s',
      'ratio',
      'p50 over it, ms',
      'RSS',
      'answers',
    ],
    rows,
  )
  const stored = await approvedRows()
  const moved = await charged(acquirer)
  const lost = Math.max(sent, moved) - Math.min(answered, stored)
  console.log(
    `  ${sent} payments sent, ${answered} answered as approved, ${stored} approved in the database,` +
      ` ${moved} charged at the acquirer: ${lost} lost. RSS is to stay under ${residentLimit} MB.`,
  )
}

export const slowAcquirer: Scenario = {
  name: 'slow-acquirer',
  title:
    'An acquirer that answers after 50, 300, 2,000 and 8,000 ms, each from half to one and a half of that',
  run,
}
