/** FTP over TLS. Plain FTP is not spoken: neither the login nor a file leaves without TLS. */
import { isIP } from 'node:net'
import { Readable, Transform } from 'node:stream'
import {
  type RemoteEntry,
  type Transfer,
  type TransferContext,
  TransferError,
  type TransferSession,
  type TransferTarget,
} from '@tollgate/plugin-kit'
import { Client, type FTPContext, FTPError, type FTPResponse } from 'basic-ftp'
import { connectForPassiveTransfer } from 'basic-ftp/dist/transfer.js'
import { entriesNamed, entriesOf } from './ftps-list.ts'
import { placeIn, put, type Remote } from './put.ts'
import { type Steps, stepsOf } from './steps.ts'

/** On this port the server speaks TLS from the first byte. */
const implicitPort = 990

/** Of one reply. Servers greet with a few KB, and some send each line of it by itself. */
const mostReplyPieces = 200
const mostReplyLength = 16_384

/**
 * As for all connections of Tollgate, whose own list is no part of the kit. Without DHE, the server makes nobody
 * calculate with numbers of its choice.
 */
const encryption = {
  minVersion: 'TLSv1.2',
  ciphers: [
    ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
    ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
    ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ].join(':'),
} as const

export const ftps: Transfer = {
  scheme: 'ftps',
  defaultPort: 21,
  async open(target, context) {
    const client = new Client(context.stepMs)
    client.prepareTransfer = (ftp) => openData(ftp, context)
    limitReplies(client)
    const steps = stepsOf(context, () => client.close())
    try {
      const address = await steps.wait(
        'the look-up of the name',
        context.addressOf(target.host, target.port),
      )
      await logIn(client, steps, target, address)
      return new FtpsSession(client, steps, target)
    } catch (error) {
      client.close()
      throw error
    }
  },
}

/**
 * Ends the connection at a reply without an end: the library reads the whole reply anew with each of its pieces,
 * which stops the process. Its log is the one place that hears every piece before that.
 */
function limitReplies({ ftp }: Client): void {
  let [pieces, length] = [0, 0]
  ftp.log = (line) => {
    if (line.startsWith('> ')) {
      pieces = 0
      // A reply that began unasked goes on.
      length = (ftp as unknown as { readonly _partialResponse: string })._partialResponse.length
    } else if (line.startsWith('< ')) {
      pieces += 1
      length += line.length - 2
      if (pieces <= mostReplyPieces && length <= mostReplyLength) return
      ftp.closeWithError(new TransferError('protocol', 'a reply of the server does not end'))
    }
  }
}

/**
 * Opens a data connection by EPSV alone: it goes to the address of the control connection, while the answer to
 * PASV could name any. The server chooses the port, which may be closed to it.
 */
async function openData(ftp: FTPContext, { addressOf }: TransferContext): Promise<FTPResponse> {
  const answer = await ftp.request('EPSV')
  const port = Number(/[|!]{3}(\d{1,5})[|!]/.exec(answer.message)?.[1])
  const { remoteAddress } = ftp.socket
  if (!(port > 0 && port < 65_536) || remoteAddress === undefined) {
    throw new TransferError('protocol', 'the server names no port for its data connections')
  }
  await connectForPassiveTransfer(await addressOf(remoteAddress, port), port, ftp)
  return answer
}

async function logIn(
  client: Client,
  steps: Steps,
  { host, port, user, password, ca }: TransferTarget,
  address: string,
): Promise<void> {
  const tls = {
    // The certificate must name the server as the destination does, whatever its address is.
    ...(isIP(host) ? { host } : { servername: host, host }),
    ...(ca === undefined ? {} : { ca }),
    ...encryption,
  }
  const isImplicit = port === implicitPort
  await steps
    .wait(
      'the connection',
      isImplicit ? client.connectImplicitTLS(address, port, tls) : client.connect(address, port),
    )
    .catch((error: unknown) => {
      throw isImplicit ? untrusted(error, host) : unreachable(error, host, port)
    })
  if (!isImplicit) {
    await steps.wait('the start of TLS', client.useTLS(tls)).catch((error: unknown) => {
      if (error instanceof FTPError) {
        throw new TransferError('protocol', `${host} does not offer TLS`, { cause: error })
      }
      throw untrusted(error, host)
    })
  }
  const secret = password?.reveal() ?? ''
  await steps.wait('the login', client.login(user, secret)).catch((error: unknown) => {
    if (!(error instanceof FTPError)) throw broken(error, 'the login')
    throw new TransferError('login', `${host} does not accept the login of ${user}`)
  })
  await steps.wait('the settings of the connection', settings(client)).catch((error: unknown) => {
    if (!(error instanceof FTPError)) throw broken(error, 'the settings of the connection')
    const text = `${host} refuses binary files or encrypted data connections (${error.code})`
    throw new TransferError('protocol', text)
  })
}

/** Every one of them must be accepted: a server that refuses PROT P would take files in plain. */
async function settings(client: Client): Promise<void> {
  await client.useDefaultSettings()
  await client.send('TYPE I')
  await client.send('PBSZ 0')
  await client.send('PROT P')
}

class FtpsSession implements TransferSession {
  readonly #client: Client
  readonly #steps: Steps
  readonly #folder: string
  readonly #place: (name: string) => string

  constructor(client: Client, steps: Steps, { folder }: TransferTarget) {
    this.#client = client
    this.#steps = steps
    this.#folder = folder
    this.#place = placeIn(folder)
  }

  put(file: Parameters<TransferSession['put']>[0]) {
    const remote: Remote = {
      sizeOf: (path) => this.#sizeOf(path),
      write: (path, bytes) => this.#write(path, bytes),
      rename: async (from, to) => {
        await this.#ask('the new name of the file', () => this.#client.rename(from, to))
      },
      hasAny: (names) => this.#hasAny(names),
    }
    return put(remote, this.#place, file)
  }

  async list(): Promise<readonly RemoteEntry[]> {
    const found = await this.#ask('the list of the folder', () =>
      entriesOf(this.#client, this.#folder),
    )
    return found
      .filter(({ isFile }) => isFile)
      .map(({ name, size, modifiedAt }) => ({
        name,
        bytes: size,
        ...(modifiedAt === undefined ? {} : { modifiedAt }),
      }))
  }

  async *get(name: string): AsyncGenerator<Uint8Array> {
    const path = this.#place(name)
    const size = await this.#sizeOf(path)
    let alive = () => {}
    const stream = new Transform({
      transform(chunk, _encoding, done) {
        alive()
        done(null, chunk)
      },
    })
    const loading = this.#steps
      .flow('a block of the file', (again) => {
        alive = again
        return this.#client.downloadTo(stream, path)
      })
      .catch((error: unknown) => {
        stream.destroy(explained(error, 'a block of the file'))
      })
    let received = 0
    for await (const chunk of stream) {
      received += chunk.length
      yield chunk
    }
    await loading
    if (received === size) return
    throw new TransferError('closed', `${name} ended after ${received} bytes`)
  }

  async remove(name: string): Promise<void> {
    const path = this.#place(name)
    if ((await this.#sizeOf(path)) === undefined) return
    await this.#ask('the removal of the file', () => this.#client.remove(path))
  }

  /** Some servers list a folder that is missing as an empty one, but none can change to it. */
  async #hasAny(names: readonly string[]): Promise<boolean> {
    if (this.#folder !== '.') {
      const here = await this.#ask('the look at the folder', () => this.#client.pwd())
      await this.#ask('the look at the folder', () => this.#client.cd(this.#folder))
      await this.#ask('the look at the folder', () => this.#client.cd(here))
    }
    return (await this.#named(names)).size > 0
  }

  /** From SIZE, or from the list of the folder on servers without SIZE. */
  async #sizeOf(path: string): Promise<number | undefined> {
    try {
      return await this.#ask('the size of the file', () => this.#client.size(path))
    } catch (error) {
      const code = TransferError.is(error) && error.cause instanceof FTPError && error.cause.code
      if (code === 550) return undefined
      if (code !== 500 && code !== 502 && code !== 504) throw error
    }
    const name = path.slice(path.lastIndexOf('/') + 1)
    const entry = (await this.#named([name])).get(name)
    return entry?.isFile ? entry.size : undefined
  }

  #named(names: readonly string[]): ReturnType<typeof entriesNamed> {
    return this.#ask('the list of the folder', () =>
      entriesNamed(this.#client, this.#folder, names),
    )
  }

  async #write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    let failure: unknown
    const source = async function* (alive: () => void) {
      try {
        for await (const chunk of bytes) {
          alive()
          yield chunk
        }
      } catch (error) {
        failure = error
        throw error
      }
    }
    try {
      await this.#steps.flow('a block of the file', (alive) =>
        this.#client.uploadFrom(Readable.from(source(alive), { objectMode: false }), path),
      )
    } catch (error) {
      throw failure ?? explained(error, 'a block of the file')
    }
  }

  async #ask<T>(name: string, send: () => Promise<T>): Promise<T> {
    try {
      return await this.#steps.wait(name, send())
    } catch (error) {
      throw explained(error, name)
    }
  }

  async close(): Promise<void> {
    this.#client.close()
  }
}

/** Reply codes of RFC 959 that have a meaning of their own. */
const texts: Readonly<Record<number, string>> = {
  452: 'its disk is full',
  550: 'the folder or a permission is missing',
  552: 'the quota of the login is used up',
  553: 'the login lacks the permission',
}

/** In words of ours: those of the server may quote anything. */
function explained(error: unknown, name: string): TransferError {
  if (TransferError.is(error)) return error
  if (!(error instanceof FTPError)) return broken(error, name)
  const { code } = error
  const why = texts[code] ?? `reply ${code}`
  if (code === 421) {
    return new TransferError('closed', 'the server ended the connection', { cause: error })
  }
  const isFull = code === 452 || code === 552 || code === 451 || code === 426
  const kind = isFull ? 'not-stored' : code === 550 || code === 553 ? 'folder' : 'protocol'
  return new TransferError(kind, `${name} was refused: ${why}`, { cause: error })
}

function broken(error: unknown, name: string): TransferError {
  if (TransferError.is(error)) return error
  const isLate = error instanceof Error && /^Timeout/.test(error.message)
  return isLate
    ? new TransferError('timeout', `${name} took too long`, { cause: error })
    : new TransferError('closed', `the connection ended during ${name}`, { cause: error })
}

function unreachable(error: unknown, host: string, port: number): TransferError {
  if (TransferError.is(error)) return error
  const code = (error as { code?: unknown } | null)?.code
  if (error instanceof FTPError) {
    return new TransferError('unreachable', `${host} takes no logins now (${error.code})`)
  }
  const why = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? ` (${code})` : ''
  const text = `no connection to ${host}, port ${port}${why}`
  return new TransferError('unreachable', text, { cause: error })
}

/** Codes of OpenSSL and Node about encryption and certificates. */
function untrusted(error: unknown, host: string): TransferError {
  if (TransferError.is(error)) return error
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  if (/HANDSHAKE_FAILURE|PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/.test(code)) {
    const why = 'no secure encryption: TLS 1.3, or TLS 1.2 with ECDHE and GCM or ChaCha20'
    return new TransferError('protocol', `${host} offers ${why}`, { cause: error })
  }
  if (!/CERT|SIGNATURE|ALTNAME|ISSUER|SELF_SIGNED/.test(code)) {
    return broken(error, `the start of TLS with ${host}`)
  }
  const text = `the certificate of ${host} is not trusted (${code})`
  return new TransferError('wrong-server', text, { cause: error })
}
