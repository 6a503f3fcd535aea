/**
 * The merchants' servers of the benchmark in a separate process: one accepts at once, one never
 * answers. Each notification's first arrival is reported. HTTP is read by hand, because the process
 * shares two cores with the measured host.
 */

import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

export type ReceiverReady = { readonly port: number }

/** `webhook-id` and milliseconds since 1970. Reading the list empties it. */
export type Arrivals = readonly (readonly [id: string, atMs: number])[]

/** Endpoints below this path never answer. */
export const hanging = '/hang/'

let arrivals = new Map<string, number>()

const taken = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')

/** Reads complete requests one after the other, by the length in their header. */
function take(socket: Socket): void {
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk
    for (;;) {
      const end = text.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = text.slice(0, end)
      const length = Number(/\r\ncontent-length: *([0-9]+)/i.exec(head)?.[1] ?? 0)
      if (text.length < end + 4 + length) return
      text = text.slice(end + 4 + length)
      if (head.startsWith(`POST ${hanging}`)) continue
      const id = /\r\nwebhook-id: *([^\r]+)/i.exec(head)?.[1] ?? ''
      if (!arrivals.has(id)) arrivals.set(id, performance.timeOrigin + performance.now())
      socket.write(taken)
    }
  })
  socket.on('error', () => {})
}

function serve(): void {
  const server = createServer({ noDelay: true }, take)
  process.on('message', () => {
    const told = arrivals
    arrivals = new Map()
    process.send?.([...told])
  })
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port } satisfies ReceiverReady)
  })
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) serve()
