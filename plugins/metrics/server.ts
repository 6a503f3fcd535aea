/** The address of the metrics. It is none of the surfaces: nothing but metrics is there. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MetricsOptionsError, type Options } from './options.ts'

export type Page = { readonly type: string; readonly text: string }

/** The pages of a server, by path. The first of them is also at `/metrics`. */
export type Pages = Map<string, () => Promise<Page>>

export const path = '/metrics'

/** @throws MetricsOptionsError when the address cannot be listened on. */
export async function serveMetrics(
  { host, port }: Pick<Options, 'host' | 'port'>,
  pages: Pages,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(
    { headersTimeout: 5_000, requestTimeout: 5_000 },
    (request, response) => {
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
  server.maxConnections = 64
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

const plain = (text: string): Page => ({ type: 'text/plain; charset=utf-8', text })

function answer(response: ServerResponse, status: number, { type, text }: Page): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(text)
}
