import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

/**
 * Where key-encryption keys live. They wrap data keys and never leave the provider's side of this
 * interface: a file, an environment variable, or a remote key service.
 */
export type KeyProvider = {
  /** Id of the key that new data keys are wrapped with. */
  readonly currentId: string
  /** Wraps 32 bytes under the current key. */
  wrap(dataKey: Buffer): Promise<{ keyId: string; wrapped: Buffer }>
  /** @throws MissingKeyError when the provider does not hold `keyId`, or the bytes do not fit it. */
  unwrap(keyId: string, wrapped: Buffer): Promise<Buffer>
}

/** The database needs a key that the process was not given. Names the key id, never key material. */
export class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError'
  readonly keyId: string

  constructor(keyId: string, message: string) {
    super(message)
    this.keyId = keyId
  }
}

/** Key-encryption keys as text: `id:64 hex digits`, several separated by commas or lines, the first is current. */
export function parseKeys(text: string): { id: string; key: Buffer }[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  const keys = parts.map((part, index) => {
    const found = /^([A-Za-z0-9_-]{1,40}):([0-9a-fA-F]{64})$/.exec(part)
    if (found === null) {
      throw new Error(`Key ${index + 1} is not of the form <id>:<64 hex digits> (256 bits)`)
    }
    return { id: found[1]!, key: Buffer.from(found[2]!, 'hex') }
  })
  if (keys.length === 0) throw new Error('No key given: expected <id>:<64 hex digits>')
  if (new Set(keys.map(({ id }) => id)).size !== keys.length)
    throw new Error('Two keys have the same id')
  return keys
}

/** A new key-encryption key in the form that `parseKeys` reads. */
export function makeKey(id: string): string {
  return `${id}:${randomBytes(32).toString('hex')}`
}

/** Key-encryption keys held in memory, as read from a file or the environment. */
export function localKeys(text: string): KeyProvider {
  const keys = parseKeys(text).map(({ id, key }) => ({ id, key: createSecretKey(key) }))
  const current = keys[0]!
  return {
    currentId: current.id,
    async wrap(dataKey) {
      return { keyId: current.id, wrapped: encrypt(current.key, dataKey, Buffer.from(current.id)) }
    },
    async unwrap(keyId, wrapped) {
      const found = keys.find(({ id }) => id === keyId)
      if (found === undefined) {
        throw new MissingKeyError(
          keyId,
          `This database was sealed with key "${keyId}", which is not among the given keys (${keys.map(({ id }) => id).join(', ')}).`,
        )
      }
      try {
        return decrypt(found.key, wrapped, Buffer.from(keyId))
      } catch {
        throw new MissingKeyError(
          keyId,
          `The given key "${keyId}" is not the one this database was sealed with.`,
        )
      }
    },
  }
}

/**
 * AES-256-GCM: 12 random bytes, ciphertext, 16-byte tag. Keys are key objects: made from bytes at
 * every call, one encryption takes 16 µs instead of 4.
 */
export function encrypt(key: KeyObject, plain: Buffer, boundTo: Buffer): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
  cipher.setAAD(boundTo)
  const body = cipher.update(plain)
  const end = cipher.final()
  return Buffer.concat([nonce, body, end, cipher.getAuthTag()])
}

/** @throws Error when the key, the bytes or what they are bound to do not fit. */
export function decrypt(key: KeyObject, sealed: Buffer, boundTo: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), {
    authTagLength: 16,
  })
  decipher.setAAD(boundTo)
  decipher.setAuthTag(sealed.subarray(sealed.length - 16))
  return Buffer.concat([decipher.update(sealed.subarray(12, sealed.length - 16)), decipher.final()])
}
