/**
 * Private keys for logins at SFTP servers, checked before they are stored. A key may be made to keep this process
 * busy: signing takes time with the cube of its bits, and OpenSSL goes a longer way with numbers that do not fit.
 */
import { createPublicKey, KeyObject, sign, verify } from 'node:crypto'
import { isOpenSshKey, readOpenSshKey, rebuilt } from './openssh-key.ts'
import { readPemKey } from './pem-key.ts'
import { type RsaNumbers, rsaKey, unfit, unfitNumbers } from './rsa-numbers.ts'

const kinds =
  'must be a private key in OpenSSH format, or RSA or ECDSA in PEM, without a passphrase'

/** Curves of SSH, by their names in OpenSSL. */
const curves: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/**
 * @returns the key in a format that SSH libraries read: they know PKCS #1 and SEC 1, but not PKCS #8. Or why it
 * cannot be used: words that complete "login.privateKey …".
 */
export function readLoginKey(text: string): { readonly key: string } | string {
  try {
    const key = isOpenSshKey(text) ? readOpenSshKey(text) : readPemKey(text)
    if (!(key instanceof KeyObject)) return readRsa(key)
    if (key.asymmetricKeyType === 'ed25519') {
      return isProven(key, key) ? { key: rebuilt(text) } : kinds
    }
    if (!curves.has(key.asymmetricKeyDetails?.namedCurve) || !isProven(key, key)) return kinds
    return { key: String(key.export({ type: 'sec1', format: 'pem' })) }
  } catch {
    return kinds
  }
}

function readRsa(numbers: RsaNumbers): { readonly key: string } | string {
  const why = unfit(numbers)
  if (why !== undefined) return why
  const key = rsaKey(numbers)
  // Without its long exponent, which OpenSSL takes when the primes and their exponents do not fit.
  const short = rsaKey({ ...numbers, d: Buffer.of(1) })
  if (!isProven(short, key)) return unfitNumbers
  return { key: String(key.export({ type: 'pkcs1', format: 'pem' })) }
}

/** Whether the public half of `whole` verifies a signature with `key`. */
function isProven(key: KeyObject, whole: KeyObject): boolean {
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  const bytes = Buffer.from('a login of Tollgate')
  return verify(digest, bytes, createPublicKey(whole), sign(digest, bytes, key))
}
