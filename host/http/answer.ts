import { buildNumber, type Reply, wireTimestamp } from '@tollgate/core'
import { resultDescription } from '@tollgate/schemas'
import type { HttpAnswer } from './exchange.ts'
import type { FlatHeaders } from './security-headers.ts'
import { apiHeaders } from './security-headers.ts'

/** A text with the headers that go with it; bytes where it is the same for everybody and kept once. */
export type Document = {
  readonly headers: FlatHeaders
  readonly text: string | Buffer
  /** 200 unless given. */
  readonly status?: number
}

/** Larger answers go in pieces of this size, each after the one before has gone. */
export const pieceBytes = 64 * 1024

const json: FlatHeaders = ['Content-Type', 'application/json;charset=UTF-8', ...apiHeaders]

/** Headers that this answer has beside the usual ones. */
export type AnswerHeaders = Readonly<Record<string, string>>

/** A reply of the engine as it goes over the wire. */
export const documentOf = ({ body }: Reply): Document => ({
  headers: json,
  text: JSON.stringify(body),
})

/** Writes a reply of the engine in one piece. */
export function sendReply(
  response: HttpAnswer,
  reply: Reply,
  requestId: string,
  closing: boolean,
): void {
  send(response, reply.status, documentOf(reply), requestId, closing, reply.headers)
}

/** Memory of a response until it has been sent; shared documents count one piece at a time. */
export const costOf = ({ text }: Document): number =>
  typeof text === 'string' ? Buffer.byteLength(text) : Math.min(text.length, pieceBytes)

export function send(
  response: HttpAnswer,
  status: number,
  { headers, text }: Document,
  requestId: string,
  closing: boolean,
  more: AnswerHeaders = {},
  moved: () => void = () => {},
): void {
  if (response.headersSent || response.destroyed) return
  const all = [...headers, 'X-Request-Id', requestId]
  // The length of an unchanged document is that of the document, which is not sent again.
  if (status !== 304) all.push('Content-Length', String(Buffer.byteLength(text)))
  for (const name in more) all.push(name, more[name]!)
  if (closing) all.push('Connection', 'close')
  response.writeHead(status, all)
  if (text.length <= pieceBytes) response.end(text)
  else void sendPieces(response, typeof text === 'string' ? Buffer.from(text) : text, moved)
}

/** Shows how far a slow client has read; `moved` is called with every piece. */
async function sendPieces(response: HttpAnswer, bytes: Buffer, moved: () => void): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (response.destroyed) return
    const piece = bytes.subarray(at, at + pieceBytes)
    await new Promise<void>((gone) => void response.write(piece, () => gone()))
    moved()
  }
  response.end()
}

/** The answer of operations that have nothing to say but that they worked. */
export function done(requestId: string): Reply {
  return {
    status: 200,
    headers: {},
    body: {
      id: requestId,
      result: { code: '000.000.100', description: resultDescription('000.000.100') },
      buildNumber,
      timestamp: wireTimestamp(new Date()),
      ndc: requestId,
    },
  }
}
