import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientOf } from './client.ts'

/**
 * Requests of one connection that wait for their answers: one packet can hold more than a thousand. A client that sends
 * without reading would otherwise use memory without limit; its earlier requests are carried out.
 */
const mostUnderWay = 32

/** The connections of one address; `idle`: those without a request, the one that waits longest first. */
type Guests = { readonly client: string; readonly all: Set<Guest>; readonly idle: Set<Guest> }

type Guest = { readonly socket: Socket; readonly among: Guests; underWay: number }

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
 * up one on which nothing is under way, so that nobody can hold all of them.
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
  begin(socket: Socket): boolean {
    const guest = this.#guestOf(socket)
    if (guest === undefined || socket.destroyed) return false
    if (guest.underWay >= mostUnderWay) {
      socket.destroy()
      return false
    }
    guest.underWay += 1
    guest.among.idle.delete(guest)
    return true
  }

  end(socket: Socket): void {
    const guest = this.#guestOf(socket)
    if (guest === undefined) return
    guest.underWay -= 1
    if (guest.underWay === 0 && !socket.destroyed) guest.among.idle.add(guest)
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
    if ((isMany && !this.#giveUp(own)) || (isFull && !this.#giveUp(this.#largest()))) {
      socket.destroy()
      this.#refused(client, isMany ? 'connectionsPerAddress' : 'connections')
      return
    }
    const guest: Guest = { socket, among: own, underWay: 0 }
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

  /** Of the addresses with a connection that can be given up, the one with the most. */
  #largest(): Guests | undefined {
    let most: Guests | undefined
    for (const guests of this.#byClient.values()) {
      if (guests.idle.size > 0 && guests.all.size > (most?.all.size ?? 0)) most = guests
    }
    return most
  }

  /** Ends the connection that waits longest for a request. @returns false where none does. */
  #giveUp(guests: Guests | undefined): boolean {
    const [oldest] = guests?.idle ?? []
    if (oldest === undefined) return false
    this.#forget(oldest)
    this.#byPlace.delete(placeOf(oldest.socket))
    oldest.socket.destroy()
    return true
  }

  #forget(guest: Guest): void {
    const { client, all, idle } = guest.among
    idle.delete(guest)
    all.delete(guest)
    if (all.size === 0 && this.#byClient.get(client) === guest.among) this.#byClient.delete(client)
  }
}

const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
