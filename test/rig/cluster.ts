import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../plugins/embedded-postgres/index.ts'
import { isServerOf } from '../../plugins/embedded-postgres/processes.ts'
import { findServer } from '../../plugins/embedded-postgres/server.ts'
import { markOf } from './processes.ts'

/** The runner's variable for the address of its cluster. */
export const clusterVariable = 'TOLLGATE_TEST_DATABASE_URL'

const folderSign = 'tollgate-test-'

/** Settings for many small temporary databases. */
const forgetful = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  max_connections: '600',
  wal_compression: 'off',
  autovacuum: 'off',
}

export interface TestCluster {
  /** The URL of the cluster's first database, as its administrator. */
  readonly url: string
  /** The cluster's folder, also for files with the same lifetime. */
  readonly folder: string
  /** Ends the server by this signal and starts it again at the same address. */
  restart(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** Ends the server and removes its folder. */
  stop(): Promise<void>
}

const roomBytes = 2 * 1024 ** 3

/**
 * The folder for the tests' data: in memory where there is room. Creating a database takes a few
 * hundred files, 6 ms in memory against 120 to 270 ms on a disk.
 */
export function scratchFolder(): string {
  const memory = '/dev/shm'
  try {
    accessSync(memory, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= roomBytes ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

let shared: Promise<TestCluster> | null = null

/**
 * The cluster of this test run: the runner's, or, for a single test file, one that starts now and
 * ends with the last test of the process.
 */
export async function testCluster(): Promise<{ readonly url: string }> {
  const url = process.env[clusterVariable]
  if (url !== undefined && url !== '') return { url }
  if (shared === null) {
    const started = startTestCluster()
    // The server's connection keeps no process alive, so this runs after the last test.
    process.once('beforeExit', () => started.then((cluster) => cluster.stop()))
    shared = started
  }
  return shared
}

/** A separate cluster for tests that kill it. `durable` keeps the settings of a real one. */
export async function startTestCluster(
  options: { readonly durable?: boolean } = {},
): Promise<TestCluster> {
  const parent = scratchFolder()
  await removeLeftClusters(parent)
  const folder = mkdtempSync(join(parent, `${folderSign}${process.pid}-`))
  // Lets the server's user pass when root runs the tests.
  chmodSync(folder, 0o711)
  const start = () =>
    startEmbeddedPostgres({
      directory: folder,
      projectDirectory: folder,
      log: () => undefined,
      settings: options.durable === true ? {} : forgetful,
    })
  let server: EmbeddedPostgres
  try {
    server = await start()
  } catch (thrown) {
    rmSync(folder, { recursive: true, force: true })
    throw thrown
  }
  return {
    url: server.url,
    folder,
    async restart(signal) {
      await endServer(join(folder, 'data'), signal)
      await server.stop()
      server = await start()
    },
    async stop() {
      await server.stop()
      await removeCluster(folder)
    },
  }
}

/** Stops and removes the clusters of killed test runs, whose process is in the folder's name. */
async function removeLeftClusters(parent: string): Promise<void> {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${folderSign}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || markOf(Number(pid)) !== null) continue
    const folder = join(parent, name)
    try {
      await removeCluster(folder)
    } catch {
      // Another run removes it at the same time, or another user owns it.
    }
  }
}

async function removeCluster(folder: string): Promise<void> {
  // The immediate shutdown. Killed outright it would leave its shared memory to the machine.
  await endServer(join(folder, 'data'), 'SIGQUIT')
  rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 })
}

/** Signals the server of this data folder, if one runs, and waits for its end. */
export async function endServer(data: string, signal: NodeJS.Signals): Promise<void> {
  const server = findServer(data)
  if (server === null) return
  process.kill(server.pid, signal)
  while (isServerOf(server.pid, data)) await pause(5)
}
