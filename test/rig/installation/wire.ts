/**
 * The line between the hosts and their acquirer: an HTTP server that forwards and records requests,
 * and holds some of them, before the acquirer sees them or before its answer passes. The requests
 * of a killed host stay on the line, as on a real one.
 */
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Passing = {
  /** `POST /operations`, `GET /operations`, `POST /reversals`. */
  readonly route: string
  /** The acquirer's idempotency key. */
  readonly key: string
  /** For an operation: its kind, and its amount in minor units. */
  readonly kind: string
  readonly minor: string
  /** Resolves when the acquirer answered it or cannot any more. */
  readonly answered: Promise<void>
}

export type Hold = {
  readonly where: 'request' | 'answer'
  readonly fits: (passing: Passing) => boolean
}

export type Wire = {
  readonly url: string
  readonly passed: readonly Passing[]
  /** Holds matching requests from now on. Releases nothing. */
  hold(hold: Hold | undefined): void
  /** Resolves with this many held requests. */
  held(count: number): Promise<readonly Passing[]>
  /** Releases all held requests, and resolves when the acquirer has answered them. */
  release(): Promise<void>
  close(): Promise<void>
}

const withinMs = 60_000

export async function openWire(target: string): Promise<Wire> {
  const passed: Passing[] = []
  const waiting = new Map<Passing, () => void>()
  const changed = new EventEmitter().setMaxListeners(0)
  let holding: Hold | undefined
  const maybeHeld = async (where: Hold['where'], passing: Passing) => {
    if (holding?.where !== where || !holding.fits(passing)) return
    const released = new Promise<void>((resume) => void waiting.set(passing, resume))
    changed.emit('held')
    await released
  }
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(incoming)
    const { pathname, searchParams } = new URL(incoming.url ?? '/', target)
    const answered = Promise.withResolvers<void>()
    const passing: Passing = {
      route: `${incoming.method} ${pathname}`,
      key: String(incoming.headers['idempotency-key'] ?? searchParams.get('key')),
      ...operationOf(body),
      answered: answered.promise,
    }
    passed.push(passing)
    await maybeHeld('request', passing)
    const { connection: _, host: _host, 'content-length': _length, ...headers } = incoming.headers
    const answer = await fetch(new URL(incoming.url ?? '/', target), {
      method: incoming.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body === undefined ? {} : { body }),
    })
      .then(async (whole) => ({ status: whole.status, text: await whole.text() }))
      .finally(answered.resolve)
    await maybeHeld('answer', passing)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text)
  }
  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    hold(hold) {
      holding = hold
    },
    async held(count) {
      const signal = AbortSignal.timeout(withinMs)
      while (waiting.size < count) {
        await once(changed, 'held', { signal }).catch(() => {
          throw new Error(`only ${waiting.size} of ${count} requests were held in time`)
        })
      }
      return [...waiting.keys()]
    },
    async release() {
      holding = undefined
      const all = [...waiting]
      waiting.clear()
      for (const [, resume] of all) resume()
      await Promise.all(all.map(([passing]) => passing.answered))
    },
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function operationOf(body: string | undefined): { kind: string; minor: string } {
  const { kind, amount }: { kind?: string; amount?: { minor: string } } = JSON.parse(body ?? '{}')
  return { kind: kind ?? '', minor: amount?.minor ?? '' }
}

async function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  return chunks.length === 0 ? undefined : Buffer.concat(chunks).toString()
}
