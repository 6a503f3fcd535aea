/**
 * Two PostgreSQL servers, a primary and its standby, with a failover between them: made from the
 * embedded programs alone, without pg_basebackup.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  packagedBinaries,
  program,
  usableBinaries,
} from '../../plugins/embedded-postgres/binaries.ts'
import { startEmbeddedPostgres } from '../../plugins/embedded-postgres/index.ts'
import { findPlace } from '../../plugins/embedded-postgres/location.ts'
import { commandLine } from '../../plugins/embedded-postgres/server-settings.ts'
import { identity } from '../../plugins/embedded-postgres/server-user.ts'
import { scratchFolder, type TestCluster } from '../rig/cluster.ts'
import { createDatabase } from '../rig/database.ts'
import { freePort } from '../rig/free-port.ts'
import { installed } from '../rig/installation/installation.ts'
import { markOf, stillRuns } from '../rig/processes.ts'
import { ask, eventually } from './postgres-servers.ts'

export type Replication = 'synchronous' | 'asynchronous'

export type Pair = {
  /** For the files of the run beside the data. */
  readonly cluster: TestCluster
  /** The database at the primary. */
  readonly url: string
  /**
   * Kills the primary with all its processes and promotes the standby. An asynchronous standby is
   * cut off earlier by this much, and the commits in between are lost.
   * @returns the database at the new primary
   */
  failOver(behindMs: number): Promise<string>
  /** The standby gets no further commits. */
  cutOff(): Promise<void>
  /** Promotes the standby while the primary goes on. @returns the database at the new leader */
  promote(): Promise<string>
  /** The database at the standby, which only reads. */
  readonly standbyUrl: string
}

const standbyName = 'standby'

/** Creates the data of the installation, copies them, and starts both servers. */
export async function startPair(replication: Replication): Promise<Pair> {
  const folder = mkdtempSync(join(scratchFolder(), `tollgate-faults-${process.pid}-pair-`))
  // Lets the server's user pass when root runs this.
  chmodSync(folder, 0o711)
  const log = () => undefined
  const options = { directory: folder, projectDirectory: folder, log }
  const first = await startEmbeddedPostgres(options)
  const database = await createDatabase(installed, first.url)
  await first.stop()
  const place = await findPlace(options)
  const binaries = usableBinaries(packagedBinaries(), place, log)
  const [primaryPort, standbyPort] = [await freePort(), await freePort()]
  const data = join(first.location, 'data')
  const copy = join(first.location, 'standby')
  const copied = spawnSync('cp', ['-a', data, copy])
  if (copied.status !== 0) throw new Error(`the data cannot be copied: ${copied.stderr}`)
  spawnSync('touch', [join(copy, 'standby.signal')])
  const servers: ChildProcess[] = []
  const start = (dataFolder: string, port: number, settings: Record<string, string>) => {
    const server = spawn(
      program(binaries, 'postgres'),
      ['-D', dataFolder, ...commandLine(port, settings)],
      {
        ...identity(place.user),
        cwd: '/',
        stdio: 'ignore',
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      },
    )
    endWithThisProcess(server)
    servers.push(server)
    return server
  }
  const at = (port: number, name: string) => {
    const url = new URL(database.url)
    url.port = String(port)
    url.pathname = `/${name}`
    return url.href
  }
  const { username, password } = new URL(database.url)
  const primary = start(data, primaryPort, {
    ...(replication === 'synchronous' ? { synchronous_standby_names: standbyName } : {}),
  })
  // In the file, because a setting on the command line could not change later.
  appendFileSync(
    join(copy, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=${username} password=${password} application_name=${standbyName}'\n`,
  )
  start(copy, standbyPort, { wal_retrieve_retry_interval: '200ms' })
  await answering(at(standbyPort, 'postgres'))
  await replicating(at(primaryPort, 'postgres'))
  const name = new URL(database.url).pathname.slice(1)
  const standby = at(standbyPort, 'postgres')
  const cutOff = async () => {
    await ask(standby, "alter system set primary_conninfo = ''")
    await ask(standby, 'select pg_reload_conf()')
    await eventually('the standby falls behind', async () => {
      const rows = await ask(standby, 'select 1 from pg_stat_wal_receiver')
      return rows.length === 0
    })
  }
  const promote = async () => {
    await ask(standby, 'select pg_promote(true, 30)')
    return at(standbyPort, name)
  }
  return {
    url: at(primaryPort, name),
    cluster: {
      url: at(primaryPort, 'postgres'),
      folder,
      restart: () => Promise.reject(new Error('a pair fails over')),
      async stop() {
        for (const server of servers) {
          if (server.exitCode !== null || server.signalCode !== null) continue
          server.kill('SIGQUIT')
          await once(server, 'exit')
        }
        rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 })
      },
    },
    standbyUrl: at(standbyPort, name),
    cutOff,
    promote,
    async failOver(behindMs) {
      if (replication === 'asynchronous') {
        await cutOff()
        await pause(behindMs)
      }
      // Kills every process of the group at once, like a power failure.
      primary.kill('SIGQUIT')
      await once(primary, 'exit')
      return promote()
    },
  }
}

const answering = (url: string) =>
  eventually('the standby answers', async () => (await ask(url, 'select 1')).length === 1)

const replicating = (url: string) =>
  eventually('the standby follows', async () => {
    const rows = await ask(url, "select 1 from pg_stat_replication where state = 'streaming'")
    return rows.length === 1
  })

function endWithThisProcess(child: ChildProcess): void {
  const mark = markOf(child.pid!)
  const end = () => {
    if (mark !== null && stillRuns(mark)) process.kill(mark.pid, 'SIGQUIT')
  }
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
}
