/**
 * The merchants' servers of the benchmark, in a process of their own: one takes everything at once, one
 * takes requests and never answers. Says for each notification when it first came.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReceiverReady = { readonly port: number }

/** `webhook-id` and milliseconds since 1970. Asking for them empties the list. */
export type Arrivals = readonly (readonly [id: string, atMs: number])[]

/** Endpoints below this path never answer. */
export const hanging = '/hang/'

let arrivals = new Map<string, number>()

function serve(): void {
  const server = createServer((request, response) => {
    const atMs = performance.timeOrigin + performance.now()
    const id = String(request.headers['webhook-id'])
    if (request.url?.startsWith(hanging) === true) return
    if (!arrivals.has(id)) arrivals.set(id, atMs)
    request.resume()
    request.on('end', () => response.writeHead(200).end())
  })
  server.keepAliveTimeout = 120_000
  process.on('message', () => {
    const taken = arrivals
    arrivals = new Map()
    process.send?.([...taken])
  })
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port } satisfies ReceiverReady)
  })
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) serve()
