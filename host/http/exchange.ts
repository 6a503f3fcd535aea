/**
 * What the surface needs of a request and of the way of its answer: a few members of Node's own objects.
 * Node's server hands over its own; a fetch-style program gets the same members from `fetch-exchange.ts`.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

/** A request. Its body is read as a stream. */
export type HttpRequest = Pick<
  Readable,
  'on' | 'off' | 'once' | 'destroy' | 'destroyed' | 'readableEnded' | 'readableDidRead'
> & {
  readonly method: string
  /** Path and query, below the place where the surface is mounted. */
  url: string
  readonly headers: IncomingHttpHeaders
  /** The client's address, as far as trusted proxies tell it. */
  readonly ip?: string | undefined
  readonly socket: Connection
  /** Whether the whole body has arrived. */
  readonly complete: boolean
  /** Whether others read the body, as far as `readableDidRead` cannot tell. */
  readonly bodyUsed?: boolean
}

/** The connection of a request. Its answers leave in the order of its requests. */
export type Connection = {
  /** The address of its other end. */
  readonly remoteAddress?: string | undefined
  readonly destroyed: boolean
  /** Ends it, with an answer that has begun. */
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** The answer to one request. */
export type HttpAnswer = {
  readonly headersSent: boolean
  /** `end` was called. */
  readonly writableEnded: boolean
  /** All of it has gone. */
  readonly writableFinished: boolean
  readonly destroyed: boolean
  readonly statusCode: number
  /** Null while it waits for the answers before it on its connection. */
  readonly socket: Connection | null
  setHeader(name: string, value: string): unknown
  /** @param headers names and values in turn. */
  writeHead(status: number, headers: string[]): unknown
  /** Calls back when the piece has gone. */
  write(piece: Uint8Array, gone: () => void): unknown
  end(last?: string | Uint8Array): unknown
  destroy(): unknown
  /** `finish`: all of it has gone. `close`: the same, or the client has gone. */
  once(event: 'finish' | 'close', listener: () => void): unknown
}

/** The path of a request, without its query. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? url : url.slice(0, mark)
}

/** The query of a request, without the question mark. */
export function queryOf(url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}
