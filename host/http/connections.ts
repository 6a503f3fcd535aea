import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientOf } from './client.ts'

/**
 * Requests of one connection that wait for their answers: one packet can hold more than a thousand. A client that sends
 * without reading would otherwise use memory without limit; its earlier requests are carried out.
 */
const mostUnderWay = 32

/** Time in which a client takes no further piece of its answer before another client gets the place. */
const unreadMs = 1_000

/** The connections of one address; `idle`: those without a request, the one that waits longest first. */
type Guests = { readonly client: string; readonly all: Set<Guest>; readonly idle: Set<Guest> }

type Guest = {
  readonly socket: Socket
  readonly among: Guests
  readonly underWay: Set<IncomingMessage>
  /** What had gone to the client when somebody last needed a place, and since when no more has. */
  unread?: { readonly gone: number; readonly sinceMs: number }
}

export type ConnectionLimits = {
  /** Connections at once. */
  readonly connections: number
  /** Of these, connections of one address (IPv6: of one network) that is no declared proxy. */
  readonly connectionsPerAddress: number
}

/** Hears of each connection that was refused: whose, and which limit. */
export type Refused = (client: string, limit: keyof ConnectionLimits) => void

/**
 * All connections of a server, counted by address. Where a place is needed, the address with the most connections gives
 * up one on which nothing is under way, or else one whose request is not complete, or else one whose client does not read
 * its answers, so that nobody can hold all of them.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #refused: Refused
  readonly #isProxy: (address: string) => boolean
  readonly #byClient = new Map<string, Guests>()
  /** By address and port: under TLS, the socket of a request is another one than that of its connection. */
  readonly #byPlace = new Map<string, Guest>()
  readonly #bySocket = new WeakMap<Socket, Guest>()

  constructor(
    limits: ConnectionLimits,
    isProxy: (address: string) => boolean,
    refused: Refused = () => {},
  ) {
    this.#limits = limits
    this.#isProxy = isProxy
    this.#refused = refused
  }

  /** Counts the connections of a server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#admit(socket))
  }

  /** @returns false where the connection has too many requests under way, or is no more: it is ended. */
  begin(request: IncomingMessage): boolean {
    const { socket } = request
    const guest = this.#guestOf(socket)
    if (guest === undefined || socket.destroyed) return false
    if (guest.underWay.size >= mostUnderWay) {
      socket.destroy()
      return false
    }
    guest.underWay.add(request)
    guest.among.idle.delete(guest)
    return true
  }

  end(request: IncomingMessage): void {
    const { socket } = request
    const guest = this.#guestOf(socket)
    if (guest === undefined) return
    guest.underWay.delete(request)
    if (guest.underWay.size === 0 && !socket.destroyed) guest.among.idle.add(guest)
  }

  #guestOf(socket: Socket): Guest | undefined {
    const known = this.#bySocket.get(socket)
    if (known !== undefined) return known
    const guest = this.#byPlace.get(placeOf(socket))
    if (guest !== undefined) this.#bySocket.set(socket, guest)
    return guest
  }

  #admit(socket: Socket): void {
    const { connections, connectionsPerAddress } = this.#limits
    const client = clientOf(socket.remoteAddress)
    const own: Guests = this.#byClient.get(client) ?? { client, all: new Set(), idle: new Set() }
    const isMany =
      own.all.size >= connectionsPerAddress && !this.#isProxy(socket.remoteAddress ?? '')
    const isFull = this.#byPlace.size >= connections
    const isRefused =
      (isMany && !this.#giveUp(oldest(own))) || (isFull && !this.#giveUp(this.#spared()))
    if (isRefused) {
      socket.destroy()
      this.#refused(client, isMany ? 'connectionsPerAddress' : 'connections')
      return
    }
    const guest: Guest = { socket, among: own, underWay: new Set() }
    const place = placeOf(socket)
    this.#byClient.set(client, own)
    own.all.add(guest)
    own.idle.add(guest)
    this.#byPlace.set(place, guest)
    socket.once('close', () => {
      this.#forget(guest)
      // The next connection of a place can come before the end of the last one is heard.
      if (this.#byPlace.get(place) === guest) this.#byPlace.delete(place)
    })
  }

  /** A connection of the address with the most, among those that have one to spare. */
  #spared(): Guest | undefined {
    for (const find of [oldest, firstIncomplete, firstUnread]) {
      let spared: Guest | undefined
      for (const guests of this.#byClient.values()) {
        if (guests.all.size > (spared?.among.all.size ?? 0)) spared = find(guests) ?? spared
      }
      if (spared !== undefined) return spared
    }
    return undefined
  }

  /** @returns false without a connection to end. */
  #giveUp(guest: Guest | undefined): boolean {
    if (guest === undefined) return false
    this.#forget(guest)
    this.#byPlace.delete(placeOf(guest.socket))
    guest.socket.destroy()
    return true
  }

  #forget(guest: Guest): void {
    const { client, all, idle } = guest.among
    idle.delete(guest)
    all.delete(guest)
    if (all.size === 0 && this.#byClient.get(client) === guest.among) this.#byClient.delete(client)
  }
}

/** The connection that waits longest for a request. */
const oldest = ({ idle: [first] }: Guests): Guest | undefined => first

/** A connection whose requests have not come whole, so that nothing of them was carried out. */
function firstIncomplete({ all }: Guests): Guest | undefined {
  for (const guest of all) {
    if ([...guest.underWay].every(({ complete }) => !complete)) return guest
  }
  return undefined
}

/** A connection whose client takes nothing of an answer that was written: it waits in this process. */
function firstUnread({ all }: Guests): Guest | undefined {
  const nowMs = performance.now()
  for (const guest of all) {
    const [request] = guest.underWay
    const waiting = request?.socket.writableLength ?? 0
    if (request === undefined || waiting === 0) {
      delete guest.unread
      continue
    }
    const gone = request.socket.bytesWritten - waiting
    if (guest.unread?.gone !== gone) guest.unread = { gone, sinceMs: nowMs }
    else if (nowMs - guest.unread.sinceMs >= unreadMs) return guest
  }
  return undefined
}

const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
