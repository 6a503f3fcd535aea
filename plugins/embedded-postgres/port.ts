import { createHash } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that systems hand out to outgoing connections, so that a remembered one stays free. */
const first = 20_000
const count = 10_000

/** A loopback port that is free now: `remembered` if it is, else one chosen from the directory's name. */
export async function freePort(directory: string, remembered: number | null): Promise<number> {
  if (remembered !== null && (await isFree(remembered))) return remembered
  const start = createHash('sha256').update(directory).digest().readUInt32BE()
  for (let step = 0; step < count; step += 1) {
    const port = first + ((start + step) % count)
    if (port !== remembered && (await isFree(port))) return port
  }
  throw new Error(`no port from ${first} to ${first + count - 1} is free on 127.0.0.1`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}
