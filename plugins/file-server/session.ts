/** The requests of SFTP, over a folder without subfolders that nobody can change. */
import type { Socket } from 'node:net'
import { posix } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Log, OpenFile, ServedFile, ServedFolder } from '@tollgate/plugin-kit'
import ssh2, { type Attributes, type SFTPWrapper } from 'ssh2'
import type { ServerLimits } from './limits.ts'

const { STATUS_CODE: status, OPEN_MODE: mode } = ssh2.utils.sftp

export type Serving = {
  readonly folder: ServedFolder
  /** Whether the key of the login is still known. */
  isWelcome(): Promise<boolean>
  /** Called for every request. */
  alive(): void
  end(): void
  readonly socket: Socket
  readonly log: Log
}

type Handle =
  | { readonly is: 'file'; readonly file: OpenFile }
  | { readonly is: 'folder'; after: string | undefined; hasEnded: boolean }

/** No handle has this number. */
const noHandle = -1
/** Pause before the next look whether a client that does not read has read. */
const lookMs = 20
/** Requests that would change something. */
const changes = [
  ...['WRITE', 'REMOVE', 'RENAME', 'MKDIR', 'RMDIR', 'SETSTAT', 'FSETSTAT', 'SYMLINK'],
] as const

export function serveFolder(sftp: SFTPWrapper, serving: Serving, limits: ServerLimits): void {
  new FolderSession(sftp, serving, limits).listen()
}

class FolderSession {
  readonly #sftp: SFTPWrapper
  readonly #serving: Serving
  readonly #limits: ServerLimits
  readonly #handles = new Map<number, Handle>()
  /** Of the last look at the folder. All handles of the folder read it, so that a connection keeps one list. */
  #files: readonly ServedFile[] = []
  #lastHandle = 0
  /** Requests are answered in their order, one at a time, so that a client cannot fill the memory. */
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0
  #waitingBytes = 0

  constructor(sftp: SFTPWrapper, serving: Serving, limits: ServerLimits) {
    this.#sftp = sftp
    this.#serving = serving
    this.#limits = limits
  }

  listen(): void {
    const sftp = this.#sftp
    sftp.on('error', () => this.#serving.end())
    // A client that has asked for everything waits for the end of the channel.
    sftp.on('end', () => sftp.end())
    // A waiting request keeps its path, and the number of its handle alone: the bytes of the handle are part
    // of a packet, which can be long.
    const onPath = (
      name: 'REALPATH' | 'STAT' | 'LSTAT' | 'OPENDIR' | 'OPEN',
      work: (id: number, path: string, flags: number) => Promise<void>,
    ) =>
      sftp.on(name as 'OPEN', (id, path, flags) =>
        this.#answer(id, Buffer.byteLength(path), () => work(id, path, flags)),
      )
    const onHandle = (
      name: 'READDIR' | 'READ' | 'FSTAT' | 'CLOSE',
      work: (id: number, handle: number, offset: number, length: number) => Promise<void>,
    ) =>
      sftp.on(name as 'READ', (id, given, offset, length) => {
        const handle = given.length === 4 ? given.readUInt32BE(0) : noHandle
        this.#answer(id, 0, () => work(id, handle, offset, length))
      })
    onPath('REALPATH', (id, path) => this.#realPath(id, path))
    onPath('STAT', (id, path) => this.#stat(id, path))
    onPath('LSTAT', (id, path) => this.#stat(id, path))
    onPath('OPENDIR', (id, path) => this.#openFolder(id, path))
    onHandle('READDIR', (id, handle) => this.#readFolder(id, handle))
    onPath('OPEN', (id, path, flags) => this.#open(id, path, flags))
    onHandle('READ', (id, handle, offset, length) => this.#read(id, handle, offset, length))
    onHandle('FSTAT', (id, handle) => this.#statHandle(id, handle))
    onHandle('CLOSE', (id, handle) => this.#close(id, handle))
    const refuse = (id: number) =>
      this.#answer(id, 0, async () => sftp.status(id, status.PERMISSION_DENIED))
    for (const change of changes) sftp.on(change as 'MKDIR', refuse)
  }

  /**
   * Works on a request when its turn comes. A failure is answered without a reason.
   *
   * @param bytes of the path that the request keeps until then
   */
  #answer(id: number, bytes: number, work: () => Promise<void>): void {
    const { socket } = this.#serving
    if (socket.destroyed) return
    this.#serving.alive()
    this.#waiting += 1
    this.#waitingBytes += bytes
    const { waiting, waitingBytes, pathBytes } = this.#limits
    if (this.#waiting > waiting || this.#waitingBytes > waitingBytes || bytes > pathBytes) {
      this.#serving.end()
      return
    }
    this.#turn = this.#turn
      .then(() => this.#room())
      .then(() => (socket.destroyed ? undefined : work()))
      .catch((error: unknown) => {
        const kind = error instanceof Error ? error.name : 'unknown'
        this.#serving.log.warn({ error: kind }, 'an SFTP request failed')
        this.#sftp.status(id, status.FAILURE)
      })
      .finally(() => {
        this.#waiting -= 1
        this.#waitingBytes -= bytes
      })
  }

  /** Waits until the client has read most of its answers. The idle time ends the connection of one that never does. */
  async #room(): Promise<void> {
    const { socket } = this.#serving
    const { outgoing } = this.#sftp as unknown as {
      readonly outgoing?: { readonly window: number }
    }
    while (
      !socket.destroyed &&
      (outgoing?.window === 0 || socket.writableLength > this.#limits.unsentBytes)
    ) {
      await pause(lookMs, undefined, { ref: false })
    }
  }

  async #realPath(id: number, path: string): Promise<void> {
    const filename = pathOf(path)
    this.#sftp.name(id, [{ filename, longname: filename, attrs: folderAttributes } as never])
  }

  async #stat(id: number, path: string): Promise<void> {
    if (pathOf(path) === '/') return this.#sftp.attrs(id, folderAttributes)
    const file = await this.#find((name) => this.#serving.folder.stat(name), path)
    if (file === undefined) this.#sftp.status(id, status.NO_SUCH_FILE)
    else this.#sftp.attrs(id, attributesOf(file))
  }

  async #openFolder(id: number, path: string): Promise<void> {
    if (pathOf(path) !== '/') return this.#sftp.status(id, status.NO_SUCH_FILE)
    await this.#enter(id, async () => {
      this.#files = await this.#serving.folder.list()
      return { is: 'folder', after: undefined, hasEnded: false }
    })
  }

  async #readFolder(id: number, given: number): Promise<void> {
    const handle = this.#handles.get(given)
    if (handle?.is !== 'folder') return this.#sftp.status(id, status.FAILURE)
    // The oldest files come first, and leave a later list first: without the name, all of it is newer.
    const next = this.#files.findIndex(({ name }) => name === handle.after) + 1
    const files = handle.hasEnded ? [] : this.#files.slice(next, next + this.#limits.listed)
    if (files.length === 0) {
      handle.hasEnded = true
      this.#forgetList()
      return this.#sftp.status(id, status.EOF)
    }
    handle.after = files.at(-1)!.name
    this.#sftp.name(
      id,
      files.map((file) => ({
        filename: file.name,
        longname: longName(file),
        attrs: attributesOf(file),
      })),
    )
  }

  async #open(id: number, path: string, flags: number): Promise<void> {
    if (flags !== mode.READ) return this.#sftp.status(id, status.PERMISSION_DENIED)
    await this.#enter(id, async () => {
      const file = await this.#find((name) => this.#serving.folder.open(name), path)
      return file && { is: 'file', file }
    })
  }

  async #read(id: number, given: number, offset: number, length: number) {
    const handle = this.#handles.get(given)
    if (handle?.is !== 'file') return this.#sftp.status(id, status.FAILURE)
    const bytes = await handle.file.read(offset, Math.min(length, this.#limits.readBytes))
    if (bytes.length === 0) this.#sftp.status(id, status.EOF)
    else this.#sftp.data(id, Buffer.from(bytes))
  }

  async #statHandle(id: number, given: number): Promise<void> {
    const handle = this.#handles.get(given)
    if (handle === undefined) return this.#sftp.status(id, status.FAILURE)
    this.#sftp.attrs(id, handle.is === 'file' ? attributesOf(handle.file) : folderAttributes)
  }

  async #close(id: number, given: number): Promise<void> {
    this.#sftp.status(id, this.#handles.delete(given) ? status.OK : status.FAILURE)
    this.#forgetList()
  }

  /** Lets the list go once nobody reads on. */
  #forgetList(): void {
    const reads = (handle: Handle) => handle.is === 'folder' && !handle.hasEnded
    if (![...this.#handles.values()].some(reads)) this.#files = []
  }

  /** Opens a file or the folder for a key that is still known. */
  async #enter(id: number, open: () => Promise<Handle | undefined>): Promise<void> {
    if (this.#handles.size >= this.#limits.handles) return this.#sftp.status(id, status.FAILURE)
    if (!(await this.#serving.isWelcome())) return this.#serving.end()
    const handle = await open()
    if (handle === undefined) return this.#sftp.status(id, status.NO_SUCH_FILE)
    this.#lastHandle = (this.#lastHandle + 1) % 0xffff_ffff
    this.#handles.set(this.#lastHandle, handle)
    const given = Buffer.alloc(4)
    given.writeUInt32BE(this.#lastHandle)
    this.#sftp.handle(id, given)
  }

  /** A path has one step: the folder has no subfolders. */
  async #find<T>(look: (name: string) => Promise<T | undefined>, path: string) {
    const name = pathOf(path).slice(1)
    return name.includes('/') || name === '' ? undefined : look(name)
  }
}

/** The absolute path: `..` ends at the folder itself, as above the root of every file system. */
const pathOf = (path: string): string => posix.resolve('/', path)

const folderAttributes: Attributes = {
  ...{ mode: 0o040_555, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 },
}

function attributesOf({ bytes, madeAt }: ServedFile): Attributes {
  const seconds = Math.floor(madeAt.getTime() / 1000)
  return { ...{ mode: 0o100_444, uid: 0, gid: 0, size: bytes }, atime: seconds, mtime: seconds }
}

/** As `ls -l` shows it. */
function longName({ name, bytes, madeAt }: ServedFile): string {
  const [day = '', time = ''] = madeAt.toISOString().split('T')
  return `-r--r--r-- 1 tollgate tollgate ${String(bytes).padStart(12)} ${day} ${time.slice(0, 5)} ${name}`
}
