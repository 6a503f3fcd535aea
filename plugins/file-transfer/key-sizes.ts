/**
 * Limits on RSA keys. A signature, and the check of one, stops everything else in the process, for a time that
 * grows with the cube of the bits. Those of 8192 bits take some hundredths of a second.
 */
import { createPrivateKey } from 'node:crypto'
import { TransferError } from '@tollgate/plugin-kit'
import ssh2 from 'ssh2'

const mostBits = 8192
const mostExponentBits = 32
/** Types whose keys have a size of their own. Any other, such as ssh-dss, may have numbers of any length. */
const quickTypes = /^(ssh-ed25519|ecdsa-sha2-nistp(256|384|521))$/

/** Before a login with a key, which may come from a time when keys of any size were stored. @throws TransferError */
export function checkLoginKey(text: string): void {
  const key = ssh2.utils.parseKey(text)
  if (key instanceof Error) throw unreadable(key)
  if (quickTypes.test(key.type)) return
  if (key.type !== 'ssh-rsa') {
    const why = 'the login has a key that is neither RSA nor ECDSA nor Ed25519: store another one'
    throw new TransferError('login', why)
  }
  const { kty: _, ...numbers } = numbersOf(key.getPrivatePEM())
  if (Object.values(numbers).every((number) => bitsOf(decoded(number)) <= mostBits)) return
  const why = `the RSA key of the login has more than ${mostBits} bits: store a smaller one`
  throw new TransferError('login', why)
}

function numbersOf(pem: string) {
  try {
    return createPrivateKey(pem).export({ format: 'jwk' })
  } catch (error) {
    throw unreadable(error)
  }
}

export const unreadable = (cause: unknown) =>
  new TransferError('login', 'the private key of the login cannot be read', { cause })

/** Whether a signature with a server's key, given in wire format, is checked in a short time. */
export function isQuick(hostKey: Buffer): boolean {
  const fields = fieldsOf(hostKey)
  if (fields[0]?.toString('latin1') !== 'ssh-rsa') return true
  const [, exponent, modulus] = fields
  if (exponent === undefined || modulus === undefined) return false
  return bitsOf(exponent) <= mostExponentBits && bitsOf(modulus) <= mostBits
}

/** Those before the end of the bytes. */
function fieldsOf(bytes: Buffer): Buffer[] {
  const fields: Buffer[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    fields.push(bytes.subarray(at + 4, end))
    at = end
  }
  return fields
}

const decoded = (number: unknown) => Buffer.from(String(number), 'base64url')

function bitsOf(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : (number.length - first) * 8 - Math.clz32(number[first]!) + 24
}
