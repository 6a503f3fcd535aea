/** What an SSH server may send: the library answers all of it, and keeps the answers that the server does not read. */
import type { Socket } from 'node:net'
import { TransferError } from '@tollgate/plugin-kit'

/** Received before the login. Key exchange, banner and dialogue take a few KB. */
const loginBytes = 131_072
/** Received without an answer of SFTP. One answer has 256 KB at most. */
const quietBytes = 524_288
/** Unsent. A file has 512 KB under way. */
const unsentBytes = 2_097_152

/** @param end ends the connection for the reason */
export function limitServer(
  socket: Socket,
  host: string,
  end: (reason: TransferError) => void,
): {
  /** To be called once. */
  loggedIn(): void
  /** To be called for every answer of SFTP. */
  answered(): void
} {
  let [most, heard] = [loginBytes, 0]
  // The library listens later, and resumes.
  socket.pause()
  socket.on('data', ({ length }) => {
    heard += length
    if (heard > most || socket.writableLength > unsentBytes) {
      const what = most === loginBytes ? 'a login' : 'an answer'
      return end(new TransferError('protocol', `${host} sends more than ${what} takes`))
    }
    // One block at a turn: Node would read two MB at once, whose packets stop everything else for seconds.
    socket.pause()
    setImmediate(() => socket.resume())
  })
  const answered = () => {
    heard = 0
  }
  return {
    answered,
    loggedIn() {
      most = quietBytes
      answered()
    },
  }
}
