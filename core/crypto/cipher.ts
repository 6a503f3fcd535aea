import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

const nonceBytes = 12
const tagBytes = 16

/** 256 random bits. */
export const newKeyBytes = (): Buffer => randomBytes(32)

/**
 * AES-256-GCM: 12 random bytes, ciphertext, 16-byte tag. Keys are key objects: made from bytes at
 * every call, one encryption takes 16 µs instead of 4.
 */
export function encrypt(key: KeyObject, plain: Buffer, boundTo: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(boundTo)
  const body = cipher.update(plain)
  const end = cipher.final()
  // Memory of its own: what waits for an acquirer must not keep the 64 KB of Node's common pool.
  const sealed = Buffer.allocUnsafeSlow(nonceBytes + body.length + end.length + tagBytes)
  let at = 0
  for (const part of [nonce, body, end, cipher.getAuthTag()]) {
    sealed.set(part, at)
    at += part.length
  }
  return sealed
}

/** @throws Error when the key, the bytes or what they are bound to do not fit. */
export function decrypt(key: KeyObject, sealed: Buffer, boundTo: Buffer): Buffer {
  if (sealed.length < nonceBytes + tagBytes) throw new Error('too short to be sealed')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(boundTo)
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes))
  const body = sealed.subarray(nonceBytes, sealed.length - tagBytes)
  return Buffer.concat([decipher.update(body), decipher.final()])
}

/** A key object of these bytes, which are overwritten. */
export function keyOf(bytes: Buffer): KeyObject {
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return key
}

/** A key for one purpose, from one that has several. */
export function derive(key: KeyObject, purpose: string): KeyObject {
  const derived = hkdfSync('sha256', key, Buffer.alloc(0), `tollgate ${purpose}`, 32)
  return keyOf(Buffer.from(derived))
}

export function mac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
