import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, unzip } from 'node:zlib'
import { type HttpAnswer, readJson, readText } from '@tollgate/plugin-kit'

const decompressions = {
  gzip: promisify(unzip),
  'x-gzip': promisify(unzip),
  deflate: promisify(unzip),
  br: promisify(brotliDecompress),
}

/** The encodings of `decompress`, for an Accept-Encoding header. */
export const acceptedEncodings = 'gzip, br'

export type Decompressed =
  | { readonly is: 'body'; readonly body: Buffer }
  | { readonly is: 'too-large' }
  | { readonly is: 'unreadable' }

/**
 * Undoes one content encoding: at most one layer, and at most `maxBytes` of output.
 */
export async function decompress(
  body: Buffer,
  encoding: string,
  maxBytes: number,
): Promise<Decompressed> {
  const name = encoding.trim().toLowerCase()
  if (body.length === 0 || name === '' || name === 'identity') return { is: 'body', body }
  if (!isKnown(name)) return { is: 'unreadable' }
  try {
    return { is: 'body', body: await decompressions[name](body, { maxOutputLength: maxBytes }) }
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    return { is: tooLarge ? 'too-large' : 'unreadable' }
  }
}

function isKnown(name: string): name is keyof typeof decompressions {
  return Object.hasOwn(decompressions, name)
}

/** Header names in lower case, repeated ones joined as the standard allows. */
export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return plain
}

export function answerOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): HttpAnswer {
  return {
    status,
    headers,
    body,
    text: () => readText(body),
    json() {
      try {
        return readJson(body)
      } catch {
        throw new Error(`The answer is not JSON (status ${status}, ${body.length} bytes).`)
      }
    },
  }
}
