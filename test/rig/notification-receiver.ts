/**
 * A merchant's server for notifications: it records deliveries, checks signatures and decrypts
 * bodies without the engine's code, and misbehaves on request.
 */
import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import { EventEmitter, on, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** The reaction to a request, after reading it. */
export type Mode =
  | 'ok'
  /** 500. */
  | 'fail'
  /** Accepts the request and never answers. */
  | 'hang'
  /** Answers one byte a second, endlessly. */
  | 'drip'
  /** Breaks the connection. */
  | 'reset'
  /** 302 to the address at which clouds serve secrets to machines. */
  | 'redirect'
  /** 410: disables the endpoint. */
  | 'gone'
  /** 503 with Retry-After. */
  | { readonly retryAfterSeconds: number }
  /** 200 after a while. */
  | { readonly slowMs: number }
  /** 200 with that many bytes. */
  | { readonly hugeBytes: number }

/** A reaction written by the test. The request stays open until it answers. */
export type Answer = (received: Received, response: ServerResponse) => void

/** The merchant's secrets for an endpoint. */
export type Trust = {
  /** `whsec_…`; a signature by any of them is valid. */
  readonly secrets: readonly string[]
  /** 64 hex characters; without it bodies are in clear. */
  readonly key?: string | undefined
}

export type Notification = {
  readonly type: string
  readonly action?: string
  readonly payload: Readonly<Record<string, unknown>> & { readonly id: string }
}

export type Received = {
  /** From 0, in order of arrival. */
  readonly no: number
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly path: string
  /** From the question mark on. */
  readonly search: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** As received. */
  readonly body: string
  /** `webhook-id`. */
  readonly id: string
  /** `webhook-sequence`; NaN without one. */
  readonly sequence: number
  /** The verified, decrypted and parsed notification; undefined after any error. */
  readonly notification: Notification | undefined
  /** The reason for a missing notification. */
  readonly problem: string | undefined
  /** Whether the mode answers 2xx. */
  readonly accepted: boolean
}

export type Receiver = {
  readonly url: string
  readonly received: readonly Received[]
  /** Requests held open now. */
  readonly open: number
  /** Sets the secrets for a path, `/` by default. */
  trust(trust: Trust, path?: string): void
  /**
   * Sets the reaction at one path, or at all without one of their own. Requests held there are cut.
   */
  behave(mode: Mode | Answer, path?: string): void
  /** The first matching delivery, past or future. */
  first(fits: (received: Received) => boolean, withinMs?: number): Promise<Received>
  /** All deliveries, once there are that many. */
  atLeast(count: number, withinMs?: number): Promise<readonly Received[]>
  close(): Promise<void>
}

export type ReceiverOptions = {
  readonly port?: number
  /** The initial reaction. Default `ok`. */
  readonly mode?: Mode | Answer
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Takes each delivery in place of the list, for long runs. */
  readonly tell?: (received: Received) => void
  /** The permitted age of a signature in seconds. Default 300. */
  readonly toleranceSeconds?: number
}

const mostBytes = 1 << 20

/** Told of every delivery to any receiver of this process. */
export const onDelivery = new Set<(received: Received) => void>()

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const received: Received[] = []
  const trusts = new Map<string, Trust>()
  const modes = new Map<string, Mode | Answer>()
  const arrivals = new EventEmitter().setMaxListeners(0)
  const open = new Map<ServerResponse, string>()
  let usual = options.mode ?? 'ok'
  let count = 0

  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(request)
    const { pathname: path, search } = new URL(request.url ?? '/', 'http://receiver')
    open.set(response, path)
    response.on('close', () => open.delete(response))
    const mode = modes.get(path) ?? usual
    const headers = textsOf(request.headers)
    const trust = trusts.get(path) ?? trusts.get('/')
    const read =
      trust === undefined
        ? { problem: 'the path has no secrets' }
        : tryTo(() => opened(headers, body, trust, options.toleranceSeconds ?? 300))
    const one: Received = {
      no: count,
      atMs: Date.now(),
      path,
      search,
      method: request.method ?? '',
      headers,
      body: body.toString('utf8'),
      id: headers['webhook-id'] ?? '',
      sequence: Number(headers['webhook-sequence']),
      notification: read.notification,
      problem: read.problem,
      accepted: isAccepting(mode),
    }
    count += 1
    for (const look of onDelivery) look(one)
    if (options.tell === undefined) received.push(one)
    else options.tell(one)
    arrivals.emit('one', one)
    if (typeof mode === 'function') mode(one, response)
    else answer(mode, request, response)
  }

  const handler = (request: IncomingMessage, response: ServerResponse) => {
    take(request, response).catch(() => response.destroy())
  }
  const server =
    options.tls === undefined ? createServer(handler) : createTlsServer(options.tls, handler)
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const first: Receiver['first'] = async (fits, withinMs = 60_000) => {
    const seen = received.find(fits)
    if (seen !== undefined) return seen
    try {
      for await (const [one] of on(arrivals, 'one', { signal: AbortSignal.timeout(withinMs) })) {
        if (fits(one as Received)) return one as Received
      }
    } catch {
      // The error below reports the end of the time.
    }
    const came = received.map(({ path, id, sequence, problem }) =>
      [path, id, sequence, problem ?? ''].join(' ').trim(),
    )
    throw new Error(`the expected delivery did not arrive; received: ${came.join('; ')}`)
  }
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/`,
    received,
    get open() {
      return open.size
    },
    trust: (trust, path = '/') => void trusts.set(path, trust),
    behave(mode, path) {
      if (path === undefined) usual = mode
      else modes.set(path, mode)
      for (const [response, at] of open) {
        // An answered request is merely not gone yet.
        if (path !== undefined && at !== path) continue
        if (!response.writableEnded) response.destroy()
      }
    },
    first,
    async atLeast(wanted, withinMs) {
      await first(({ no }) => no >= wanted - 1, withinMs)
      return received
    },
    async close() {
      server.close()
      server.closeAllConnections()
      if (server.listening) await once(server, 'close')
    },
  }
}

function isAccepting(mode: Mode | Answer): boolean {
  return mode === 'ok' || (typeof mode === 'object' && !('retryAfterSeconds' in mode))
}

function answer(mode: Mode, request: IncomingMessage, response: ServerResponse): void {
  if (typeof mode === 'object') {
    if ('retryAfterSeconds' in mode) {
      response.writeHead(503, { 'retry-after': String(mode.retryAfterSeconds) }).end('later')
    } else if ('hugeBytes' in mode) {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(mode.hugeBytes))
    } else {
      const timer = setTimeout(() => response.writeHead(200).end('ok'), mode.slowMs)
      response.on('close', () => clearTimeout(timer))
    }
    return
  }
  switch (mode) {
    case 'ok':
      response.writeHead(200).end('ok')
      return
    case 'fail':
      response.writeHead(500).end('broken')
      return
    case 'hang':
      return
    case 'drip': {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('.')
      const timer = setInterval(() => response.write('.'), 1_000)
      response.on('close', () => clearInterval(timer))
      return
    }
    case 'reset':
      request.socket.resetAndDestroy()
      return
    case 'redirect':
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
      return
    case 'gone':
      response.writeHead(410).end('gone')
  }
}

type Read = { notification?: Notification; problem?: string }

function tryTo(read: () => Notification): Read {
  try {
    return { notification: read() }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/** Signature first, over the received bytes; then the body. @throws Error with the reason. */
function opened(
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  trust: Trust,
  toleranceSeconds: number,
): Notification {
  checkSignature(headers, body, trust.secrets, toleranceSeconds)
  const clear = trust.key === undefined ? body : decrypt(headers, body, trust.key)
  return JSON.parse(clear.toString('utf8')) as Notification
}

/** Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, by any of the secrets. */
export function checkSignature(
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  secrets: readonly string[],
  toleranceSeconds = 300,
): void {
  const id = headers['webhook-id'] ?? ''
  const timestamp = headers['webhook-timestamp'] ?? ''
  if (id === '') throw new Error('webhook-id is missing')
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new Error('webhook-timestamp is not a number')
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new Error('webhook-timestamp is too far away')
  }
  const given = (headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice(3), 'base64'))
  const isSigned = secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const own = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
    return given.some((one) => one.length === own.length && timingSafeEqual(one, own))
  })
  if (!isSigned) throw new Error('webhook-signature is by an unknown secret')
}

/** AES-256-GCM; the body is bare hex, or hex in `{"encryptedBody": …}` with a JSON content type. */
export function decrypt(
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  key: string,
): Buffer {
  const isJson = (headers['content-type'] ?? '').startsWith('application/json')
  const text = body.toString('latin1')
  const hex = isJson ? (JSON.parse(text) as { encryptedBody: string }).encryptedBody : text
  if (!/^([0-9A-F]{2})+$/i.test(hex)) throw new Error('the body is not hexadecimal')
  const iv = Buffer.from(headers['x-initialization-vector'] ?? '', 'hex')
  const tag = Buffer.from(headers['x-authentication-tag'] ?? '', 'hex')
  if (iv.length !== 12) throw new Error('X-Initialization-Vector is not of 12 bytes')
  if (tag.length !== 16) throw new Error('X-Authentication-Tag is not of 16 bytes')
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'hex'), iv)
  decipher.setAuthTag(tag)
  return Buffer.concat([decipher.update(hex, 'hex'), decipher.final()])
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += (chunk as Buffer).length
    if (length > mostBytes) throw new Error('too much')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

function textsOf(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]),
  )
}
