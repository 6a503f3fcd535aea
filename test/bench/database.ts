/** One PostgreSQL server for all contestants, with a database for each. */
import { chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../plugins/embedded-postgres/index.ts'

export type Server = {
  /** Process id of the server's first process; its sessions are children of it. */
  readonly pid: number
  readonly folder: string
  /** Bytes of write-ahead log since the server was made. */
  readonly walBytes: () => Promise<number>
  /** The server's version and those settings that decide what a commit costs. */
  readonly describe: () => Promise<string>
  /** Makes an empty database and returns its URL. */
  readonly makeDatabase: (name: string) => Promise<string>
  /** Removes a database, whoever still uses it. */
  readonly dropDatabase: (name: string) => Promise<void>
  readonly stop: () => Promise<void>
}

/** What `statfs` says of a file system that is in memory. */
const inMemory = 0x01021994

/** A commit on a file system in memory costs nothing and would measure nothing. */
async function folderOnDisk(): Promise<string> {
  for (const parent of [tmpdir(), '/var/tmp', process.cwd()]) {
    const found = await statfs(parent).catch(() => undefined)
    if (found !== undefined && found.type !== inMemory) {
      const folder = await mkdtemp(join(parent, 'tollgate-bench-'))
      // When root runs this, the server is another user's and has to get in.
      await chmod(folder, 0o755)
      return folder
    }
  }
  throw new Error('No folder on a disk: set TMPDIR to one that is not in memory.')
}

/** Starts the server, which ends with `stop`, also when that comes while it starts. */
export function startServer(stop: AsyncDisposableStack): Promise<Server> {
  const starting = start()
  stop.defer(async () => (await starting).stop())
  return starting
}

/** A gigabyte of log: what a server with these settings writes between two checkpoints. */
const logFiles = 64

/**
 * A server that has run for a while writes its log into files that it has used before. A new one makes each of
 * 16 MB as it goes, and every commit waits 30 to 60 ms for it, which at 5 MB/s is a hundredth of all: it would
 * be the 99th percentile of whatever is measured.
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
