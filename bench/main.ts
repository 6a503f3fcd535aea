/**
 * `npm run bench -- quick`: Tollgate beside hand-written handlers, in under two minutes.
 * `npm run bench`: longer rounds, then memory under lasting load and the time of decoding.
 */
import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { startChild } from './child.ts'
import { type Contestant, embedded, handwritten, host, type Surroundings } from './contestants.ts'
import { startServer } from './database.ts'
import { watchMemory } from './memory.ts'
import { printRatios, printTable } from './print.ts'
import { type Plan, runRounds } from './rounds.ts'

const help = `npm run bench [-- [quick] [options]]

  quick                 short rounds, under two minutes
  --contestants a,b,c,d who takes part: (a) hand-written with transactions, (b) hand-written with
                        prepared statements, (c) Tollgate over HTTP, (d) the embedded engine
  --concurrent 1,8      payments under way at once, several levels
  --rounds 5            rounds per level
  --seconds 1           length of a round
  --pool 20             connections of each hand-written handler
  --beside <folder>     also measure another version of this project, installed in that folder
  --profile <folder>    write a processor profile of every contestant there
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    contestants: { type: 'string', default: 'a,b,c,d' },
    concurrent: { type: 'string', default: '1,8,32,64' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    pool: { type: 'string', default: '20' },
    beside: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function count(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${name} is "${text}": use a number above 0`)
  return value
}

function planOf(isQuick: boolean): Plan {
  const { concurrent, rounds, seconds } = values
  return {
    concurrent: concurrent.split(',').map((text) => count('--concurrent', text)),
    rounds: count('--rounds', rounds ?? (isQuick ? '5' : '9')),
    durationMs: 1000 * count('--seconds', seconds ?? (isQuick ? '0.9' : '4')),
    warmUpMs: isQuick ? 2000 : 5000,
  }
}

/** In the order in which they stand in the table. */
async function start(surroundings: Surroundings, stop: AsyncDisposableStack) {
  const { beside } = values
  const entry: Readonly<Record<string, (() => Promise<Contestant>)[]>> = {
    a: [() => handwritten(surroundings, 'transactions')],
    b: [() => handwritten(surroundings, 'statements')],
    c: [
      () => host(surroundings),
      ...(beside === undefined ? [] : [() => host(surroundings, beside)]),
    ],
    d: [
      () => embedded(surroundings),
      ...(beside === undefined ? [] : [() => embedded(surroundings, beside)]),
    ],
  }
  const started: Contestant[] = []
  for (const letter of values.contestants.split(',')) {
    const makers = entry[letter]
    if (makers === undefined) throw new Error(`--contestants: there is no "${letter}", use a,b,c,d`)
    for (const make of makers) {
      const contestant = await make()
      stop.defer(contestant.stop)
      started.push(contestant)
    }
  }
  return started
}

async function main(isQuick: boolean): Promise<void> {
  const plan = planOf(isQuick)
  await using stop = new AsyncDisposableStack()
  // The server and the contestants are processes of their own: Ctrl-C has to end them too.
  process.once('SIGINT', () => stop.disposeAsync().then(() => process.exit(130)))
  const server = await startServer()
  stop.defer(server.stop)
  const load = await startChild(new URL('load.ts', import.meta.url), {})
  stop.defer(load.stop)
  const [processor] = cpus()
  const gigabytes = (totalmem() / 2 ** 30).toFixed(0)
  console.log(
    `${cpus().length} × ${processor?.model.trim()}, ${gigabytes} GB, Node ${process.version}`,
  )
  console.log(await server.describe())
  const pool = count('--pool', values.pool)
  const contestants = await start({ server, load, profile: values.profile, pool }, stop)
  const series = await runRounds(contestants, server, load.pid, plan)
  printTable(series)
  printRatios(series)
  const overHttp = contestants.find(({ letter }) => letter === 'c')
  if (!isQuick && overHttp !== undefined) await watchMemory(overHttp)
}

const [mode = 'full'] = positionals
if (values.help || (mode !== 'quick' && mode !== 'full')) console.log(help)
else {
  await main(mode === 'quick')
  // Measured last, when the processor is free of everybody else.
  if (mode === 'full') await import('./decode.ts')
}
