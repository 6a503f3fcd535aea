import { GatewayError } from '@tollgate/core'
import { limits } from '@tollgate/schemas'
import { ClientGoneError } from './body.ts'
import type { Connection, HttpAnswer, HttpRequest } from './exchange.ts'

export type AnswerBudgetOptions = {
  /** Clients without a login have half as much of their own, and an eighth of that per address. */
  readonly bytes?: number
  /** Per token and merchant. */
  readonly clientBytes?: number
  /** A connection whose answer does not move for so long is ended. */
  readonly silenceMs?: number
}

/** A response up to this size is always sent, since a refusal would be as large. */
const smallBytes = 16 * 1024

const full = new GatewayError('800.800.801', {
  status: 503,
  retryAfterSeconds: 1,
  description:
    'payment system is under maintenance: too many answers wait to be read, send the request again later',
})
const yoursFull = new GatewayError('800.120.100', {
  status: 429,
  retryAfterSeconds: 1,
  description:
    'too many requests, try again later: read the answers that are on their way to you first',
})

/** Who reads an answer. */
export type Readers = {
  /** The token and its merchant, the operator and the entity, or the address. */
  readonly names: readonly string[]
  readonly isStranger: boolean
}

/** Memory for the answers of one kind of reader: what strangers leave unread takes nothing from clients. */
class Room {
  held = 0
  readonly #bytes: number
  readonly #clientBytes: number
  readonly #ofClient = new Map<string, number>()

  constructor(bytes: number, clientBytes: number) {
    this.#bytes = bytes
    this.#clientBytes = clientBytes
  }

  /** @throws GatewayError 503 when all leave too much unread, 429 when the client does. */
  refuseBeyond(names: readonly string[], bytes: number): void {
    if (this.held + bytes > this.#bytes) throw full
    const isMore = (name: string) => (this.#ofClient.get(name) ?? 0) + bytes > this.#clientBytes
    if (names.some(isMore)) throw yoursFull
  }

  count(names: readonly string[], bytes: number): void {
    this.held += bytes
    for (const name of names) {
      const left = (this.#ofClient.get(name) ?? 0) + bytes
      if (left > 0) this.#ofClient.set(name, left)
      else this.#ofClient.delete(name)
    }
  }
}

type Waiting = {
  readonly response: HttpAnswer
  readonly socket: Connection
  readonly readers: Readers
  readonly bytes: number
  movedMs: number
}

/**
 * The queue of one connection's reads: responses leave in order, so a page read ahead would only
 * use memory.
 */
type Line = { last: HttpAnswer | undefined; readonly waiting: Set<() => void> }

/** The place of a request on its connection. */
export type Place = {
  readonly socket: Connection
  readonly line: Line
  readonly before: HttpAnswer | undefined
}

/**
 * Memory for unsent responses. A client that requests large pages and reads none of them gets one
 * per connection, few in all, and loses stalled connections. Responses about payments do not count:
 * they are small, and the result of an operation is always sent.
 */
export class AnswerBudget {
  readonly #clients: Room
  readonly #strangers: Room
  readonly #silenceMs: number
  readonly #waiting = new Set<Waiting>()
  readonly #lines = new WeakMap<Connection, Line>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: AnswerBudgetOptions = {}) {
    const { bytes = limits.answersBytes, clientBytes = limits.clientAnswersBytes } = options
    this.#clients = new Room(bytes, clientBytes)
    this.#strangers = new Room(bytes / 2, bytes / 16)
    this.#silenceMs = options.silenceMs ?? limits.unreadAnswerMs
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#clients.held + this.#strangers.held
  }

  /**
   * Reserves the place of a request on its connection. Runs on arrival, before any await: responses
   * leave in the order of arrival, and a wrong order would block the connection.
   */
  enter({ socket }: HttpRequest, response: HttpAnswer): Place {
    const line = this.#line(socket)
    const before = line.last
    line.last = response
    return { socket, line, before }
  }

  /**
   * Before anything is read for an answer: resolves when the answers before it on its connection have gone.
   *
   * @throws GatewayError 429 when the client leaves too much unread, 503 when all do · ClientGoneError
   */
  async admit({ socket, line, before }: Place, readers: Readers): Promise<void> {
    if (before !== undefined && !before.writableFinished) {
      await new Promise<void>((resolve) => {
        line.waiting.add(resolve)
        before.once('finish', () => {
          line.waiting.delete(resolve)
          resolve()
        })
      })
    }
    if (socket.destroyed) throw new ClientGoneError()
    this.#roomOf(readers).refuseBeyond(readers.names, 1)
  }

  /** @throws GatewayError as above, for an answer that has no room any more. */
  fit(readers: Readers, bytes: number): void {
    if (bytes > smallBytes) this.#roomOf(readers).refuseBeyond(readers.names, bytes)
  }

  /**
   * Counts an answer that was handed to its connection, until it has gone.
   *
   * @returns to be called whenever a part of it has gone.
   */
  sending(
    { socket }: HttpRequest,
    response: HttpAnswer,
    readers: Readers,
    bytes: number,
  ): () => void {
    const waiting = { response, socket, readers, bytes, movedMs: performance.now() }
    this.#waiting.add(waiting)
    this.#roomOf(readers).count(readers.names, bytes)
    response.once('close', () => this.#gone(waiting))
    this.#timer ??= setInterval(() => this.#look(), Math.min(1_000, this.#silenceMs / 4)).unref()
    return () => {
      waiting.movedMs = performance.now()
    }
  }

  #roomOf({ isStranger }: Readers): Room {
    return isStranger ? this.#strangers : this.#clients
  }

  #line(socket: Connection): Line {
    const known = this.#lines.get(socket)
    if (known !== undefined) return known
    const made: Line = { last: undefined, waiting: new Set() }
    this.#lines.set(socket, made)
    socket.once('close', () => {
      for (const goOn of made.waiting) goOn()
      made.waiting.clear()
    })
    return made
  }

  #gone(waiting: Waiting): void {
    const { readers, bytes } = waiting
    if (this.#waiting.delete(waiting)) this.#roomOf(readers).count(readers.names, -bytes)
  }

  #look(): void {
    const nowMs = performance.now()
    for (const waiting of this.#waiting) {
      const { response, socket } = waiting
      // Only the first answer of a connection can move: one behind a payment waits for the acquirer.
      if (response.socket === null) waiting.movedMs = nowMs
      else if (nowMs - waiting.movedMs >= this.#silenceMs) socket.destroy()
      // A queued response gets no event about the end of its connection.
      if (socket.destroyed) this.#gone(waiting)
    }
    if (this.#waiting.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
