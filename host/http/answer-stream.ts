import type { ReplyStream } from '@tollgate/core'
import { limits } from '@tollgate/schemas'
import { type AnswerHeaders, pieceBytes } from './answer.ts'
import type { Connection, HttpAnswer } from './exchange.ts'
import { apiHeaders } from './security-headers.ts'

/** Memory of a streamed answer: the part that is read, and the piece that is being sent. */
export const streamCost = limits.reportPartBytes

/** The connection of an answer, and what is told about its progress. */
export type Receiver = {
  readonly response: HttpAnswer
  readonly socket: Connection
  readonly requestId: string
  readonly closing: boolean
  /** Called with every piece that has gone. */
  readonly moved: () => void
  /** Throws once the client may read no more. Called before every piece. */
  readonly mayRead: () => Promise<void>
}

/**
 * Sends an answer while it is made: a piece follows when the one before has gone, so a slow client slows
 * down the work behind the answer. When the client goes, the work ends. When the client's rights end,
 * its connection ends as well, because an answer that has begun can say nothing else.
 *
 * @throws what the work throws. Before the first piece, nothing has been sent yet.
 */
export async function sendStream(
  { response, socket, requestId, closing, moved, mayRead }: Receiver,
  status: number,
  stream: ReplyStream,
  more: AnswerHeaders,
): Promise<void> {
  const chunks = stream.open()[Symbol.asyncIterator]()
  const isGone = () => response.destroyed || socket.destroyed
  try {
    let next = await chunks.next()
    if (isGone() || response.headersSent) return
    response.writeHead(status, headersOf(stream, more, requestId, closing))
    for (; next.done !== true; next = await chunks.next()) {
      const { value: chunk } = next
      for (let at = 0; at < chunk.length; at += pieceBytes) {
        if (isGone()) return
        const isRefused = await mayRead().then(
          () => false,
          () => true,
        )
        if (isRefused) {
          socket.destroy()
          return
        }
        await sent(response, socket, chunk.subarray(at, at + pieceBytes))
        moved()
      }
    }
    if (!isGone()) response.end()
  } finally {
    await chunks.return?.()
  }
}

function headersOf(
  { type, bytes }: ReplyStream,
  more: AnswerHeaders,
  requestId: string,
  closing: boolean,
): string[] {
  const headers = ['Content-Type', type, ...apiHeaders, 'X-Request-Id', requestId]
  if (bytes !== undefined) headers.push('Content-Length', String(bytes))
  for (const name in more) headers.push(name, more[name]!)
  if (closing) headers.push('Connection', 'close')
  return headers
}

/** Ends with the connection as well: a response in a queue learns nothing about it. */
function sent(response: HttpAnswer, socket: Connection, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('close', done)
      resolve()
    }
    socket.once('close', done)
    response.write(piece, done)
  })
}
