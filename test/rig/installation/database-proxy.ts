/**
 * A line to Postgres that breaks at the worst moment: the connection is cut after the server
 * committed a statement and before the client learns of it, or before the statement arrives.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export type Cut = {
  /** Part of the statement's text. */
  readonly statement: string
  /** `answer`: executed, and the answer is lost. `request`: never executed. */
  readonly lose: 'answer' | 'request'
  /** Every n-th execution, counted over all connections; all by default. */
  readonly every?: number
  /** The maximum number of cuts; unlimited by default. */
  readonly times?: number
}

export type DatabaseProxy = {
  /** The same database through this line. */
  readonly url: string
  /** The number of cuts, by the lost part. */
  readonly cuts: Readonly<Record<Cut['lose'], number>>
  plan(...cuts: readonly Cut[]): void
  /** Stops all traffic in both directions on every connection for this time. */
  stall(ms: number): Promise<void>
  /** Redirects the line; open connections break. */
  redirect(target: string): void
  close(): Promise<void>
}

const readyForQuery = 'Z'.charCodeAt(0)

export async function openDatabaseProxy(target: string): Promise<DatabaseProxy> {
  let { hostname, port } = new URL(target)
  const cuts = { answer: 0, request: 0 }
  const sockets = new Set<Socket>()
  let stalled = false
  let planned: { readonly cut: Cut; seen: number; left: number }[] = []
  const due = (text: string): Cut | undefined => {
    for (const one of planned) {
      if (!text.includes(one.cut.statement)) continue
      one.seen += 1
      if (one.left === 0 || one.seen % (one.cut.every ?? 1) !== 0) continue
      one.left -= 1
      return one.cut
    }
    return undefined
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    if (stalled) {
      client.pause()
      upstream.pause()
    }
    const statements = new Statements()
    /** The answer under loss: no request follows before it is complete. */
    let losing: Messages | undefined
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (chunk) => {
      const cut = statements.executed(chunk).map(due).find(Boolean)
      if (cut?.lose === 'request') {
        cuts.request += 1
        client.destroy()
        return
      }
      if (cut?.lose === 'answer') losing ??= new Messages(false)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (losing === undefined) client.write(chunk)
      else if (losing.take(chunk).some(({ kind }) => kind === readyForQuery)) {
        cuts.answer += 1
        client.destroy()
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cuts,
    plan(...cuts) {
      planned = cuts.map((cut) => ({ cut, seen: 0, left: cut.times ?? -1 }))
    },
    async stall(ms) {
      stalled = true
      for (const socket of sockets) socket.pause()
      await pause(ms)
      stalled = false
      for (const socket of sockets) socket.resume()
    },
    redirect(next) {
      ;({ hostname, port } = new URL(next))
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => server.close(closed))
    },
  }
}

type Message = { readonly kind: number; readonly body: Buffer }

/** Messages of the Postgres protocol from a stream of bytes. */
class Messages {
  #rest: Buffer = Buffer.alloc(0)
  /** A client's first message has a length and no type. */
  #isFirst: boolean

  constructor(fromClient: boolean) {
    this.#isFirst = fromClient
  }

  take(chunk: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const messages: Message[] = []
    for (;;) {
      const head = this.#isFirst ? 0 : 1
      if (this.#rest.length < head + 4) return messages
      const end = head + this.#rest.readInt32BE(head)
      if (this.#rest.length < end) return messages
      const kind = head === 0 ? 0 : this.#rest[0]!
      messages.push({ kind, body: this.#rest.subarray(head + 4, end) })
      this.#rest = this.#rest.subarray(end)
      this.#isFirst = false
    }
  }
}

const parse = 'P'.charCodeAt(0)
const bind = 'B'.charCodeAt(0)
const query = 'Q'.charCodeAt(0)

/** The statements executed on a connection, by their text. */
class Statements {
  readonly #messages = new Messages(true)
  readonly #texts = new Map<string, string>()

  executed(chunk: Buffer): string[] {
    return this.#messages.take(chunk).flatMap(({ kind, body }) => {
      if (kind !== parse && kind !== query && kind !== bind) return []
      const end = body.indexOf(0)
      const first = body.toString('latin1', 0, end)
      if (kind === query) return [first]
      const second = body.toString('latin1', end + 1, body.indexOf(0, end + 1))
      if (kind === bind) return [this.#texts.get(second) ?? '']
      this.#texts.set(first, second)
      return []
    })
  }
}
