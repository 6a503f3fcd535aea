/** SFTP (version 3, over SSH 2). */
import {
  type RemoteEntry,
  type Transfer,
  type TransferContext,
  TransferError,
  type TransferSession,
  type TransferTarget,
} from '@tollgate/plugin-kit'
import type { Client, FileEntryWithStats, SFTPWrapper } from 'ssh2'
import { mostEntries, tooMany } from './entries.ts'
import { placeIn, put, type Remote } from './put.ts'
import { type Connected, connectSsh } from './ssh.ts'
import { type Steps, stepsOf } from './steps.ts'

/** Writes and reads under way at once. Each is answered, so a slow network would otherwise set the speed. */
const window = 16
/** Every server takes requests of this size. */
const blockBytes = 32_768

export const sftp: Transfer = {
  scheme: 'sftp',
  defaultPort: 22,
  async open(target, context) {
    const connected = await connectSsh(target, context)
    const { client, lost, cut } = connected
    const steps = stepsOf(context, cut)
    try {
      const channel = await steps.wait('the start of SFTP', Promise.race([opened(client), lost]))
      return new SftpSession(connected, channel, steps, target, context)
    } catch (error) {
      cut()
      throw explained(error, 'the start of SFTP')
    }
  },
}

const opened = (client: Client) =>
  new Promise<SFTPWrapper>((resolve, reject) =>
    client.sftp((error, channel) => (error ? reject(error) : resolve(channel))),
  )

type Answer<T> = (error: Error | null | undefined, value?: T) => void

class SftpSession implements TransferSession {
  readonly #connected: Connected
  readonly #sftp: SFTPWrapper
  readonly #steps: Steps
  readonly #folder: string
  readonly #place: (name: string) => string
  readonly #stepMs: number

  constructor(
    connected: Connected,
    channel: SFTPWrapper,
    steps: Steps,
    { folder }: TransferTarget,
    { stepMs }: TransferContext,
  ) {
    this.#connected = connected
    this.#sftp = channel
    this.#steps = steps
    this.#folder = folder
    this.#place = placeIn(folder)
    this.#stepMs = stepMs
    // Errors of the channel reach the requests under way.
    channel.on('error', () => {})
  }

  put(file: Parameters<TransferSession['put']>[0]) {
    const remote: Remote = {
      sizeOf: (path) => this.#sizeOf(path),
      write: (path, bytes) => this.#write(path, bytes),
      rename: (from, to) =>
        this.#ask('the new name of the file', (done) => this.#sftp.rename(from, to, done)),
      hasAny: async (names) => {
        let isFound = false
        await this.#eachEntry(({ filename }) => {
          isFound ||= names.includes(filename)
        })
        return isFound
      },
    }
    return put(remote, this.#place, file)
  }

  async list(): Promise<readonly RemoteEntry[]> {
    const found: RemoteEntry[] = []
    await this.#eachEntry(({ filename, attrs }) => {
      if (!attrs.isFile()) return
      const modifiedAt = new Date(attrs.mtime * 1000)
      found.push({ name: filename, bytes: attrs.size, modifiedAt })
    })
    return found
  }

  /** Shows the entries as they come, and keeps none of them. */
  async #eachEntry(look: (entry: FileEntryWithStats) => void): Promise<void> {
    const name = 'the list of the folder'
    const handle = await this.#ask<Buffer>(name, (done) =>
      this.#sftp.opendir(this.#folder || '.', done),
    )
    for (let count = 0; ; ) {
      const entries = await this.#ask<FileEntryWithStats[]>(name, (done) =>
        this.#sftp.readdir(handle, done),
      ).catch((error: unknown) => {
        if (statusOf(error) === status.end) return undefined
        throw error
      })
      if (entries === undefined) break
      // Servers send dozens in an answer. Answers with one or none would take very long to come to an end.
      count += Math.max(20, entries.length)
      if (count > mostEntries) throw tooMany()
      entries.forEach(look)
    }
    await this.#ask(name, (done) => this.#sftp.close(handle, done))
  }

  async *get(name: string): AsyncGenerator<Uint8Array> {
    const path = this.#place(name)
    const handle = await this.#ask<Buffer>('the opening of the file', (done) =>
      this.#sftp.open(path, 'r', done),
    )
    const { size } = await this.#ask<{ size: number }>('the size of the file', (done) =>
      this.#sftp.fstat(handle, done as never),
    )
    const blocks: Promise<Buffer>[] = []
    let asked = 0
    let received = 0
    try {
      while (received < size) {
        while (blocks.length < window && asked < size) {
          const block = this.#read(handle, asked, Math.min(blockBytes, size - asked))
          block.catch(() => {})
          blocks.push(block)
          asked += Math.min(blockBytes, size - asked)
        }
        const block = await blocks.shift()!
        received += block.length
        yield block
      }
    } finally {
      await this.#ask('the end of the file', (done) => this.#sftp.close(handle, done)).catch(
        () => {},
      )
    }
  }

  async remove(name: string): Promise<void> {
    const path = this.#place(name)
    try {
      await this.#ask('the removal of the file', (done) => this.#sftp.unlink(path, done))
    } catch (error) {
      if (statusOf(error) !== status.noSuchFile) throw error
    }
  }

  /** A whole block: servers may answer with less than was asked for. */
  async #read(handle: Buffer, offset: number, length: number): Promise<Buffer> {
    const block = Buffer.alloc(length)
    for (let filled = 0; filled < length; ) {
      const count = await this.#ask<number>('a block of the file', (done) =>
        this.#sftp.read(handle, block, filled, length - filled, offset + filled, (error, bytes) =>
          done(error, bytes),
        ),
      )
      if (count === 0) throw new TransferError('closed', 'the file ended early')
      filled += count
    }
    return block
  }

  async #sizeOf(path: string): Promise<number | undefined> {
    try {
      const { size } = await this.#ask<{ size: number }>('the size of the file', (done) =>
        this.#sftp.stat(path, done as never),
      )
      return size
    } catch (error) {
      if (statusOf(error) === status.noSuchFile) return undefined
      throw error
    }
  }

  async #write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const handle = await this.#ask<Buffer>(
      'the creation of the file',
      (done) => this.#sftp.open(path, 'w', done),
      'folder',
    )
    await this.#steps.flow('a block of the file', async (alive) => {
      const writes: Promise<void>[] = []
      const next = async () => {
        await writes.shift()
        alive()
      }
      let offset = 0
      for await (const chunk of bytes) {
        alive()
        for (let from = 0; from < chunk.length; from += blockBytes) {
          const block = Buffer.from(chunk.subarray(from, from + blockBytes))
          const write = this.#answer<void>((done) =>
            this.#sftp.write(handle, block, 0, block.length, offset, done),
          ).catch((error: unknown) => {
            throw explained(error, 'a block of the file', 'not-stored')
          })
          write.catch(() => {})
          writes.push(write)
          offset += block.length
          if (writes.length >= window) await next()
        }
      }
      while (writes.length > 0) await next()
    })
    await this.#ask('the end of the file', (done) => this.#sftp.close(handle, done), 'not-stored')
  }

  /** One request, in its time limit. @param refused the code of a refusal that has no code of its own */
  async #ask<T = void>(
    name: string,
    send: (done: Answer<T>) => void,
    refused: 'folder' | 'not-stored' = 'folder',
  ): Promise<T> {
    try {
      return await this.#steps.wait(name, this.#answer(send))
    } catch (error) {
      throw explained(error, name, refused)
    }
  }

  #answer<T>(send: (done: Answer<T>) => void): Promise<T> {
    const { answered, lost } = this.#connected
    const answer = new Promise<T>((resolve, reject) =>
      send((error, value) => {
        answered()
        if (error) reject(error)
        else resolve(value as T)
      }),
    )
    return Promise.race([answer, lost])
  }

  async close(): Promise<void> {
    const { client, cut, lost } = this.#connected
    const closed = new Promise<void>((resolve) => {
      client.once('close', () => resolve())
      const timer = setTimeout(resolve, Math.min(this.#stepMs, 2_000))
      timer.unref()
    })
    client.end()
    // A connection that was lost does not close once more.
    await Promise.race([closed, lost.catch(() => {})])
    cut()
  }
}

const status = { end: 1, noSuchFile: 2, denied: 3, failure: 4, full: 14, quota: 15 } as const

const statusOf = (error: unknown): unknown =>
  TransferError.is(error) ? statusOf(error.cause) : (error as { code?: unknown } | null)?.code

const texts: Readonly<Record<number, string>> = {
  [status.noSuchFile]: 'there is no such folder',
  [status.denied]: 'the login lacks the permission',
  [status.failure]: 'the server failed: its disk may be full',
  [status.full]: 'its disk is full',
  [status.quota]: 'the quota of the login is used up',
}

/** The error of a request in words of ours: those of the server may quote anything. */
function explained(
  error: unknown,
  name: string,
  refused: 'folder' | 'not-stored' = 'folder',
): TransferError {
  if (TransferError.is(error)) return error
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code === 'number') {
    const isFull = code === status.full || code === status.quota || code === status.failure
    const why = texts[code] ?? `status ${code}`
    return new TransferError(isFull ? 'not-stored' : refused, `${name} was refused: ${why}`, {
      cause: error,
    })
  }
  return new TransferError('closed', `the connection ended during ${name}`, { cause: error })
}
