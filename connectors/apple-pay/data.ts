/** Decryption of a token's data, under the merchant's key that the token names. */
import {
  constants,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  privateDecrypt,
  X509Certificate,
} from 'node:crypto'
import type { Sensitive } from '@tollgate/plugin-kit'
import { type BaseBlock, fromBER } from 'asn1js'
import { Certificate } from 'pkijs'
import type { Token } from './token.ts'

const tagBytes = 16

/** A key of the merchant, with the digest of the merchant identifier that it belongs to. */
export type MerchantKey = { readonly key: KeyObject; readonly merchant: Buffer | undefined }

/**
 * @param certificates in PEM; each names the merchant of its key.
 * @param merchantId for keys without a certificate.
 * @throws Error for a key or a certificate that cannot be read.
 */
export function merchantKeys(
  keys: readonly Sensitive[],
  certificates: readonly string[],
  merchantId: string | undefined,
): readonly MerchantKey[] {
  const named = certificates.map((pem) => new X509Certificate(pem))
  const other =
    merchantId === undefined ? undefined : createHash('sha256').update(merchantId).digest()
  return keys.map((pem) => {
    const key = createPrivateKey(pem.reveal())
    const own = named.find((one) => one.checkPrivateKey(key))
    return { key, merchant: (own === undefined ? undefined : merchantOf(own)) ?? other }
  })
}

const merchantMark = '1.2.840.113635.100.6.32'

/** The digest of the merchant identifier in a payment processing certificate. */
function merchantOf({ raw }: X509Certificate): Buffer | undefined {
  const { extensions = [] } = Certificate.fromBER(Uint8Array.from(raw).buffer)
  const found = extensions.find(({ extnID }) => extnID === merchantMark)
  if (found === undefined) return undefined
  const { result } = fromBER(Uint8Array.from(found.extnValue.valueBlock.valueHexView).buffer)
  const text = String((result as BaseBlock & { getValue?(): unknown }).getValue?.() ?? '')
  return /^[0-9A-Fa-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : undefined
}

/** The hash only selects a key; it proves nothing. */
export function keyFor(
  { version, publicKeyHash }: Token,
  keys: readonly MerchantKey[],
): MerchantKey | undefined {
  const type = version === 'EC_v1' ? 'ec' : 'rsa'
  return keys.find(({ key }) => key.asymmetricKeyType === type && hashOf(key).equals(publicKeyHash))
}

export function hashOf(key: KeyObject): Buffer {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest()
}

/** Undefined: the data does not open, whatever the reason. */
export function plainOf(token: Token, merchant: MerchantKey): string | undefined {
  try {
    return token.version === 'EC_v1'
      ? opened('aes-256-gcm', agreedKey(token, merchant), token.data)
      : opened('aes-128-gcm', unwrappedKey(token, merchant), token.data)
  } catch {
    return undefined
  }
}

function agreedKey({ key: point }: Token, { key, merchant }: MerchantKey): Buffer {
  if (merchant === undefined) throw new Error('the merchant of the key is unknown')
  const publicKey = createPublicKey({ key: point, format: 'der', type: 'spki' })
  if (publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('another curve')
  const secret = diffieHellman({ privateKey: key, publicKey })
  return derivedKey(secret, merchant)
}

/** One round of the concatenation key derivation of NIST SP 800-56A. */
export function derivedKey(secret: Buffer, merchant: Buffer): Buffer {
  return createHash('sha256')
    .update(Buffer.from([0, 0, 0, 1]))
    .update(secret)
    .update('\x0Did-aes256-GCMApple')
    .update(merchant)
    .digest()
}

function unwrappedKey({ key: wrapped }: Token, { key }: MerchantKey): Buffer {
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return privateDecrypt({ key, padding, oaepHash: 'sha256' }, wrapped)
}

function opened(algorithm: 'aes-128-gcm' | 'aes-256-gcm', key: Buffer, data: Buffer): string {
  const cipher = createDecipheriv(algorithm, key, Buffer.alloc(16), { authTagLength: tagBytes })
  cipher.setAuthTag(data.subarray(-tagBytes))
  const plain = Buffer.concat([cipher.update(data.subarray(0, -tagBytes)), cipher.final()])
  return plain.toString('utf8')
}
