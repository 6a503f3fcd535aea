/** A merchant's FTPS server over a folder in memory. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  createSecureContext,
  createServer as createTlsServer,
  type SecureContextOptions,
  TLSSocket,
} from 'node:tls'
import { selfSigned, selfSignedByRsa } from '../core/net/certificate.ts'

export type FtpsFolder = {
  readonly port: number
  /** The certificate of `127.0.0.1`, which is its own authority. */
  readonly certificate: string
  /** Name and bytes. */
  readonly files: Map<string, Buffer>
  /** The commands that reached the server: `LIST -a`. */
  readonly log: string[]
  /** The port of data connections that the server names instead of its own. */
  dataPort: number | undefined
  /** Lines of lists before those of the files. */
  linesBefore: () => Iterable<string>
  /** How a list shows a file. */
  line: (name: string, bytes: number) => string
  close(): Promise<void>
}

/**
 * @param hasSize whether the server knows SIZE; otherwise lists alone tell it
 * @param tls more about its encryption
 */
export async function startFtpsFolder(
  { hasSize = true } = {},
  tls: SecureContextOptions = {},
): Promise<FtpsFolder> {
  const { key, cert } = tls.ciphers?.includes('RSA')
    ? selfSignedByRsa('127.0.0.1')
    : selfSigned('127.0.0.1')
  const secureContext = createSecureContext({ ...tls, key, cert })
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const data = createTlsServer({ key, cert }, keep)
  data.on('connection', keep)
  await listening(data)
  const folder: Omit<FtpsFolder, 'port' | 'close'> = {
    certificate: cert,
    files: new Map(),
    log: [],
    dataPort: undefined,
    linesBefore: () => [],
    line: (name, bytes) => `-rw-r--r-- 1 me us ${bytes} Jan 1 10:00 ${name}`,
  }
  const server = createServer((socket) => {
    keep(socket)
    serve(socket)
  })
  await listening(server)

  function serve(plain: Socket): void {
    let control: Socket = plain
    let connected: Promise<unknown[]> | undefined
    let renamed = ''
    const say = (text: string) => control.write(`${text}\r\n`)
    /** Carries bytes over the data connection that the client has opened. */
    const carry = async (use: (socket: Socket) => Promise<unknown>) => {
      const [socket] = (await connected) as [Socket]
      say('150 go on')
      await use(socket)
      say('226 done')
    }
    const { files } = folder
    const commands: Record<string, (path: string) => unknown> = {
      AUTH() {
        say('234 go on')
        plain.removeAllListeners('data')
        control = new TLSSocket(plain, { isServer: true, secureContext })
        control.on('error', () => {})
        hear()
      },
      USER: () => say('331 password'),
      PASS: () => say('230 welcome'),
      SIZE(path) {
        const file = files.get(path)
        say(!hasSize ? '502 no SIZE' : file ? `213 ${file.length}` : '550 no such file')
      },
      EPSV() {
        connected = once(data, 'secureConnection')
        say(`229 go on (|||${folder.dataPort ?? (data.address() as AddressInfo).port}|)`)
      },
      LIST: () => carry((socket) => pipeline(Readable.from(list()), socket)),
      STOR: (path) =>
        carry(async (socket) => files.set(path, Buffer.concat(await socket.toArray()))),
      RETR: (path) => carry((socket) => pipeline(Readable.from([files.get(path)!]), socket)),
      RNFR(path) {
        renamed = path
        say('350 go on')
      },
      RNTO(path) {
        files.set(path, files.get(renamed)!)
        files.delete(renamed)
        say('250 done')
      },
      DELE(path) {
        files.delete(path)
        say('250 done')
      },
      FEAT: () => say('502 none'),
      QUIT: () => control.end(),
    }
    function* list(): Generator<string> {
      let block = ''
      for (const line of folder.linesBefore()) {
        block += `${line}\r\n`
        if (block.length < 8_192) continue
        yield block
        block = ''
      }
      for (const [name, { length }] of files) block += `${folder.line(name, length)}\r\n`
      yield block
    }
    const act = async (line: string) => {
      const [, verb = '', path = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
      folder.log.push(line)
      const command = commands[verb]
      if (command === undefined) say('200 ok')
      else await command(path)
    }
    const hear = () => {
      let rest = ''
      control.on('data', (chunk) => {
        const lines = (rest + chunk.toString()).split('\r\n')
        rest = lines.pop()!
        // A client that ends a data connection early is no failure of the server.
        for (const line of lines) act(line).catch(() => say('426 broken off'))
      })
    }
    hear()
    say('220 hello')
  }

  return Object.assign(folder, {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await Promise.all([server, data].map((one) => new Promise((done) => one.close(done))))
    },
  })
}

const listening = (server: Server) =>
  new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
