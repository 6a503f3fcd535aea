/** A line to Postgres that a test can cut. */
import { createServer, connect as open, type Socket } from 'node:net'

export type Line = {
  /** The database's address through this line. */
  readonly url: string
  /**
   * Cuts the connection on which the next statement of this name runs: `before` it reaches the
   * server, or `after` the server committed it and before its answer arrives. Resolves when it is
   * cut.
   */
  cut(statement: string, when: 'before' | 'after'): Promise<void>
  /** Keeps the next statement of this name from the server, and resolves, once it is sent, to what lets it go on. */
  hold(statement: string): Promise<() => void>
  /** Cuts every connection and accepts no new one. */
  down(): void
  up(): void
  /** New connections lead to another server; those that are open stay where they are. */
  leadTo(url: string): void
  /** Keeps every connection open, accepts new ones, and forwards nothing in either direction. */
  stall(): void
  /** Forwards again, held bytes first; the `lost` connections stay silent for good. */
  resume(lost?: 'those that were open'): void
  close(): Promise<void>
}

/** End of every answer of the server: its statement is committed by then. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])

type Cut = {
  readonly statement: string
  readonly when: 'before' | 'after'
  readonly done: () => void
}

type Hold = {
  readonly statement: string
  readonly held: (letGo: () => void) => void
}

export async function lineTo(url: string): Promise<Line> {
  let target = new URL(url)
  const pairs = new Set<readonly [Socket, Socket]>()
  let isDown = false
  let isStalled = false
  let next: Cut | undefined
  let hold: Hold | undefined

  const server = createServer((client) => {
    if (isDown) return client.destroy()
    const upstream = open(Number(target.port), target.hostname)
    const pair = [client, upstream] as const
    pairs.add(pair)
    if (isStalled) for (const socket of pair) socket.pause()
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    let doomed: Cut | undefined
    for (const socket of pair) {
      socket.setNoDelay(true)
      socket.on('error', end)
      socket.on('close', end)
    }
    client.on('data', (bytes) => {
      if (next !== undefined && bytes.includes(next.statement)) {
        doomed = next
        next = undefined
        if (doomed.when === 'before') {
          end()
          return doomed.done()
        }
      }
      if (hold !== undefined && bytes.includes(hold.statement)) {
        const { held } = hold
        hold = undefined
        client.pause()
        return held(() => {
          upstream.write(bytes)
          client.resume()
        })
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (doomed === undefined) return client.write(bytes)
      if (!bytes.includes(readyForQuery)) return
      end()
      doomed.done()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const through = new URL(url)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the line has no port')
  through.hostname = '127.0.0.1'
  through.port = String(address.port)
  const cutAll = () => {
    for (const [client, upstream] of pairs) {
      client.destroy()
      upstream.destroy()
    }
  }
  return {
    url: through.href,
    cut: (statement, when) =>
      new Promise((done) => {
        next = { statement, when, done }
      }),
    hold: (statement) =>
      new Promise((held) => {
        hold = { statement, held }
      }),
    down() {
      isDown = true
      cutAll()
    },
    up() {
      isDown = false
    },
    leadTo(other) {
      target = new URL(other)
    },
    stall() {
      isStalled = true
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    resume(lost) {
      isStalled = false
      if (lost !== undefined) return
      for (const pair of pairs) for (const socket of pair) socket.resume()
    },
    close: () =>
      new Promise((done) => {
        cutAll()
        server.close(() => done())
      }),
  }
}
