/**
 * `npm run bench -- quick`: Tollgate beside hand-written handlers, checkouts and the widget, in about two
 * minutes.
 * `npm run bench`: longer rounds with all contestants, all scenarios, then decoding.
 */
import { availableParallelism, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { endChildren, startChild } from './child.ts'
import { type Contestant, embedded, handler, host, type Surroundings } from './contestants.ts'
import { startServer } from './database.ts'
import { installPeers } from './peers.ts'
import { findPgbench, pgbench } from './pgbench.ts'
import { printRatios, printTable } from './print.ts'
import { type Plan, runRounds } from './rounds.ts'
import { scenarios } from './scenarios/index.ts'

const quickContestants = 'a,b,c,d'
/** Scenarios of a few seconds. */
const quickScenarios = ['checkouts', 'widget']
const allContestants = 'a,b,c,d,e,f,g'

const help = `npm run bench [-- [quick | contestants | decode | cron | scenarios …] [options]]

  (nothing)             everything: contestants, all scenarios, decoding
  quick                 contestants ${quickContestants} in short rounds, checkouts and the widget,
                        in about two minutes
  contestants           all contestants in long rounds
  decode                decoding and validating a request
  cron                  finding the next run of a schedule, beside other libraries
  --contestants b,c     who takes part: (a) hand-written with transactions, (b) hand-written with
                        prepared statements, (c) Tollgate over HTTP, (d) the embedded engine,
                        (e) DBOS Transact, (f) graphile-worker, (g) pgbench with the statements of (b)
  --concurrent 1,8      payments under way at once, several levels
  --rounds 5            rounds per level
  --seconds 1           length of a round
  --pool 20             connections of each handler without Tollgate
  --beside <folder>     also measure another version of this project, installed in that folder
  --profile <folder>    write a processor profile of every contestant there
  --part 0.2            a part of the full size of settlement-file
  --small               a few seconds of each: shows that all works, and measures nothing

Scenarios:
${scenarios.map(({ name, title }) => `  ${name.padEnd(22)}${title}`).join('\n')}
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    contestants: { type: 'string' },
    concurrent: { type: 'string', default: '1,8,32,64' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    pool: { type: 'string', default: '20' },
    beside: { type: 'string' },
    profile: { type: 'string' },
    part: { type: 'string', default: '1' },
    small: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

function count(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${name} is "${text}": use a number above 0`)
  return value
}

function planOf(isQuick: boolean): Plan {
  const { concurrent, rounds, seconds, small } = values
  const [mostRounds, longest, warmUpMs] = small
    ? ['1', '0.3', 300]
    : isQuick
      ? ['5', '0.9', 2000]
      : ['9', '4', 5000]
  return {
    concurrent: concurrent.split(',').map((text) => count('--concurrent', text)),
    rounds: count('--rounds', rounds ?? mostRounds),
    durationMs: 1000 * count('--seconds', seconds ?? longest),
    warmUpMs,
  }
}

/** The contestants available on this machine, in the order of the table. */
async function start(
  letters: readonly string[],
  surroundings: Surroundings,
  stop: AsyncDisposableStack,
) {
  const { beside } = values
  const program = letters.includes('g') ? findPgbench() : undefined
  if (letters.includes('g') && program === undefined) console.log('(g) pgbench: not installed')
  const hasPeers =
    letters.some((letter) => letter === 'e' || letter === 'f') && (await installPeers())
  const schema = new URL('handwritten/schema.sql', import.meta.url)
  const entry: Readonly<Record<string, (() => Promise<Contestant>)[]>> = {
    a: [() => handler(surroundings, 'a')],
    b: [() => handler(surroundings, 'b')],
    c: [
      () => host(surroundings),
      ...(beside === undefined ? [] : [() => host(surroundings, beside)]),
    ],
    d: [
      () => embedded(surroundings),
      ...(beside === undefined ? [] : [() => embedded(surroundings, beside)]),
    ],
    e: hasPeers ? [() => handler(surroundings, 'e')] : [],
    f: hasPeers ? [() => handler(surroundings, 'f')] : [],
    g: program === undefined ? [] : [() => pgbench(surroundings, program, schema)],
  }
  const started: Contestant[] = []
  for (const letter of letters) {
    const makers = entry[letter]
    if (makers === undefined) {
      throw new Error(`--contestants: there is no "${letter}", use ${allContestants}`)
    }
    for (const make of makers) {
      const contestant = await make()
      stop.defer(contestant.stop)
      started.push(contestant)
    }
  }
  return started
}

async function compare(isQuick: boolean, outer: AsyncDisposableStack): Promise<void> {
  const plan = planOf(isQuick)
  const letters = values.contestants ?? (isQuick ? quickContestants : allContestants)
  const pool = count('--pool', values.pool)
  await using stop = outer.use(new AsyncDisposableStack())
  const server = await startServer(stop)
  const load = await startChild(new URL('load.ts', import.meta.url), {})
  stop.defer(load.stop)
  console.log(await server.describe())
  const surroundings = { server, load, profile: values.profile, pool }
  const contestants = await start(letters.split(','), surroundings, stop)
  const series = await runRounds(contestants, server, load.pid, plan)
  printTable(series)
  printRatios(series)
}

async function runScenarios(names: readonly string[], outer: AsyncDisposableStack): Promise<void> {
  const server = await startServer(outer)
  console.log(await server.describe())
  for (const { name, title, run } of scenarios) {
    if (!names.includes(name)) continue
    console.log(`\n${name}: ${title}${values.small ? ' (small: these are no figures)' : ''}`)
    await using stop = outer.use(new AsyncDisposableStack())
    await run({ server, stop, isSmall: values.small, part: count('--part', values.part) })
  }
}

async function main(chosen: readonly string[], outer: AsyncDisposableStack): Promise<void> {
  const [processor] = cpus()
  const gigabytes = (totalmem() / 2 ** 30).toFixed(0)
  console.log(
    `${availableParallelism()} × ${processor?.model.trim()}, ${gigabytes} GB, Node ${process.version}`,
  )
  const isFull = chosen.length === 0
  const isQuick = chosen.includes('quick')
  const names = scenarios
    .map(({ name }) => name)
    .filter((name) => isFull || chosen.includes(name) || (isQuick && quickScenarios.includes(name)))
  if (isQuick) await compare(true, outer)
  if (isFull || chosen.includes('contestants')) await compare(false, outer)
  if (names.length > 0) await runScenarios(names, outer)
  // Measured last, when no other contestant uses the processor.
  await outer.disposeAsync()
  if (isFull || chosen.includes('decode')) await import('./decode.ts')
  if (isFull || chosen.includes('cron')) {
    await installPeers()
    await import('./cron.ts')
  }
}

/** npm repeats the terminal's Ctrl-C to its child, and both arrive: signals this close are one. */
const sameSignalMs = 500

/** Rejects on an interruption. A second one ends the benchmark at once. */
function interruption(): Promise<never> {
  let firstMs: number | undefined
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (firstMs !== undefined && performance.now() - firstMs > sameSignalMs) process.exit(1)
        firstMs ??= performance.now()
        reject(new Error(`interrupted by ${signal}`))
      })
    }
  })
}

/** The benchmark's processes and folder are removed on every end. */
async function mainUntilInterrupted(chosen: readonly string[]): Promise<void> {
  const outer = new AsyncDisposableStack()
  try {
    await Promise.race([main(chosen, outer), interruption()])
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
  // Clients end first, because a server in use would keep running.
  await endChildren()
  await outer.disposeAsync()
  process.exit()
}

const known = ['quick', 'contestants', 'decode', 'cron', ...scenarios.map(({ name }) => name)]
const unknown = positionals.find((name) => !known.includes(name))
if (unknown !== undefined) {
  console.error(`there is no "${unknown}"; npm run bench -- --help names what there is`)
  process.exitCode = 1
} else if (values.help) console.log(help)
else await mainUntilInterrupted(positionals)
