/** One connection: its login by a public key, and its limits. */
import type { Socket } from 'node:net'
import type { ServerContext, ServerLogin } from '@tollgate/plugin-kit'
import ssh2, { type AuthContext, type Connection, type PublicKeyAuthContext } from 'ssh2'
import type { ServerLimits } from './limits.ts'
import { networkOf } from './network.ts'
import { serveFolder } from './session.ts'

let asked = 0

/** What the server keeps about a connection, from its first byte on. */
export class Guest {
  readonly socket: Socket
  readonly address: string
  readonly port: number | undefined
  readonly network: string
  entityId: string | undefined
  merchantId: string | undefined
  /** Grows with each request of any connection: the lowest one has been idle for the longest time. */
  lastAsked = 0
  #timer: NodeJS.Timeout | undefined
  /** Bytes since the connection began, or since its last request. */
  #heard = 0

  constructor(socket: Socket) {
    this.socket = socket
    this.address = socket.remoteAddress ?? ''
    // A socket that has ended does not tell it any more.
    this.port = socket.remotePort
    this.network = networkOf(this.address)
    socket.once('close', () => clearTimeout(this.#timer))
  }

  /** Ends the connection unless this is called again in time. */
  endAfter(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.socket.destroyed) this.#timer = setTimeout(() => this.end(), ms)
  }

  /**
   * Ends the connection when it sends more than a login or a request takes, or does not read: the library answers
   * whatever comes, also before a login, and keeps the answers.
   */
  limitBytes({ loginBytes, quietBytes, unsentBytes, readBytes }: ServerLimits): void {
    const { socket } = this
    const mostUnsent = 2 * (unsentBytes + readBytes)
    // The library listens later, and resumes.
    socket.pause()
    socket.on('data', ({ length }) => {
      this.#heard += length
      const most = this.entityId === undefined ? loginBytes : quietBytes
      if (this.#heard > most || socket.writableLength > mostUnsent) return this.end()
      // One block at a turn: Node would read two MB at once, whose packets stop everybody else for seconds.
      socket.pause()
      setImmediate(() => socket.resume())
    })
  }

  /** The login or a request has come, and the idle time begins. */
  hasAsked(idleMs: number): void {
    this.#heard = 0
    asked += 1
    this.lastAsked = asked
    this.endAfter(idleMs)
  }

  end(): void {
    this.socket.destroy()
  }
}

/** All connections, counted by network, by entity and by merchant. */
export class Connections {
  readonly #limits: ServerLimits
  /** By address and port, the oldest first. */
  readonly #guests = new Map<string, Guest>()

  constructor(limits: ServerLimits) {
    this.#limits = limits
  }

  /**
   * Counts a new connection unless there are too many. A silent one ends after the time for the login, or
   * when its place is needed, and the longest idle one of the merchant with the most when no other place is left.
   */
  admits(socket: Socket): boolean {
    const guest = new Guest(socket)
    const { connections, strangers, strangersPerNetwork } = this.#limits
    const byNetwork = this.#strangers()
    if ((byNetwork.get(guest.network)?.length ?? 0) >= strangersPerNetwork) return false
    const isFull = this.#guests.size >= connections
    if (isFull || [...byNetwork.values()].flat().length >= strangers) {
      // The network with the most of them gives a place up, so that it cannot drive out another one.
      const [most] = [...byNetwork.values()].sort((one, other) => other.length - one.length)
      const leaving = most?.[0] ?? this.#idleOfMost()
      if (leaving === undefined) return false
      this.#forget(leaving)
      leaving.end()
    }
    this.#guests.set(placeOf(guest), guest)
    socket.once('close', () => this.#forget(guest))
    guest.endAfter(this.#limits.loginMs)
    guest.limitBytes(this.#limits)
    return true
  }

  /** Undefined when the connection has ended already. */
  of({ ip, port }: { readonly ip: string; readonly port: number }): Guest | undefined {
    return this.#guests.get(`${ip} ${port}`)
  }

  /** A merchant, with all its channels, has half of the places. */
  hasRoomFor({ entityId, merchantId = entityId }: ServerLogin): boolean {
    const { perEntity, connections } = this.#limits
    return (
      this.#count((guest) => guest.entityId === entityId) < perEntity &&
      this.#count((guest) => guest.merchantId === merchantId) < Math.ceil(connections / 2)
    )
  }

  endAll(): void {
    for (const guest of this.#guests.values()) guest.end()
  }

  #count(fits: (guest: Guest) => boolean): number {
    return [...this.#guests.values()].filter(fits).length
  }

  /** The longest idle connection of the merchant with the most; undefined: nobody has more than one. */
  #idleOfMost(): Guest | undefined {
    const logins = [...this.#guests.values()].filter(({ entityId }) => entityId !== undefined)
    const byMerchant = [...Map.groupBy(logins, ({ merchantId }) => merchantId).values()]
    const [most = []] = byMerchant.sort((one, other) => other.length - one.length)
    if (most.length < 2) return undefined
    return most.reduce((idle, one) => (one.lastAsked < idle.lastAsked ? one : idle))
  }

  /** The connections without a login of each network. */
  #strangers(): Map<string, Guest[]> {
    const found = [...this.#guests.values()].filter(({ entityId }) => entityId === undefined)
    return Map.groupBy(found, ({ network }) => network)
  }

  /** The next connection of a place can come before the end of the last one is heard. */
  #forget(guest: Guest): void {
    const place = placeOf(guest)
    if (this.#guests.get(place) === guest) this.#guests.delete(place)
  }
}

const placeOf = ({ address, port }: Guest): string => `${address} ${port}`

/** Serves a connection to its end. */
export function serveConnection(
  connection: Connection,
  guest: Guest,
  connections: Connections,
  context: ServerContext,
  limits: ServerLimits,
): void {
  const end = () => guest.end()
  const alive = () => guest.hasAsked(limits.idleMs)
  // Also the way of a port scanner: nothing about it belongs into the log.
  connection.on('error', end)
  let tries = 0
  let login: ServerLogin | undefined
  let key: Buffer | undefined

  connection.on('authentication', (asked) => {
    tries += asked.method === 'none' ? 0 : 1
    if (tries > limits.loginTries) return end()
    // At once: while a dialogue waits for its refusal, the library makes room for as many answers as a stranger names.
    if (asked.method !== 'publickey') return asked.reject(['publickey'])
    authenticate(asked, context).then(
      (found) => {
        if (found === 'key-known') return asked.accept()
        if (found === undefined || !connections.hasRoomFor(found)) {
          return asked.reject(['publickey'])
        }
        login = found
        guest.entityId = found.entityId
        guest.merchantId = found.merchantId ?? found.entityId
        key = (asked as PublicKeyAuthContext).key.data
        context.log.info({ entity: found.entityId, address: guest.address }, 'SFTP login')
        asked.accept()
      },
      (error: unknown) => {
        const kind = error instanceof Error ? error.name : 'unknown'
        context.log.warn({ error: kind }, 'an SFTP login could not be checked')
        asked.reject(['publickey'])
      },
    )
  })

  // Without listeners for shell, exec, pty, env, x11, agents and forwarding, all of these are refused.
  connection.on('ready', () => {
    alive()
    let isOpen = false
    connection.on('session', (accept, reject) => {
      if (isOpen || login === undefined) return void reject()
      isOpen = true
      const session = accept()
      session.on('close', () => {
        isOpen = false
      })
      session.on('sftp', (acceptSftp) => {
        const { entityId, folder } = login!
        const isWelcome = () => context.knows(entityId, key!)
        const { socket } = guest
        serveFolder(
          acceptSftp(),
          { folder, isWelcome, alive, end, socket, log: context.log },
          limits,
        )
      })
    })
  })
}

/**
 * @returns the login of a proven key; `key-known` for the question whether a key would do; undefined for
 * everything else.
 */
export async function authenticate(
  asked: AuthContext,
  context: ServerContext,
): Promise<ServerLogin | 'key-known' | undefined> {
  if (asked.method !== 'publickey') return undefined
  const { username, key, signature, blob, hashAlgo } = asked
  // Before the check of a signature, whose time a key of a stranger's own making could stretch.
  if (!(await context.knows(username, key.data))) return undefined
  if (signature === undefined || blob === undefined) return 'key-known'
  const parsed = ssh2.utils.parseKey(key.data)
  if (parsed instanceof Error || parsed.type !== key.algo.replace(/^rsa-sha2-\d+$/, 'ssh-rsa')) {
    return undefined
  }
  if (parsed.verify(blob, signature, hashAlgo) !== true) return undefined
  return context.login(username, key.data)
}
