/**
 * Private keys for logins at SFTP servers, checked before they are stored. A key may be made to keep this process
 * busy: signing takes time with the cube of its bits, and OpenSSL goes a longer way with numbers that do not fit.
 */
import {
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { limits } from '@tollgate/schemas'
import { isOpenSshKey, readOpenSshKey } from './openssh-key.ts'

const { min, max } = limits.rsaKeyBits
const kinds =
  'must be a private key in OpenSSH format, or RSA or ECDSA in PEM, without a passphrase'
const unfit = 'must be an RSA key whose numbers belong together'

/** Curves of SSH, by their names in OpenSSL. */
const curves: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/**
 * @returns the key in a format that SSH libraries read: they know PKCS #1 and SEC 1, but not PKCS #8. Or why it
 * cannot be used: words that complete "login.privateKey …".
 */
export function readLoginKey(text: string): { readonly key: string } | string {
  try {
    const isOwnFormat = isOpenSshKey(text)
    const key = isOwnFormat ? readOpenSshKey(text) : createPrivateKey(text)
    if (key.asymmetricKeyType === 'rsa') return readRsa(key)
    if (key.asymmetricKeyType === 'ed25519' && isOwnFormat) {
      return isProven(key, key) ? { key: text.trim() } : kinds
    }
    if (!curves.has(key.asymmetricKeyDetails?.namedCurve) || !isProven(key, key)) return kinds
    return { key: String(key.export({ type: 'sec1', format: 'pem' })) }
  } catch {
    return kinds
  }
}

function readRsa(key: KeyObject): { readonly key: string } | string {
  const { modulusLength: bits = 0 } = key.asymmetricKeyDetails ?? {}
  if (bits < min || bits > max) return `must be an RSA key of ${min} to ${max} bits`
  const numbers = key.export({ format: 'jwk' })
  const { kty: _, ...lengths } = numbers
  if (Object.values(lengths).some((number) => bitsOf(number) > bits)) return unfit
  // Without its long exponent, which OpenSSL takes when the primes and their exponents do not fit.
  const short = createPrivateKey({ key: { ...numbers, d: 'AQ' } as JsonWebKey, format: 'jwk' })
  if (!isProven(short, key)) return unfit
  return { key: String(key.export({ type: 'pkcs1', format: 'pem' })) }
}

/** Whether the public half of `whole` verifies a signature with `key`. */
function isProven(key: KeyObject, whole: KeyObject): boolean {
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  const bytes = Buffer.from('a login of Tollgate')
  return verify(digest, bytes, createPublicKey(whole), sign(digest, bytes, key))
}

function bitsOf(base64url: unknown): number {
  const hex = Buffer.from(String(base64url), 'base64url').toString('hex').replace(/^0+/, '')
  return hex === '' ? 0 : hex.length * 4 - Math.clz32(Number.parseInt(hex[0]!, 16)) + 28
}
