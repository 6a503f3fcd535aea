/** One PostgreSQL server for all contestants, with a database for each. */
import { chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../plugins/embedded-postgres/index.ts'

export type Server = {
  /** Process id of the server's first process, the parent of its sessions. */
  readonly pid: number
  readonly folder: string
  /** Bytes of write-ahead log since the server was created. */
  readonly walBytes: () => Promise<number>
  /** The server's version and the settings that decide the cost of a commit. */
  readonly describe: () => Promise<string>
  /** Creates an empty database and returns its URL. */
  readonly makeDatabase: (name: string) => Promise<string>
  /** Removes a database, also one in use. */
  readonly dropDatabase: (name: string) => Promise<void>
  readonly stop: () => Promise<void>
}

/** The type that `statfs` reports for a file system in memory. */
const inMemory = 0x01021994

/** A commit on a file system in memory costs nothing, so it cannot be measured there. */
async function folderOnDisk(): Promise<string> {
  for (const parent of [tmpdir(), '/var/tmp', process.cwd()]) {
    const found = await statfs(parent).catch(() => undefined)
    if (found !== undefined && found.type !== inMemory) {
      const folder = await mkdtemp(join(parent, 'tollgate-bench-'))
      // Under root, the server runs as another user and needs access.
      await chmod(folder, 0o755)
      return folder
    }
  }
  throw new Error('No folder on a disk: set TMPDIR to one that is not in memory.')
}

/** Starts the server. `stop` ends it, also during its start. */
export function startServer(stop: AsyncDisposableStack): Promise<Server> {
  const starting = start()
  stop.defer(async () => (await starting).stop())
  return starting
}

/** A gigabyte of log: a server with these settings writes as much between two checkpoints. */
const logFiles = 64

/**
 * An older server reuses its log files. A new one creates each of 16 MB on the way, and every
 * commit waits 30 to 60 ms for it: at 5 MB/s a hundredth of all commits, and so the 99th percentile
 * of every measurement.
 */
async function fillLog(client: pg.Client): Promise<void> {
  for (let file = 0; file < logFiles; file += 1) {
    await client.query("select pg_logical_emit_message(false, 'bench', 'used')")
    await client.query('select pg_switch_wal()')
  }
  await client.query('checkpoint')
}

async function start(): Promise<Server> {
  const folder = await folderOnDisk()
  const embedded = await startEmbeddedPostgres({
    directory: join(folder, 'postgres'),
    projectDirectory: folder,
    log: () => {},
  })
  const client = new pg.Client({ connectionString: embedded.url })
  await client.connect()
  await fillLog(client)
  const pidFile = await readFile(join(embedded.location, 'data', 'postmaster.pid'), 'utf8')
  return {
    pid: Number(pidFile.split('\n', 1)[0]),
    folder,
    async walBytes() {
      const { rows } = await client.query<{ bytes: string }>(
        "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes",
      )
      return Number(rows[0]?.bytes)
    },
    async describe() {
      const { rows } = await client.query<{ text: string }>(
        `select 'PostgreSQL ' || current_setting('server_version') || ', fsync ' || current_setting('fsync')
          || ', synchronous_commit ' || current_setting('synchronous_commit')
          || ', full_page_writes ' || current_setting('full_page_writes')
          || ', wal_compression ' || current_setting('wal_compression')
          || ', shared_buffers ' || current_setting('shared_buffers') as text`,
      )
      return rows[0]?.text ?? ''
    },
    async makeDatabase(name) {
      await client.query(`create database ${pg.escapeIdentifier(name)}`)
      const url = new URL(embedded.url)
      url.pathname = `/${name}`
      return url.href
    },
    async dropDatabase(name) {
      await client.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`)
    },
    async stop() {
      await client.end()
      await embedded.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
