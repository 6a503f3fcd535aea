/** The REST surface for programs that take a Request and return a Response. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Gateway } from '@tollgate/core'
import proxyAddress, { compile } from 'proxy-addr'
import { checkHostOptions } from './check-options.ts'
import { FetchAnswer, FetchConnection, FetchRequest } from './fetch-exchange.ts'
import { routerParts, type SurfaceOptions } from './parts.ts'
import { createRouter } from './router.ts'

export type { SurfaceOptions } from './parts.ts'
export type { HostLog } from './request-log.ts'

export type FetchOptions = SurfaceOptions & {
  /** The path below which the surface stands, such as `/pay`. Default: none. */
  readonly basePath?: string
}

/** Who sends a request. */
export type FetchClient = {
  /**
   * The address of the other end of the connection. Tokens with networks, the limits on clients without a
   * token, and the audit trail need it.
   */
  readonly address?: string | undefined
}

export type FetchHandler = {
  /** @returns the answer to every request below the base path; it never rejects. */
  (request: Request, client?: FetchClient): Promise<Response>
  /** Long reads end early from now on. Resolves when every running request was answered. */
  close(): Promise<void>
}

/**
 * The surface as a function of a request. The program around it owns the server: its connections, their
 * number and their timeouts.
 *
 * @throws OptionsError naming every option that is unknown or wrong · Error when an origin does not fit.
 */
export function createFetchHandler(gateway: Gateway, options: FetchOptions = {}): FetchHandler {
  checkHostOptions('createFetchHandler', gateway, options)
  const { basePath = '' } = options
  const parts = routerParts(gateway, options)
  const route = createRouter(parts)
  const isTrusted = compile([...parts.trustedProxy])
  const handle = (request: Request, client?: FetchClient): Promise<Response> => {
    const headers = headersOf(request)
    const connection = new FetchConnection(request.signal, addressIn(client))
    const address = addressBehind(connection, headers, isTrusted)
    const url = below(basePath, request.url)
    const asked = new FetchRequest(request, url, headers, connection, address)
    const answer = new FetchAnswer(request.method, connection)
    route(asked, answer)
    return answer.response
  }
  return Object.assign(handle, {
    close() {
      parts.state.closing = true
      return parts.underWay.quiet()
    },
  })
}

/** Frameworks that mount a handler add arguments of their own. */
function addressIn(client: FetchClient | undefined): string | undefined {
  const address: unknown = client?.address
  return typeof address === 'string' ? address : undefined
}

/** The client's own address, as far as the declared proxies tell it. */
function addressBehind(
  socket: FetchConnection,
  headers: IncomingHttpHeaders,
  isTrusted: (address: string, hop: number) => boolean,
): string | undefined {
  if (socket.remoteAddress === undefined) return undefined
  // It reads these two members alone.
  return proxyAddress({ headers, socket } as unknown as IncomingMessage, isTrusted)
}

/** Path and query below the base path; a path beside it leads nowhere. */
function below(basePath: string, address: string): string {
  const { pathname, search } = new URL(address)
  if (basePath === '') return pathname + search
  if (pathname === basePath) return `/${search}`
  return pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) + search : ''
}

/** A Request without a Host header has its host in its URL. */
function headersOf({ headers, url }: Request): IncomingHttpHeaders {
  const all: Record<string, string> = Object.create(null)
  headers.forEach((value, name) => {
    all[name] = value
  })
  all.host ??= new URL(url).host
  return all
}
