/** The address of the metrics. It is none of the surfaces: nothing but metrics is there. */
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { Connections } from './connections.ts'
import { MetricsOptionsError, type Options } from './options.ts'

export type Page = { readonly type: string; readonly text: string }

/** The pages of a server, by path. The first of them is also at `/metrics`. */
export type Pages = Map<string, () => Promise<Page>>

export const path = '/metrics'
const mostConnections = 64
const slowestMs = 5_000
const unreadMs = 20_000

/** @throws MetricsOptionsError when the address cannot be listened on. */
export async function serveMetrics(
  { host, port }: Pick<Options, 'host' | 'port'>,
  pages: Pages,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  let isLoopback = false
  const connections = new Connections(mostConnections)
  const server = createServer(
    { headersTimeout: slowestMs, requestTimeout: slowestMs, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      connections.serve(request.socket, response)
      if (isLoopback && !isOwnName(request.headers.host))
        return answer(response, 421, plain('Use the address of this machine as a host name.\n'))
      const asked = request.url?.split('?', 1)[0] ?? ''
      const [first] = pages.values()
      const page = asked === path ? first : pages.get(asked)
      if (page === undefined) return answer(response, 404, plain(`See ${path}.\n`))
      if (request.method !== 'GET') return answer(response, 405, plain('Use GET.\n'))
      page().then(
        (found) => answer(response, 200, found),
        () => answer(response, 500, plain('The metrics could not be collected.\n')),
      )
    },
  )
  // Also ends a connection whose client does not read its response.
  server.timeout = unreadMs
  server.on('connection', (socket) => connections.add(socket))
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new MetricsOptionsError(
          `metrics: port ${port} on ${host} cannot be used (${error.code ?? error.name}): set host and port to an address of this machine with a free port`,
        ),
      ),
    )
    server.listen({ host, port }, resolve)
  })
  const { address, port: own } = server.address() as AddressInfo
  isLoopback = address === '::1' || address.startsWith('127.')
  const name = address.includes(':') ? `[${address}]` : address
  return {
    url: `http://${name}:${own}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * Whether a request on the loopback address names this machine. A page in a browser here reaches the address under
 * a name of its own, whose entry in the DNS changed after the page was loaded.
 */
function isOwnName(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:[0-9]{1,5}$/, '').toLowerCase()
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}

const plain = (text: string): Page => ({ type: 'text/plain; charset=utf-8', text })

function answer(response: ServerResponse, status: number, { type, text }: Page): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    // The next scrape comes in seconds, and a kept connection is a place taken from others.
    Connection: 'close',
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(text)
}
