/** Key-encryption keys in a key server that speaks the transit API of HashiCorp Vault. */
import { type HttpAnswer, HttpError, Sensitive } from '@tollgate/plugin-kit'
import pRetry from 'p-retry'
import { systemClock } from '../clock.ts'
import { newKeyBytes } from '../crypto/cipher.ts'
import { createOutgoing, type OutgoingOptions } from '../net/http.ts'
import { type KeyProvider, KeyProviderError, MissingKeyError, type WrappedKey } from './keys.ts'

export type TransitOptions = {
  /** `https://vault.example.com:8200`. */
  readonly url: string
  /** Name of the key in the server. */
  readonly key: string
  /** Where the transit engine is mounted. Default `transit`. */
  readonly mount?: string
  /** Sent as X-Vault-Token. A function is asked before every request: tokens are renewed outside. */
  readonly token: string | (() => string | Promise<string>)
  /** Sent as X-Vault-Namespace. */
  readonly namespace?: string
  /**
   * Addresses or CIDR blocks beside the public ones that the server may have, as in `10.1.0.0/16`.
   * Nothing private is reached unless it is named here.
   */
  readonly allow?: readonly string[]
  /** The server, or its agent, is on this machine: also by plain http. Default false. */
  readonly allowLoopback?: boolean
  /** PEM certificates of authorities trusted beside the usual ones. */
  readonly ca?: readonly string[]
  /** Longest that one request may take, in milliseconds; a failed one is sent again twice. Default 4,000. */
  readonly timeoutMs?: number
  /** The name in messages. Default `the key server <url>`. */
  readonly name?: string
  /** Answers names instead of the machine's resolver. */
  readonly lookup?: NonNullable<OutgoingOptions['lookup']>
}

/** Three tries in all. */
const pauses = { retries: 2, minTimeout: 300, factor: 3 } as const
const maxBytes = 65_536
const cipherText = /^vault:v([1-9][0-9]{0,8}):[A-Za-z0-9+/=]{16,4096}$/
const pathPart = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/

/**
 * A provider whose keys never leave the server. Needs `update` on encrypt, decrypt and rewrap of the
 * one key. Key ids are `transit:<mount>/<key>:v<version>`, with the version that the server used.
 *
 * @throws Error when the URL, the names or the addresses cannot be used.
 */
export function transitKeys(options: TransitOptions): KeyProvider {
  const { key, mount = 'transit', timeoutMs = 4_000 } = options
  const base = URL.parse(options.url)
  if (base === null || base.username !== '' || base.search !== '') {
    throw new Error('The URL of the key server must be complete, without a login or a query.')
  }
  if (![key, ...mount.split('/')].every((part) => pathPart.test(part))) {
    throw new Error('Key and mount of the key server are letters, digits, "_", "-" and ".".')
  }
  const name = options.name ?? `the key server ${base.origin}`
  const root = `${base.origin}${base.pathname.replace(/\/$/, '')}/v1/${mount}`
  const prefix = `transit:${mount}/${key}:v`
  const outgoing = createOutgoing({
    name: 'vault',
    allowLoopback: options.allowLoopback === true,
    ...(options.allow && { allow: options.allow }),
    ...(options.ca && { ca: options.ca }),
    ...(options.lookup && { lookup: options.lookup }),
  })

  const post = async (
    action: 'encrypt' | 'decrypt' | 'rewrap',
    json: Readonly<Record<string, string | Sensitive>>,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const { token: given } = options
    const token = typeof given === 'string' ? given : await given()
    const headers = {
      'x-vault-token': new Sensitive(token.trim()),
      'x-vault-request': 'true',
      ...(options.namespace !== undefined && { 'x-vault-namespace': options.namespace }),
    }
    const call = outgoing.forCall({
      deadlineMs: systemClock.elapsedMs() + timeoutMs,
      sendBy: { monotonicMs: Number.POSITIVE_INFINITY, wallMs: Number.POSITIVE_INFINITY },
      signal,
    })
    const url = `${root}/${action}/${key}`
    const answer = await call.http.post(url, json, { headers, timeoutMs, maxBytes })
    if (answer.status === 200) return dataOf(answer, name)
    throw new Refused(answer.status, wordsOf(answer))
  }

  /** Encrypting and decrypting twice does no harm, so a server that stumbles is asked again. */
  const ask: typeof post = async (action, json, signal) => {
    try {
      return await pRetry(() => post(action, json, signal), {
        ...pauses,
        shouldRetry: ({ error }) =>
          !signal.aborted && (error instanceof Refused ? error.mayPass : isPassing(error)),
      })
    } catch (error) {
      if (error instanceof Refused || error instanceof KeyProviderError) throw error
      if (error instanceof HttpError) {
        throw new KeyProviderError(`${name} does not answer: ${error.message}`)
      }
      throw new KeyProviderError(`${name} cannot be asked: its token cannot be read.`)
    }
  }

  const wrapping = (data: Readonly<Record<string, unknown>>): WrappedKey => {
    const found = cipherText.exec(String(data.ciphertext))
    if (found === null) throw new KeyProviderError(`${name} gave no ciphertext of the transit API.`)
    return { keyId: `${prefix}${found[1]}`, wrapped: Buffer.from(found[0]) }
  }
  const wrap = async (dataKey: Buffer, signal: AbortSignal) => {
    const plaintext = new Sensitive(dataKey.toString('base64'))
    return wrapping(await ask('encrypt', { plaintext }, signal).catch(refusedOf(name)))
  }
  const unwrap = async (keyId: string, wrapped: Buffer, signal: AbortSignal) => {
    if (!keyId.startsWith(prefix)) throw notHere(keyId)
    const data = await ask('decrypt', { ciphertext: wrapped.toString() }, signal).catch(
      refusedOf(name, keyId),
    )
    const { plaintext } = data
    if (typeof plaintext === 'string' && /^[A-Za-z0-9+/]{43}=$/.test(plaintext)) {
      return Buffer.from(plaintext, 'base64')
    }
    throw new KeyProviderError(`${name} gave something that is no data key for key "${keyId}".`)
  }
  const notHere = (keyId: string) =>
    new MissingKeyError(
      keyId,
      `This database was sealed with key "${keyId}", which is not in ${name} (its key is "${mount}/${key}").`,
    )
  return {
    name,
    holds: (keyId) => keyId.startsWith(prefix),
    async currentKeyId(signal) {
      // Reading the key's description needs a right of its own; wrapping tells the version as well.
      return (await wrap(newKeyBytes(), signal)).keyId
    },
    wrap,
    unwrap,
    async rewrap(keyId, wrapped, signal) {
      if (!keyId.startsWith(prefix)) throw notHere(keyId)
      const ciphertext = wrapped.toString()
      return wrapping(await ask('rewrap', { ciphertext }, signal).catch(refusedOf(name, keyId)))
    },
    async check(signal) {
      const probe = newKeyBytes()
      const { keyId, wrapped } = await wrap(probe, signal)
      if (probe.equals(await unwrap(keyId, wrapped, signal))) return
      throw new KeyProviderError(`${name} does not give back what it was given.`)
    },
    close: () => outgoing.close(),
  }
}

/** The server answered, with another status than 200. */
class Refused extends Error {
  readonly status: number

  constructor(status: number, words: string) {
    super(words === '' ? `${status}` : `${status}, ${words}`)
    this.status = status
  }

  get mayPass(): boolean {
    return this.status >= 500 || this.status === 429 || this.status === 412
  }
}

/** Interprets a refusal: a 400 to a decrypt means that the key does not open these bytes. */
function refusedOf(name: string, keyId?: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Refused)) throw error
    if (error.status === 400 && keyId !== undefined) {
      throw new MissingKeyError(
        keyId,
        `Key "${keyId}" of ${name} does not open what this database was sealed with (${error.message}).`,
      )
    }
    const hint =
      error.status === 403
        ? ' Is its token valid, and may it use this key?'
        : error.status === 404
          ? ' Is the transit engine mounted there, and does the key exist?'
          : ''
    throw new KeyProviderError(`${name} refused: ${error.message}.${hint}`)
  }
}

function bodyOf(answer: HttpAnswer): Readonly<Record<string, unknown>> {
  try {
    const body = answer.json()
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function dataOf(answer: HttpAnswer, name: string): Readonly<Record<string, unknown>> {
  const { data } = bodyOf(answer)
  if (typeof data === 'object' && data !== null) return data as Record<string, unknown>
  throw new KeyProviderError(`${name} answered something that is not of the transit API.`)
}

/** The first of the server's own words, short, and without what could be a key or a token. */
function wordsOf(answer: HttpAnswer): string {
  const { errors } = bodyOf(answer)
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  if (typeof first !== 'string') return ''
  const words = first.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
  return words.replaceAll(/[A-Za-z0-9+/=_.-]{24,}/g, '…').trim()
}

/** The address guard would refuse again. */
function isPassing(error: unknown): boolean {
  return error instanceof HttpError && error.code !== 'refused-address' && error.code !== 'aborted'
}
