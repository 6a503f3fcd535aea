/** A merchant's SFTP server over a real folder, by ssh2's own server, which fails where a test says so. */
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2, {
  type Algorithms,
  type Connection,
  type FileEntryWithStats,
  type SFTPWrapper,
} from 'ssh2'
import { fingerprintOf } from '../../plugins/file-transfer/ssh.ts'
import { newSshKey } from './ssh-keys.ts'

const { STATUS_CODE: status, OPEN_MODE: mode } = ssh2.utils.sftp

/** The moments at which the server fails. */
export type Moment = 'login' | 'stat' | 'open' | 'write' | 'close' | 'rename' | 'renamed'
export type Failure =
  /** Never answers. */
  | 'hang'
  /** Answers when it is healed. */
  | 'wait'
  /** Ends the connection. */
  | 'cut'
  /** The status that OpenSSH also has for a full disk. */
  | 'failure'

const folderHandle = Buffer.from('folder')

export type SftpFolder = {
  readonly port: number
  readonly hostKey: string
  /** The folder on this machine. */
  readonly path: string
  readonly user: string
  readonly password: string
  /** The requests that reached the server: `rename a b`. */
  readonly log: string[]
  /** Fails the next request of this moment, from the `after`th on; undefined: none. */
  fail(moment: Moment, how: Failure, after?: number): void
  heal(): void
  /** Names that answer every question for the rest of the list. */
  endless: readonly string[] | undefined
  /** Called when a file gets or loses bytes or a name, before the answer. */
  watch(look: () => void): void
  close(): Promise<void>
}

/** @param algorithms those that the server offers; by default, those of the library */
export async function startSftpFolder(
  algorithms: Algorithms = {},
  key = newSshKey().private,
): Promise<SftpFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sftp-folder-'))
  const parsed = ssh2.utils.parseKey(key)
  if (parsed instanceof Error) throw parsed
  const [user, password] = ['reports', 'a long password']
  const log: string[] = []
  let failing: { moment: Moment; how: Failure; after: number } | undefined
  let look = () => {}
  const connections = new Set<Connection>()
  let waiting: (() => void)[] = []
  const folder: Pick<SftpFolder, 'endless'> = { endless: undefined }

  const fails = (moment: Moment): Failure | undefined => {
    if (failing?.moment !== moment) return undefined
    failing.after -= 1
    return failing.after < 0 ? failing.how : undefined
  }

  const server = new ssh2.Server({ hostKeys: [key], algorithms }, (connection) => {
    connections.add(connection)
    socketOf(connection)?.setNoDelay(true)
    connection.on('error', () => {})
    connection.on('close', () => connections.delete(connection))
    connection.on('authentication', (context) => {
      if (fails('login') === 'hang') return
      // Any key of the user: ssh2 has read it, and signed with it.
      const isKnown =
        context.username === user &&
        (context.method === 'publickey' ||
          (context.method === 'password' && context.password === password))
      if (isKnown) context.accept()
      else context.reject(['publickey', 'password'])
    })
    connection.on('ready', () =>
      connection.on('session', (accept) =>
        accept().on('sftp', (acceptSftp) => serve(acceptSftp(), connection)),
      ),
    )
  })

  function serve(sftp: SFTPWrapper, connection: Connection): void {
    const open = new Map<number, number>()
    sftp.on('error', () => {})
    /** Answers a request, or fails it. */
    const answer = (moment: Moment, id: number, work: () => void) => {
      const how = fails(moment)
      if (how === 'hang') return
      if (how === 'wait') return void waiting.push(() => answer(moment, id, work))
      if (how === 'cut') return void destroy(connection)
      if (how === 'failure') return sftp.status(id, status.FAILURE)
      try {
        work()
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        sftp.status(id, code === 'ENOENT' ? status.NO_SUCH_FILE : status.FAILURE)
      }
    }
    const local = (name: string) => join(path, name)
    sftp.on('OPEN', (id, name, flags) =>
      answer('open', id, () => {
        log.push(`open ${name}`)
        const file = openSync(local(name), flags & mode.WRITE ? 'w' : 'r')
        open.set(file, file)
        look()
        sftp.handle(id, handleOf(file))
      }),
    )
    sftp.on('WRITE', (id, handle, offset, data) =>
      answer('write', id, () => {
        writeSync(handle.readUInt32BE(0), data, 0, data.length, offset)
        look()
        sftp.status(id, status.OK)
      }),
    )
    sftp.on('READ', (id, handle, offset, length) =>
      answer('write', id, () => {
        const block = Buffer.alloc(Math.min(length, 10_000))
        const count = readSync(handle.readUInt32BE(0), block, 0, block.length, offset)
        if (count === 0) sftp.status(id, status.EOF)
        else sftp.data(id, block.subarray(0, count))
      }),
    )
    sftp.on('FSTAT', (id, handle) => sftp.attrs(id, attributes(fstatSync(handle.readUInt32BE(0)))))
    const stat = (id: number, name: string) =>
      answer('stat', id, () => sftp.attrs(id, attributes(statSync(local(name)))))
    sftp.on('STAT', stat)
    sftp.on('LSTAT', stat)
    sftp.on('CLOSE', (id, handle) =>
      answer('close', id, () => {
        if (!handle.equals(folderHandle)) closeSync(handle.readUInt32BE(0))
        sftp.status(id, status.OK)
      }),
    )
    sftp.on('RENAME', (id, from, to) =>
      answer('rename', id, () => {
        log.push(`rename ${from} ${to}`)
        renameSync(local(from), local(to))
        look()
        answer('renamed', id, () => sftp.status(id, status.OK))
      }),
    )
    sftp.on('REMOVE', (id, name) =>
      answer('rename', id, () => {
        log.push(`remove ${name}`)
        unlinkSync(local(name))
        sftp.status(id, status.OK)
      }),
    )
    let listed = false
    let listing = path
    sftp.on('OPENDIR', (id, name) =>
      answer('stat', id, () => {
        listed = false
        listing = local(name)
        statSync(listing)
        sftp.handle(id, folderHandle)
      }),
    )
    sftp.on('READDIR', (id) => {
      if (folder.endless !== undefined) {
        const attrs = attributes(statSync(path))
        const entry = (filename: string) => ({ filename, longname: filename, attrs }) as never
        return sftp.name(id, folder.endless.map(entry))
      }
      if (listed) return sftp.status(id, status.EOF)
      listed = true
      const names = readdirSync(listing).map((filename): FileEntryWithStats => {
        const attrs = attributes(statSync(join(listing, filename)))
        return { filename, longname: filename, attrs } as never
      })
      if (names.length === 0) sftp.status(id, status.EOF)
      else sftp.name(id, names as never)
    })
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const result: Omit<SftpFolder, 'endless'> = {
    port: (server.address() as AddressInfo).port,
    hostKey: fingerprintOf(parsed.getPublicSSH()),
    ...{ path, user, password, log },
    fail(moment, how, after = 0) {
      failing = { moment, how, after }
    },
    heal() {
      failing = undefined
      const answers = waiting
      waiting = []
      for (const one of answers) one()
    },
    watch(next) {
      look = next
    },
    async close() {
      for (const connection of connections) destroy(connection)
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(path, { recursive: true })
    },
  }
  return Object.assign(folder, result)
}

/** Without a farewell, as when the machine is gone. */
function destroy(connection: Connection): void {
  socketOf(connection)?.destroy()
}

const socketOf = (connection: Connection) => (connection as unknown as { _sock?: Socket })._sock

function handleOf(file: number): Buffer {
  const handle = Buffer.alloc(4)
  handle.writeUInt32BE(file)
  return handle
}

const attributes = ({ mode, uid, gid, size, atimeMs, mtimeMs }: import('node:fs').Stats) => ({
  ...{ mode, uid, gid, size },
  atime: Math.floor(atimeMs / 1000),
  mtime: Math.floor(mtimeMs / 1000),
})
