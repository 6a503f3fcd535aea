/** Limits of the server. */
import { inspect } from 'node:util'

export type ServerLimits = {
  /** Connections at once: all, and of these the ones that have not logged in, also of one network. */
  readonly connections: number
  readonly strangers: number
  readonly strangersPerNetwork: number
  /** Connections of one entity. */
  readonly perEntity: number
  /** A login must be complete in this time, with this many tries. */
  readonly loginMs: number
  readonly loginTries: number
  /** Bytes that a client may send before its login. */
  readonly loginBytes: number
  /** A connection without a request, or with answers that it does not read, ends after this time. */
  readonly idleMs: number
  /** Bytes that a client may send without a request of SFTP. One request has 256 KiB at most. */
  readonly quietBytes: number
  /** Open files and lists of one connection. */
  readonly handles: number
  /** Requests of one connection that wait for their turn. Some clients ask for a whole file at once: 64 MiB in reads of 32 KiB. */
  readonly waiting: number
  /** Bytes of one path. A longer one ends the connection. */
  readonly pathBytes: number
  /** Bytes of the paths of all requests that wait. */
  readonly waitingBytes: number
  /** Largest answer to a read. */
  readonly readBytes: number
  /** Unsent bytes of one connection above which its reads wait. Twice as many, and two answers, end it. */
  readonly unsentBytes: number
  /** Files in one answer of a list. */
  readonly listed: number
}

export const defaultLimits: ServerLimits = {
  connections: 100,
  strangers: 50,
  strangersPerNetwork: 10,
  perEntity: 10,
  loginMs: 20_000,
  loginTries: 6,
  loginBytes: 65_536,
  idleMs: 5 * 60_000,
  quietBytes: 524_288,
  handles: 16,
  waiting: 2_048,
  pathBytes: 4_096,
  waitingBytes: 1_048_576,
  readBytes: 262_144,
  unsentBytes: 1_048_576,
  listed: 100,
}

/** Node ends a longer pause at once. */
const longestMs = 2_147_483_647

/**
 * The defaults, with some limits of the caller's own: a value that is no number would be no limit.
 *
 * @throws TypeError
 */
export function limitsWith(own: Partial<ServerLimits>): ServerLimits {
  const limits: Record<string, number> = { ...defaultLimits }
  for (const [name, value] of Object.entries(own)) {
    if (!Object.hasOwn(defaultLimits, name))
      throw new TypeError(`sftpServer has no limit "${name}"`)
    if (value === undefined) continue
    const most = name.endsWith('Ms') ? longestMs : Number.MAX_SAFE_INTEGER
    if (!Number.isInteger(value) || value < 1 || value > most) {
      const given = inspect(value, { depth: 0, maxStringLength: 40 })
      throw new TypeError(
        `sftpServer: ${name} must be a whole number from 1 to ${most}, not ${given}`,
      )
    }
    limits[name] = value
  }
  return limits as ServerLimits
}
