/** The numbers of an RSA private key, measured before OpenSSL works with them. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { limits } from '@tollgate/schemas'

/** Without zeros before them. */
export type RsaNumbers = Readonly<Record<'n' | 'e' | 'd' | 'p' | 'q' | 'dp' | 'dq' | 'qi', Buffer>>

export const unfitNumbers = 'must be an RSA key whose numbers belong together'

const { min, max } = limits.rsaKeyBits
/** Real keys have 65537 or less. OpenSSL raises to the exponent in every signature, to hide how long it takes. */
const exponentBits = 32
/** How much longer than half of the modulus a prime may be. */
const spareBits = 8

/** Why no signature may be made with them: words that complete "login.privateKey …". */
export function unfit({ n, e, d, p, q, dp, dq, qi }: RsaNumbers): string | undefined {
  const bits = bitsOf(n)
  if (bits < min || bits > max) return `must be an RSA key of ${min} to ${max} bits`
  if (bitsOf(e) > exponentBits) {
    return `must be an RSA key whose exponent has at most ${exponentBits} bits, as 65537 has`
  }
  // With 1 a message is its own signature, which would prove any other numbers; no key has an even one.
  if (bitsOf(e) < 2 || e.at(-1)! % 2 === 0) {
    return 'must be an RSA key whose exponent is odd and 3 or more, as 65537 is'
  }
  const half = Math.ceil(bits / 2) + spareBits
  const within: readonly (readonly [Buffer, number])[] = [
    [d, bits],
    ...[p, q].map((prime) => [prime, half] as const),
    [dp, bitsOf(p)],
    [dq, bitsOf(q)],
    [qi, bitsOf(p)],
  ]
  return within.every(([number, most]) => bitsOf(number) <= most) ? undefined : unfitNumbers
}

export function rsaKey(numbers: RsaNumbers): KeyObject {
  const texts = Object.entries(numbers).map(([name, bytes]) => [name, bytes.toString('base64url')])
  return createPrivateKey({ key: { kty: 'RSA', ...Object.fromEntries(texts) }, format: 'jwk' })
}

/** The bytes of a number without the zeros before them. */
export function trimmed(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0)
  return first < 0 ? Buffer.alloc(0) : bytes.subarray(first)
}

const bitsOf = (number: Buffer): number =>
  number.length === 0 ? 0 : number.length * 8 - Math.clz32(number[0]!) + 24
