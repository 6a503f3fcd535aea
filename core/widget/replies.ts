/** Files of the widget as responses: bytes, and the headers that browsers need beside them. */
import { promisify } from 'node:util'
import { brotliCompress as compress, constants } from 'node:zlib'
import type { StoredFile } from '../widget-files/files.ts'

const brotliCompress = promisify(compress)

export type WidgetReply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Headers of a request that change the response. */
export type WidgetAsked = {
  readonly ifNoneMatch?: string | undefined
  readonly acceptEncoding?: string | undefined
}

const nothing = new Uint8Array()

export const noFile: WidgetReply = {
  status: 404,
  headers: {
    'Content-Type': 'text/plain;charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  },
  body: Buffer.from('There is no such file.'),
}

/** Scripts and styles are the same for everyone, so pages of every origin may load them, also under COEP. */
const forEveryone = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Timing-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** @param caching of the address: for ever under a hash, less where the address stays and the bytes change. */
export async function fileReply(
  file: StoredFile,
  hash: string,
  caching: string,
  { ifNoneMatch, acceptEncoding }: WidgetAsked,
): Promise<WidgetReply> {
  const headers = {
    ...forEveryone,
    'Content-Type': file.type,
    'Cache-Control': caching,
    Vary: 'Accept-Encoding',
    ETag: `W/"${hash}"`,
  }
  if (isNamedBy(ifNoneMatch, hash)) return { status: 304, headers, body: nothing }
  if (!takesBrotli(acceptEncoding)) return { status: 200, headers, body: file.bytes }
  const body = await compressed(file)
  return { status: 200, headers: { ...headers, 'Content-Encoding': 'br' }, body }
}

/** The way of a proxy that compresses or not: the comparison is weak. */
const isNamedBy = (header: string | undefined, hash: string): boolean =>
  header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === `"${hash}"`) ?? false

/** Browsers name the encoding over TLS and on the loopback; a quality of zero refuses it. */
const takesBrotli = (header: string | undefined): boolean =>
  header
    ?.split(',')
    .some((part) => /^br(?:;q=(?!0(?:\.0*)?$).*)?$/.test(part.replaceAll(' ', ''))) ?? false

const compressions = new WeakMap<StoredFile, Promise<Buffer>>()

/** Compressed once, and kept as long as the file. */
function compressed(file: StoredFile): Promise<Buffer> {
  const made =
    compressions.get(file) ??
    brotliCompress(file.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
  compressions.set(file, made)
  return made
}

/**
 * A document for the merchant's page. It has no X-Frame-Options, which knows no list of origins, and is never kept:
 * a browser that restored it would restore what a shopper typed.
 *
 * @param ancestors the sources whose pages may show it.
 */
export function frameReply(file: StoredFile, ancestors: readonly string[]): WidgetReply {
  const policy = file.policy ?? "default-src 'none'"
  return {
    status: 200,
    headers: {
      'Content-Type': file.type,
      'Content-Security-Policy': `${policy}; frame-ancestors ${ancestors.join(' ')}`,
      'Cache-Control': 'no-store',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      // Pages of banks, which a frame of the challenge shows, need not know of embedding.
      ...(showsOthers(policy) ? {} : { 'Cross-Origin-Embedder-Policy': 'require-corp' }),
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-DNS-Prefetch-Control': 'off',
    },
    body: file.bytes,
  }
}

const showsOthers = (policy: string): boolean =>
  policy.split(';').some((directive) => directive.trim().startsWith('frame-src '))
