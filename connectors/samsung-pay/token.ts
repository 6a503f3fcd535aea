/** A payment token: JSON Web Encryption in its compact form (RFC 7516), with two habits of this wallet. */
import {
  constants,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  privateDecrypt,
  randomBytes,
} from 'node:crypto'
import {
  type Sensitive,
  strictBase64Url,
  strictJson,
  type WalletRefusal,
} from '@tollgate/plugin-kit'

const algorithms = ['RSA1_5', 'RSA-OAEP', 'RSA-OAEP-256'] as const
const encryptions = { A128GCM: 16, A256GCM: 32 } as const

type Token = {
  readonly alg: (typeof algorithms)[number]
  readonly enc: keyof typeof encryptions
  readonly kid: string | undefined
  readonly header: Buffer
  readonly wrappedKey: Buffer
  readonly iv: Buffer
  readonly text: Buffer
  readonly tag: Buffer
}

const ivBytes = 12
const tagBytes = 16

/** Members of a header that change nothing. All others are refused: compression, extensions, other keys. */
const harmless = ['kid', 'typ', 'cty', 'channelSecurityContext']

/** Reads a token without trusting anything in it. */
export function tokenOf(compact: string): Token | WalletRefusal {
  const texts = compact.split('.')
  const [header, wrappedKey, iv, text, tag, ...more] = texts.map(strictBase64Url)
  if (header === undefined || texts.length !== 5 || more.length > 0) return 'malformed'
  const read = strictJson(header.toString('utf8'), ['alg', 'enc'], harmless)
  if (read === undefined) return isJson(header) ? 'algorithm' : 'malformed'
  const alg = algorithms.find((one) => one === read.alg)
  const enc = (['A128GCM', 'A256GCM'] as const).find((one) => one === read.enc)
  if (alg === undefined || enc === undefined) return 'algorithm'
  if (wrappedKey === undefined || text === undefined) return 'malformed'
  if (iv?.length !== ivBytes) return 'malformed'
  if (tag?.length !== tagBytes) return 'decryption'
  const kid = typeof read.kid === 'string' ? read.kid : undefined
  return { alg, enc, kid, header: Buffer.from(texts[0]!), wrappedKey, iv, text, tag }
}

const isJson = (header: Buffer) =>
  strictJson(header.toString('utf8'), [], [], { others: true }) !== undefined

/**
 * The plain text under the first key that fits; undefined when none does. Every failure takes the same way: a wrong
 * padding leads to a random key, with which the tag then does not fit.
 */
export function plainOf(token: Token, keys: readonly Sensitive[]): string | undefined {
  const found = keys.map(privateKey).filter((key) => key !== undefined)
  const named = found.filter((key) => idOf(key) === token.kid)
  let plain: string | undefined
  for (const key of named.length > 0 ? named : found) {
    const secret = contentKey(token, key)
    // The standard authenticates the header; tokens of this wallet's devices authenticate nothing beside the text.
    for (const aad of [token.header, Buffer.alloc(0)]) plain ??= opened(token, secret, aad)
  }
  return plain
}

/** Undefined for a text that is no private RSA key. */
export function privateKey(pem: Sensitive): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem.reveal())
    return key.asymmetricKeyType === 'rsa' ? key : undefined
  } catch {
    return undefined
  }
}

/** The wallet names a key by the digest of its public part. */
export const idOf = (key: KeyObject): string =>
  hash('sha256', createPublicKey(key).export({ type: 'spki', format: 'der' }), 'base64')

function contentKey({ alg, enc, wrappedKey }: Token, key: KeyObject): Buffer {
  const length = encryptions[enc]
  const instead = randomBytes(length)
  try {
    if (alg === 'RSA1_5') {
      const padded = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, wrappedKey)
      return unpadded(padded, instead)
    }
    const oaepHash = alg === 'RSA-OAEP' ? 'sha1' : 'sha256'
    const padding = constants.RSA_PKCS1_OAEP_PADDING
    const secret = privateDecrypt({ key, padding, oaepHash }, wrappedKey)
    return secret.length === length ? secret : instead
  } catch {
    return instead
  }
}

/**
 * The last bytes of a block padded by PKCS #1 version 1.5, or `instead` of the same length. Looks at every byte and
 * branches on none, so that the time tells nothing about the padding.
 */
export function unpadded(block: Buffer, instead: Buffer): Buffer {
  const start = block.length - instead.length
  let wrong = block[0]! | (block[1]! ^ 2) | block[start - 1]!
  // Bytes of the padding are not zero.
  for (let at = 2; at < start - 1; at += 1) wrong |= ((block[at]! - 1) >> 8) & 1
  // 255 when something is wrong, else 0.
  const mask = (-wrong >> 31) & 255
  return Buffer.from(instead.map((byte, at) => (byte & mask) | (block[start + at]! & ~mask)))
}

function opened({ enc, iv, text, tag }: Token, key: Buffer, aad: Buffer): string | undefined {
  const algorithm = enc === 'A128GCM' ? 'aes-128-gcm' : 'aes-256-gcm'
  const cipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagBytes })
  cipher.setAAD(aad)
  cipher.setAuthTag(tag)
  try {
    return Buffer.concat([cipher.update(text), cipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
