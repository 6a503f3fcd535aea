import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { EmbeddedPostgresError } from './error.ts'
import { isRunning } from './processes.ts'
import { readLine, writeLine } from './small-file.ts'

/**
 * The one host of a server holds this advisory lock. The lock ends with its session, so neither a
 * killed process nor a process number in new hands can keep the next host out.
 */
const hostLock = 20_412

/** The server ends the session of a killed process as soon as it sees the closed socket. */
const killedWithinMs = 5_000
const retryMs = 50

/** Another host holds the lock. */
export class OtherHostError extends EmbeddedPostgresError {}

/** The name of a session in the server's list of sessions: it names the process. */
export const sessionName = () => `tollgate host ${process.pid}`

/** @throws OtherHostError while another process that lives holds the lock. */
export async function takeHostLock(client: pg.Client, directory: string): Promise<void> {
  const since = performance.now()
  for (;;) {
    const { rows } = await client.query(`select pg_try_advisory_lock(${hostLock}) as taken`)
    if (rows[0]?.taken === true) return
    const pid = await holderOf(client)
    const isLate = performance.now() - since > killedWithinMs
    if (isLate || (pid !== null && isRunning(pid))) throw await otherHost(pid, directory)
    await pause(retryMs)
  }
}

/** The process that holds the lock; null when it ended at this moment. */
async function holderOf(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ name: string }>(
    `select application_name as name
    from pg_catalog.pg_locks
    join pg_catalog.pg_stat_activity using (pid)
    where locktype = 'advisory' and objid = ${hostLock} and granted`,
  )
  return Number(/\d+$/.exec(rows[0]?.name ?? '')?.[0] ?? 0) || null
}

async function otherHost(pid: number | null, directory: string): Promise<OtherHostError> {
  const address = await addressOf(pid, directory)
  const running = pid === null ? 'another process' : `process ${pid}`
  return new OtherHostError(
    `Tollgate already runs with the embedded database in ${directory}: ${running}${address === null ? '' : ` at ${address}`}; use that process or stop it first, or set TOLLGATE_DATA_DIR to another folder for a separate installation; several processes of one installation need DATABASE_URL`,
  )
}

const noteOf = (directory: string) => join(directory, 'host')

/** Notes the address of this host for the words of a refusal. The lock decides, never this note. */
export function noteAddress(directory: string, address: string): Promise<void> {
  return writeLine(noteOf(directory), `${process.pid} ${address}`)
}

/** Removes the note of this process; a note of another one stays. */
export async function removeNote(directory: string): Promise<void> {
  if ((await addressOf(process.pid, directory)) === null) return
  await rm(noteOf(directory), { force: true })
}

/** The address of that process; null when it has none yet, or the note is of an earlier process. */
async function addressOf(pid: number | null, directory: string): Promise<string | null> {
  const [noted, address] = ((await readLine(noteOf(directory))) ?? '').split(' ', 2)
  return address !== undefined && Number(noted) === pid ? address : null
}
