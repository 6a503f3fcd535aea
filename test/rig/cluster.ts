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

/** How the runner tells the test processes about the cluster it started. */
export const clusterVariable = 'TOLLGATE_TEST_DATABASE_URL'

const folderSign = 'tollgate-test-'

/** Many small databases that nobody needs tomorrow. */
const forgetful = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '128MB',
  max_connections: '300',
}

export interface TestCluster {
  /** Of the cluster's first database, as its administrator. */
  readonly url: string
  /** The cluster's folder, for files that shall go with it. */
  readonly folder: string
  /** Ends the server by this signal and starts it again at the same address. */
  restart(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** Ends the server and removes its folder. */
  stop(): Promise<void>
}

const roomBytes = 2 * 1024 ** 3

/**
 * Where the tests put their data folders: in memory where the system has room there. Making a
 * database is a few hundred files, 6 ms in memory against 120 to 270 ms on a disk.
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
 * The cluster of this test run: the runner's, or, for a test file that is run alone, one that is
 * started now and ends with the last test of the process.
 */
export async function testCluster(): Promise<{ readonly url: string }> {
  const url = process.env[clusterVariable]
  if (url !== undefined && url !== '') return { url }
  if (shared === null) {
    const started = startTestCluster()
    // The server's connection keeps no process alive, so this comes after the last test.
    process.once('beforeExit', () => started.then((cluster) => cluster.stop()))
    shared = started
  }
  return shared
}

/** A cluster of its own, for who kills it. `durable` keeps the settings of a real one. */
export async function startTestCluster(
  options: { readonly durable?: boolean } = {},
): Promise<TestCluster> {
  const parent = scratchFolder()
  await removeLeftClusters(parent)
  const folder = mkdtempSync(join(parent, `${folderSign}${process.pid}-`))
  // Passable, so that the server's user gets in when root runs the tests.
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

/** Ends and removes the clusters of test runs that were killed: their process is in the folder's name. */
async function removeLeftClusters(parent: string): Promise<void> {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${folderSign}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || markOf(Number(pid)) !== null) continue
    const folder = join(parent, name)
    try {
      await removeCluster(folder)
    } catch {
      // Another run removes it at the same time, or it is another user's.
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
