import { join } from 'node:path'
import { EmbeddedPostgresError } from './error.ts'
import type { Place } from './location.ts'
import { freePort } from './port.ts'
import { findServer, startServer, untilReady } from './server.ts'
import type { ServerSettings } from './server-settings.ts'
import { readLine, writeLine } from './small-file.ts'

const portAttempts = 5

/**
 * Finds the server of a place or starts it. `fixedPort` is that of a server that died while its
 * address is in use; else the port of the last time is kept where it is free. Runs under the lock.
 */
export async function ensureRunning(
  parts: {
    readonly place: Place
    readonly binaries: string
    readonly settings: ServerSettings
    readonly log: (line: string) => void
  },
  fixedPort: number | null,
): Promise<{ port: number; joined: boolean }> {
  const { place, log } = parts
  const data = join(place.root, 'data')
  if (findServer(data) !== null) {
    // It may be starting, or shutting down and then gone.
    const found = await untilReady(data)
    if (found !== null) return { port: found.port, joined: true }
  }
  const portFile = join(place.directory, 'port')
  const remembered = fixedPort ?? portOf(await readLine(portFile))
  for (let attempt = 0; attempt < portAttempts; attempt += 1) {
    const port = fixedPort ?? (await freePort(place.directory, remembered))
    const started = await startServer({ ...parts, port })
    if (started !== 'port-taken') {
      if (port !== remembered) {
        if (remembered !== null) log(`port ${remembered} is taken; PostgreSQL moved to ${port}`)
        await writeLine(portFile, String(port))
      }
      return { port, joined: false }
    }
    if (fixedPort !== null) {
      throw new EmbeddedPostgresError(
        `port ${fixedPort} of the database was taken by another program; free it, or restart the gateway, which then chooses another`,
      )
    }
  }
  throw new EmbeddedPostgresError(
    `no port on 127.0.0.1 could be opened for the database in ${portAttempts} attempts; another program takes them at once`,
  )
}

function portOf(line: string | null): number | null {
  const port = Number(line ?? '')
  return Number.isInteger(port) && port >= 1024 && port <= 65_535 ? port : null
}
