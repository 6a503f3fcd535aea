import type { ServerResponse } from 'node:http'
import { sendJson } from '../respond.ts'
import type { Acquirer } from '../server.ts'
import { millisecondsOf, optional, WireError } from '../wire.ts'

/** The largest part of a file in one answer. */
export const partBytes = 512 * 1024

/** GET /settlements: the files behind a day, oldest first. Days that are over are settled first. */
export async function answerSettlements(
  { books, time }: Acquirer,
  merchantId: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const at = optional(query.get('at') ?? undefined, 'at', (text, name) =>
    millisecondsOf(Number(text), name),
  )
  const after = query.get('after') ?? ''
  const days = books.settle(merchantId, at ?? time.now()).filter(({ day }) => day > after)
  await books.safe()
  const files = days.map(({ day, text }) => ({ day, bytes: Buffer.byteLength(text) }))
  sendJson(response, 200, { files })
}

/** GET /settlements/<day>: a part of a file, from a byte on. Settles nothing. */
export function answerSettlementFile(
  { books }: Acquirer,
  merchantId: string,
  day: string,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  const from = query.get('from') ?? '0'
  if (!/^[0-9]{1,12}$/.test(from)) throw new WireError('from must be a whole number of bytes')
  const found = books.settledDay(merchantId, day)
  if (found === undefined) {
    sendJson(response, 404, { refused: 'no file of this day' })
    return
  }
  const part = Buffer.from(found.text).subarray(Number(from), Number(from) + partBytes)
  response.writeHead(200, { 'content-type': 'text/csv', 'content-length': part.length })
  response.end(part)
}
