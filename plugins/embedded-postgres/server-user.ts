import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { EmbeddedPostgresError } from './error.ts'

/** The system user that runs the server. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
  readonly name: string
}

/** Who runs the server when root starts the gateway, best first. PostgreSQL refuses root. */
const preferred = ['tollgate', 'postgres', '_postgres', 'nobody']

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0
}

/** An existing unprivileged user. initdb needs one with a name, so a bare number does not do. */
export function chooseServerUser(): ServerUser {
  const users = readUsers()
  for (const name of preferred) {
    const user = users.find((one) => one.name === name)
    if (user !== undefined && user.uid !== 0) return user
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and this system has none of the users ${preferred.join(', ')}; create one of them, start as an ordinary user, or set DATABASE_URL`,
  )
}

/** The user with this number, as whom the data was made. */
export function serverUserOf(uid: number, path: string): ServerUser {
  const user = readUsers().find((one) => one.uid === uid)
  if (user === undefined || uid === 0) {
    throw new EmbeddedPostgresError(
      `${path} belongs to ${uid === 0 ? 'root, as whom PostgreSQL does not run' : `user number ${uid}, whom this system does not know`}; give it to an ordinary user (chown -R postgres ${path})`,
    )
  }
  return user
}

/** Whether that user can enter every one of these folders and files' folders. */
export function canUse(
  user: ServerUser,
  folder: string,
  programs: readonly string[] = [],
): boolean {
  // Asked of the system itself, because modes alone do not tell about access lists and mounts.
  const tests = ['cd -- "$1"', ...programs.map((_, index) => `test -x "$${index + 2}"`)]
  const asked = spawnSync('/bin/sh', ['-c', tests.join(' && '), 'sh', folder, ...programs], {
    ...identity(user),
    cwd: '/',
    stdio: 'ignore',
  })
  return asked.status === 0
}

/** The part of spawn's options that makes a process run as this user; null is ourselves. */
export function identity(user: ServerUser | null): { uid?: number; gid?: number } {
  return user === null ? {} : { uid: user.uid, gid: user.gid }
}

function readUsers(): ServerUser[] {
  const users: ServerUser[] = []
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) continue
    users.push({ name, uid: Number(uid), gid: Number(gid) })
  }
  return users
}
