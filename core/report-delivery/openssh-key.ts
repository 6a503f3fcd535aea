/** Private keys in OpenSSH's own format, `openssh-key-v1`, without a passphrase. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { type RsaNumbers, trimmed } from './rsa-numbers.ts'

const form =
  /^-----BEGIN OPENSSH PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END OPENSSH PRIVATE KEY-----$/
const magic = Buffer.from('openssh-key-v1\0')
/** Names of curves in SSH and in JWK, and the bytes of a number. */
const curves: Readonly<Record<string, readonly [string, number]>> = {
  nistp256: ['P-256', 32],
  nistp384: ['P-384', 48],
  nistp521: ['P-521', 66],
}

export const isOpenSshKey = (text: string): boolean =>
  text.trim().startsWith('-----BEGIN OPENSSH PRIVATE KEY-----')

/**
 * Reads the whole structure: one key, not encrypted, with nothing left over. Numbers are not proven here.
 *
 * @throws Error for anything else.
 */
export function readOpenSshKey(text: string): KeyObject | RsaNumbers {
  const bytes = bytesOf(text)
  if (!bytes.subarray(0, magic.length).equals(magic)) throw broken()
  const file = new Reader(bytes, magic.length)
  const [cipher, derivation, options] = [file.text(), file.text(), file.field()]
  if (cipher !== 'none' || derivation !== 'none' || options.length > 0) throw broken()
  if (file.count() !== 1) throw broken()
  // The public half, which the private part repeats.
  file.field()
  const secret = new Reader(file.field())
  file.end()
  const [check, again] = [secret.count(), secret.count()]
  if (check !== again) throw broken()
  const key = readKey(secret)
  // A comment, and bytes that count up to the next whole block.
  secret.field()
  for (let next = 1; secret.hasMore; next += 1) if (secret.byte() !== next) throw broken()
  return key
}

/** The same file in lines as OpenSSH writes them: libraries read no key whose line breaks became blanks in a form. */
export function rebuilt(text: string): string {
  const lines = bytesOf(text)
    .toString('base64')
    .match(/.{1,70}/g)!
  const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} OPENSSH PRIVATE KEY-----`)
  return [begin, ...lines, end].join('\n')
}

function bytesOf(text: string): Buffer {
  const [, base64] = form.exec(text.trim()) ?? []
  if (base64 === undefined) throw broken()
  return Buffer.from(base64, 'base64')
}

function readKey(from: Reader): KeyObject | RsaNumbers {
  const type = from.text()
  if (type === 'ssh-rsa') return rsa(from)
  if (type === 'ssh-ed25519') {
    const [x, d] = [from.field(), from.field()]
    if (x.length !== 32 || d.length !== 64 || !d.subarray(32).equals(x)) throw broken()
    const key = keyOf({ kty: 'OKP', crv: 'Ed25519', x: text(x), d: text(d.subarray(0, 32)) })
    // The library works the public half out and leaves `x` unread.
    if (createPublicKey(key).export({ format: 'jwk' }).x !== text(x)) throw broken()
    return key
  }
  const curve = from.text()
  const [crv, size] = curves[curve] ?? []
  const [point, d] = [from.field(), from.number()]
  if (crv === undefined || size === undefined || type !== `ecdsa-sha2-${curve}`) throw broken()
  // A point that is not compressed.
  if (point.length !== 1 + 2 * size || point[0] !== 4 || d.length > size) throw broken()
  return keyOf({
    kty: 'EC',
    crv,
    x: text(point.subarray(1, 1 + size)),
    y: text(point.subarray(1 + size)),
    d: text(Buffer.concat([Buffer.alloc(size - d.length), d])),
  })
}

function rsa(from: Reader): RsaNumbers {
  const next = () => from.number()
  const [n, e, d, qi, p, q] = [next(), next(), next(), next(), next(), next()]
  // The format leaves two numbers out.
  return { n, e, d, p, q, qi, dp: rest(d, p), dq: rest(d, q) }
}

function rest(exponent: Buffer, prime: Buffer): Buffer {
  const [whole, one] = [exponent, prime].map((bytes) => BigInt(`0x0${bytes.toString('hex')}`))
  const hex = (whole! % (one! - 1n)).toString(16)
  return trimmed(Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'))
}

const text = (bytes: Buffer) => bytes.toString('base64url')
const keyOf = (key: Readonly<Record<string, string>>) => createPrivateKey({ key, format: 'jwk' })
const broken = () => new Error('no whole private key of one of the known types')

/** Fields with their length before them. */
class Reader {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes
    this.#at = at
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length
  }

  count(): number {
    return this.#next(4).readUInt32BE()
  }

  byte(): number {
    return this.#next(1)[0]!
  }

  field(): Buffer {
    return this.#next(this.count())
  }

  text(): string {
    return this.field().toString('latin1')
  }

  /** A whole number without the zeros before it. */
  number(): Buffer {
    return trimmed(this.field())
  }

  end(): void {
    if (this.hasMore) throw broken()
  }

  #next(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw broken()
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return bytes
  }
}
