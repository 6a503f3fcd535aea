/**
 * Private keys in PEM: PKCS #1, SEC 1 and PKCS #8. Their kind is read here, because OpenSSL decodes every kind that
 * it knows: of some it works out the public half at once, which takes seconds when the numbers are long.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { type RsaNumbers, trimmed } from './rsa-numbers.ts'

const block = /-----BEGIN ([A-Z ]+)-----([\sA-Za-z0-9+/=]+)-----END \1-----/g
const [integer, octets, objectId, sequence] = [0x02, 0x04, 0x06, 0x30]
const algorithms = { rsa: '2a864886f70d010101', ec: '2a8648ce3d0201' }
/** Longer than any of the curves of SSH takes. */
const mostEcBytes = 2048

/** @throws Error for anything but one key of a known kind, without a passphrase. */
export function readPemKey(text: string): KeyObject | RsaNumbers {
  const { label, bytes } = blockOf(text)
  if (label === 'RSA PRIVATE KEY') return rsaNumbers(bytes)
  if (label === 'EC PRIVATE KEY') return ecKey(bytes, 'sec1')
  if (label !== 'PRIVATE KEY') throw unknown()
  const version = element(whole(bytes), integer)
  const algorithm = element(version.rest, sequence)
  const kind = element(algorithm.value, objectId).value.toString('hex')
  if (kind === algorithms.rsa) return rsaNumbers(element(algorithm.rest, octets).value)
  if (kind === algorithms.ec) return ecKey(bytes, 'pkcs8')
  throw unknown()
}

/** The only block. OpenSSL writes the parameters of a curve before its key. */
function blockOf(text: string): { readonly label: string; readonly bytes: Buffer } {
  const found = [...text.matchAll(block)].map(([, label, base64]) => ({
    label: label!,
    bytes: Buffer.from(base64!, 'base64'),
  }))
  if (found.length !== text.split('-----BEGIN ').length - 1) throw unknown()
  const [first, second] = found
  const hasParameters = first?.label === 'EC PARAMETERS' && second?.label === 'EC PRIVATE KEY'
  const key = hasParameters ? second : first
  if (key === undefined || found.length !== (hasParameters ? 2 : 1)) throw unknown()
  return key
}

/** OpenSSL reads PKCS #8 of any kind below any label, so the first elements count and not the label alone. */
function ecKey(bytes: Buffer, type: 'sec1' | 'pkcs8'): KeyObject {
  if (bytes.length > mostEcBytes) throw unknown()
  if (type === 'sec1') element(element(whole(bytes), integer).rest, octets)
  return createPrivateKey({ key: bytes, format: 'der', type })
}

function rsaNumbers(bytes: Buffer): RsaNumbers {
  const numbers: Buffer[] = []
  for (let left = whole(bytes); left.length > 0; ) {
    const { value, rest } = element(left, integer)
    numbers.push(trimmed(value))
    left = rest
  }
  const [version, n, e, d, p, q, dp, dq, qi] = numbers
  // Keys of more than two primes have another version.
  if (numbers.length !== 9 || version!.length > 0) throw unknown()
  return { n: n!, e: e!, d: d!, p: p!, q: q!, dp: dp!, dq: dq!, qi: qi! }
}

/** The inside of a sequence that nothing follows. */
function whole(bytes: Buffer): Buffer {
  const { value, rest } = element(bytes, sequence)
  if (rest.length > 0) throw unknown()
  return value
}

/** The first element, which has this tag, and what follows it. */
function element(bytes: Buffer, tag: number): { readonly value: Buffer; readonly rest: Buffer } {
  const [found, short = 0x80] = bytes
  const longBytes = short < 0x80 ? 0 : short - 0x80
  // Lengths without an end, and those that no key has.
  if (found !== tag || short === 0x80 || longBytes > 2) throw unknown()
  const from = 2 + longBytes
  if (bytes.length < from) throw unknown()
  const length = longBytes === 0 ? short : bytes.readUIntBE(2, longBytes)
  if (bytes.length < from + length) throw unknown()
  return { value: bytes.subarray(from, from + length), rest: bytes.subarray(from + length) }
}

const unknown = () => new Error('no whole private key of one of the known kinds')
