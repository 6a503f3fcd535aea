/** The reply that a connector gives to a message of its acquirer, checked before it becomes HTTP. */
import type { InboundReply } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'

export class WrongReply extends Error {
  override readonly name = 'WrongReply'
}

/** A type and its parameters; a line break would begin another header. */
const mediaType = /^[\w.+-]{1,64}\/[\w.+-]{1,64}(; ?[\w-]{1,32}=[\w."-]{1,64}){0,4}$/

/** @throws WrongReply naming the part that is wrong. */
export function checkedReply(given: unknown): Required<InboundReply> {
  if (typeof given !== 'object' || given === null) throw new WrongReply('the reply is no object')
  const {
    status = 200,
    contentType = 'text/plain; charset=utf-8',
    body = '',
  } = given as Readonly<Record<string, unknown>>
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 299) {
    throw new WrongReply('status must be a whole number from 200 to 299')
  }
  if (typeof contentType !== 'string' || !mediaType.test(contentType)) {
    throw new WrongReply('contentType must be a media type such as text/plain')
  }
  if (typeof body !== 'string' || body.length > limits.eventReplyCharacters) {
    throw new WrongReply(`body must be a text of at most ${limits.eventReplyCharacters} characters`)
  }
  return { status, contentType, body }
}
