import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { PageReply } from '@tollgate/plugin-kit'
import type { Fault } from './faults.ts'

/** Sends a complete JSON answer. */
export function sendJson(response: ServerResponse, status: number, json: unknown): void {
  send(response, status, 'application/json', JSON.stringify(json))
}

export function sendHtml(response: ServerResponse, status: number, html: string): void {
  send(response, status, 'text/html; charset=utf-8', html)
}

/** Sends a page, with the headers that a host of pages adds. */
export function sendPage(response: ServerResponse, reply: PageReply): void {
  const { status, html = '', location, contentSecurityPolicy = "default-src 'none'" } = reply
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(html),
    'content-security-policy': `${contentSecurityPolicy}; frame-ancestors http: https:`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    // Shops that isolate themselves frame only pages that allow it.
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'cross-origin',
    ...(location === undefined ? {} : { location }),
  })
  response.end(html)
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** Sends an answer with the damage of a fault. `signal` ends a drip when the server closes. */
export async function sendDamaged(
  response: ServerResponse,
  json: unknown,
  fault: Fault | undefined,
  signal: AbortSignal,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(json))
  const { socket } = response
  switch (fault?.do) {
    case 'drop':
      socket?.destroy()
      return
    case 'reset':
      socket?.resetAndDestroy()
      return
    case '500':
      return sendJson(response, 500, { error: 'internal error' })
    case 'html':
      return sendHtml(response, 502, '<html><body><h1>Bad gateway</h1></body></html>')
    case 'truncate':
      head(response, body.length)
      response.write(body.subarray(0, body.length >> 1), () => socket?.destroy())
      return
    case 'drip':
      head(response, body.length)
      for (const byte of body) {
        if (response.destroyed || signal.aborted) return
        response.write(Buffer.of(byte))
        await wait(fault.ms ?? 10, undefined, { signal }).catch(() => undefined)
      }
      response.end()
      return
    case 'twice': {
      const lines = [
        'HTTP/1.1 200 OK',
        'content-type: application/json',
        `content-length: ${body.length}`,
      ]
      // After the first answer, on a connection that looks free to the client.
      response.once('finish', () => socket?.write(`${lines.join('\r\n')}\r\n\r\n${body}`))
      return sendJson(response, 200, json)
    }
    default:
      sendJson(response, 200, json)
  }
}

function head(response: ServerResponse, length: number): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
}
