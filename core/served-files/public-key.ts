/** Public keys of SSH as people paste them: `ssh-ed25519 AAAA… name`. */
import { createHash } from 'node:crypto'
import { limits } from '@tollgate/schemas'

export type PublicKey = {
  readonly type: string
  /** The key in wire format, which begins with its type. */
  readonly bytes: Buffer
  /** The words after the key. */
  readonly comment: string | undefined
}

const { min, max } = limits.rsaKeyBits
/** Real keys have 65537 or less. A long one makes the check of a signature as slow as a signature. */
const exponentBits = 32
const curves: Readonly<Record<string, number>> = {
  'ecdsa-sha2-nistp256': 65,
  'ecdsa-sha2-nistp384': 97,
  'ecdsa-sha2-nistp521': 133,
}

/** @returns the key, or a text that completes "publicKey …". */
export function readPublicKey(text: string): PublicKey | string {
  const lines = text.trim().split(/\r?\n/)
  const [type = '', base64 = '', ...comment] = lines[0]!.trim().split(/[ \t]+/)
  if (/PRIVATE KEY/.test(text))
    return 'must be the public key; the private key stays with its owner'
  if (lines.length !== 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    return 'must be one line as in authorized_keys: a type, the key, and a name'
  }
  const bytes = Buffer.from(base64, 'base64')
  const fields = fieldsOf(bytes)
  if (fields === undefined || fields[0]?.toString('latin1') !== type) {
    return 'must be a whole key whose type is the word before it'
  }
  const why = unfit(type, fields)
  if (why !== undefined) return why
  return { type, bytes, comment: comment.length === 0 ? undefined : comment.join(' ') }
}

function unfit(type: string, fields: readonly Buffer[]): string | undefined {
  if (type === 'ssh-ed25519') {
    return fields.length === 2 && fields[1]!.length === 32 ? undefined : 'must be a whole key'
  }
  if (type === 'ssh-rsa') {
    if (fields.length !== 3) return 'must be a whole key'
    const [exponent, modulus] = fields.slice(1).map(bitsOf) as [number, number]
    if (modulus < min || modulus > max) return `must be an RSA key of ${min} to ${max} bits`
    if (exponent <= exponentBits) return undefined
    return `must be an RSA key whose exponent has at most ${exponentBits} bits, as 65537 has`
  }
  const length = curves[type]
  if (length === undefined) {
    return `must be of the type ssh-ed25519, ssh-rsa, ${Object.keys(curves).join(', ')}`
  }
  return fields.length === 3 && fields[2]!.length === length ? undefined : 'must be a whole key'
}

function bitsOf(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (number.length - first) * 8 - Math.clz32(number[first]!) + 24
}

/** Strings with their length before them; undefined when the bytes end in the middle of one. */
function fieldsOf(bytes: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) return undefined
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) return undefined
    fields.push(bytes.subarray(at + 4, end))
    at = end
  }
  return fields
}

/** `SHA256:` and the digest in base64 without padding, as `ssh-keygen -lf` shows it. */
export const fingerprintOf = (bytes: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(bytes).digest('base64').replaceAll('=', '')}`
