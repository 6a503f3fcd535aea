/** A merchant's server that gets webhooks: real HTTP, on this machine. */
import assert from 'node:assert/strict'
import { createDecipheriv } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from './gateway.ts'

export type Got = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Monotonic. */
  readonly atMs: number
}

/** Answers a request, or leaves it unanswered. */
export type Behaviour = (got: Got, response: ServerResponse, count: number) => void

export type Receiver = {
  readonly url: string
  readonly got: readonly Got[]
  behave(behaviour: Behaviour): void
  /** Waits until so many requests came. */
  atLeast(count: number, withinMs?: number): Promise<readonly Got[]>
  close(): Promise<void>
}

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (_, response) =>
    response.writeHead(code, headers).end()

export async function startReceiver(behaviour: Behaviour = status(200)): Promise<Receiver> {
  let behave = behaviour
  const got: Got[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one: Got = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString(),
        atMs: performance.now(),
      }
      got.push(one)
      behave(one, response, got.length)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    got,
    behave: (next) => {
      behave = next
    },
    atLeast: (count, withinMs) =>
      until(async () => (got.length >= count ? got : undefined), withinMs).catch(() =>
        assert.fail(`only ${got.length} of ${count} requests came`),
      ),
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** The notification in an encrypted body, as a merchant reads it. */
export function opened(key: string, { headers, body }: Pick<Got, 'headers' | 'body'>) {
  const hex = body.startsWith('{') ? JSON.parse(body).encryptedBody : body
  const iv = Buffer.from(headers['x-initialization-vector'] ?? '', 'hex')
  const cipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'hex'), iv)
  cipher.setAuthTag(Buffer.from(headers['x-authentication-tag'] ?? '', 'hex'))
  const text = cipher.update(hex, 'hex', 'utf8') + cipher.final('utf8')
  return JSON.parse(text) as {
    type: string
    action?: string
    payload: { id: string; result: { code: string } } & Record<string, unknown>
  }
}
