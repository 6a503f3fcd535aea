/** An SFTP server of read-only folders. It knows no passwords, no shell, no commands and no forwarding. */
import { createHash } from 'node:crypto'
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net'
import type { RunningServer, Server, ServerContext, ServerOptions } from '@tollgate/plugin-kit'
import ssh2, { type Algorithms } from 'ssh2'
import { Connections, serveConnection } from './connection.ts'
import { limitsWith, type ServerLimits } from './limits.ts'

/**
 * What a stranger may choose costs little: no packets that unpack to a thousand times their size, and no
 * Diffie-Hellman over large numbers.
 */
const algorithms: Algorithms = {
  compress: ['none'],
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
}

/** Host keys: a modern one, and one for older clients. */
const hostKeys = [
  {
    name: 'sftp ed25519',
    make: () => usable(() => ssh2.utils.generateKeyPairSync('ed25519').private),
  },
  {
    name: 'sftp ecdsa',
    make: () => usable(() => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }).private),
  },
]

/** One in a few hundred keys that the library makes cannot be read, also by itself. */
function usable(make: () => string): string {
  for (;;) {
    const key = make()
    if (!(ssh2.utils.parseKey(key) instanceof Error)) return key
  }
}

/** @throws TypeError for a limit that is no whole number above 0 */
export function sftpServer(own: Partial<ServerLimits> = {}): Server {
  const limits = limitsWith(own)
  return {
    name: 'sftp',
    defaultPort: 2022,
    listen: (options, context) => listen(options, context, limits),
  }
}

async function listen(
  { host, port }: ServerOptions,
  context: ServerContext,
  limits: ServerLimits,
): Promise<RunningServer> {
  const keys: string[] = []
  for (const { name, make } of hostKeys) keys.push((await context.ownKey(name, make)).reveal())
  const connections = new Connections(limits)
  const options = { hostKeys: keys, ident: 'Tollgate', algorithms }
  const ssh = new ssh2.Server(options, (connection, info) => {
    const guest = connections.of(info)
    if (guest !== undefined) return serveConnection(connection, guest, connections, context, limits)
    connection.on('error', () => {})
    connection.end()
  })
  const door = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {})
    if (connections.admits(socket)) ssh.injectSocket(socket)
    else socket.destroy()
  })
  await opened(door, host, port)
  const { address, port: actual } = door.address() as AddressInfo
  return {
    host: address,
    port: actual,
    fingerprints: keys.map(fingerprintOf),
    async close() {
      const closed = new Promise<void>((resolve) => door.close(() => resolve()))
      connections.endAll()
      await closed
    },
  }
}

const opened = (door: NetServer, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    door.once('error', reject)
    door.listen(port, host, () => {
      door.off('error', reject)
      resolve()
    })
  })

function fingerprintOf(privateKey: string): string {
  const key = ssh2.utils.parseKey(privateKey)
  if (key instanceof Error) throw key
  const digest = createHash('sha256').update(key.getPublicSSH()).digest('base64')
  return `SHA256:${digest.replaceAll('=', '')}`
}
