/** Time from the start of the process to the first "ready", beside the start of Postgres. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../../../plugins/embedded-postgres/index.ts'
import { freePort } from '../../rig/free-port.ts'
import { startProgram } from '../child.ts'
import { install, ownRoot, ready } from '../installation.ts'
import { printRows } from '../print.ts'
import { median } from '../rounds.ts'
import type { Ground, Scenario } from './ground.ts'

/** Milliseconds from the start of the host until it is ready, after which it is stopped. */
async function startOnce(
  { server, stop }: Ground,
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  const port = await freePort()
  const startedMs = performance.now()
  const program = startProgram(
    join(ownRoot, 'host/bin/tollgate.js'),
    ['serve'],
    { HOST: '127.0.0.1', PORT: String(port), ...settings },
    join(server.folder, 'cold-start.log'),
  )
  stop.defer(program.stop)
  await ready(port, program.ended, 5)
  const tookMs = performance.now() - startedMs
  await program.stop()
  return tookMs
}

async function run(ground: Ground): Promise<void> {
  const { server, isSmall } = ground
  const times = isSmall ? 1 : 7
  const { url, keys } = await install(server, 'cold_start')
  ground.stop.defer(() => server.dropDatabase('cold_start'))
  const external = {
    DATABASE_URL: url,
    TOLLGATE_KEYS: keys,
    TOLLGATE_DATA_DIR: join(server.folder, 'cold-start'),
  }
  const embedded = {
    DATABASE_URL: '',
    TOLLGATE_DATA_DIR: join(server.folder, 'cold-start-embedded'),
  }
  const project = join(server.folder, 'cold-start-postgres')
  await mkdir(project, { recursive: true })
  const postgresOnce = async () => {
    const startedMs = performance.now()
    const postgres = await startEmbeddedPostgres({
      directory: 'data',
      projectDirectory: project,
      log: () => {},
    })
    const tookMs = performance.now() - startedMs
    await postgres.stop()
    return tookMs
  }
  const firsts = [await postgresOnce(), await startOnce(ground, embedded)]
  const measured: { alone: number; postgres: number; both: number }[] = []
  for (let round = 0; round < times; round += 1) {
    measured.push({
      alone: await startOnce(ground, external),
      postgres: await postgresOnce(),
      both: await startOnce(ground, embedded),
    })
  }
  const row = (title: string, values: readonly number[]) => [
    title,
    median(values).toFixed(0),
    Math.min(...values).toFixed(0),
    Math.max(...values).toFixed(0),
  ]
  printRows(
    ['from start to ready', 'median ms', 'lowest', 'highest'],
    [
      row(
        'host on a running, migrated Postgres',
        measured.map(({ alone }) => alone),
      ),
      row(
        'embedded Postgres by itself',
        measured.map(({ postgres }) => postgres),
      ),
      row(
        'host with its embedded Postgres',
        measured.map(({ both }) => both),
      ),
      row(
        'the host’s part of it',
        measured.map(({ both, postgres }) => both - postgres),
      ),
      row('once: a new embedded Postgres by itself', firsts.slice(0, 1)),
      row('once: host with a new embedded Postgres', firsts.slice(1)),
    ],
  )
  console.log('  Beside the start of Postgres a host is to be ready within 1,000 ms.')
}

export const coldStart: Scenario = {
  name: 'cold-start',
  title: 'Cold start: from the start of the process to ready',
  run,
}
