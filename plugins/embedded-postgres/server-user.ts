import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { EmbeddedPostgresError } from './error.ts'

/** The system user that runs the server. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
  readonly name: string
}

/**
 * Candidates for the server's user when root starts the gateway, best first. PostgreSQL refuses
 * root.
 */
const preferred = ['tollgate', 'postgres', '_postgres', 'nobody']

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0
}

/** An existing unprivileged user. initdb needs one with a name, so a bare number does not do. */
export function chooseServerUser(): ServerUser {
  const users = readUsers()
  for (const name of preferred) {
    const user = users.find((one) => one.name === name && one.uid !== 0)
    if (user !== undefined) return user
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and this system has none of the users ${preferred.join(', ')}; create one of them, start as an ordinary user, or set DATABASE_URL`,
  )
}

/** The user to whom existing data belongs. */
export function ownerOf(data: string, uid: number): ServerUser {
  const user = readUsers().find((one) => one.uid === uid && uid !== 0)
  if (user !== undefined) return user
  throw new EmbeddedPostgresError(
    `${data} belongs to user number ${uid}, as whom PostgreSQL cannot run; give it to an ordinary user (chown -R postgres ${data})`,
  )
}

/** Whether that user can enter this folder and run these programs. */
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
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => Number.isInteger(uid) && Number.isInteger(gid))
}
