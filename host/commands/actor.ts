import { hostname, userInfo } from 'node:os'
import type { Actor } from '@tollgate/core'

/**
 * The actor of a command line, for the audit trail: the operating system's user, regardless of
 * options and environment.
 */
export function commandLineActor(): Actor {
  const host = hostname()
  try {
    const { uid, username } = userInfo()
    return { kind: 'system-user', id: String(uid), name: username, host }
  } catch {
    // A user id without an entry has no name.
    const id = String(process.getuid?.() ?? 'unknown')
    return { kind: 'system-user', id, name: `user ${id}`, host }
  }
}
