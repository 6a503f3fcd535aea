import { createSecretKey, randomBytes } from 'node:crypto'
import { decrypt, encrypt } from '../crypto/cipher.ts'

/** A data key as the database keeps it: readable only through the key-encryption key `keyId`. */
export type WrappedKey = { readonly keyId: string; readonly wrapped: Buffer }

/**
 * Where key-encryption keys live. They wrap data keys and never leave the provider's side of this
 * interface: a file, an environment variable, or a remote key service. The engine bounds every call
 * in time; `signal` aborts when that time is up. Errors never hold key material.
 */
export type KeyProvider = {
  /** The name for operators: the setting of this provider. */
  readonly name: string
  /** Whether this provider should have the key, without a call. */
  holds(keyId: string): boolean
  /** Id of the key, with its version where it has any, that new data keys are wrapped with. */
  currentKeyId(signal: AbortSignal): Promise<string>
  /** Wraps 32 bytes under the current key. */
  wrap(dataKey: Buffer, signal: AbortSignal): Promise<WrappedKey>
  /**
   * @throws MissingKeyError when the provider does not hold `keyId`, or the bytes do not fit it ·
   * KeyProviderError when it cannot be asked now.
   */
  unwrap(keyId: string, wrapped: Buffer, signal: AbortSignal): Promise<Buffer>
  /** Wraps anew under the current key without showing the data key to this process. */
  rewrap?(keyId: string, wrapped: Buffer, signal: AbortSignal): Promise<WrappedKey>
  /** Wraps and unwraps once. @throws as those do. */
  check(signal: AbortSignal): Promise<void>
  /** Lets connections go. */
  close?(): Promise<void>
  /** Of a provider without keys: what is missing. `createGateway` names it beside other mistakes. */
  readonly missing?: string
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

/** A key provider that is unusable now: no answer, a refusal, or an invalid answer. */
export class KeyProviderError extends Error {
  override readonly name = 'KeyProviderError'
}

/**
 * Key-encryption keys as text: `id:64 hex digits`, several separated by commas or lines, the first is
 * current. A key that is one byte repeated wraps nothing: it is only taken behind another one, which
 * can get a database away from it.
 */
export function parseKeys(text: string): { id: string; key: Buffer }[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  const keys = parts.map((part, index) => {
    const found = /^([A-Za-z0-9_-]{1,40}):([0-9a-fA-F]{64})$/.exec(part)
    if (found === null) {
      throw new Error(`Key ${index + 1} is not of the form <id>:<64 hex digits> (256 bits)`)
    }
    return { id: found[1]!, key: Buffer.from(found[2]!, 'hex') }
  })
  const [current] = keys
  if (current?.key.every((byte) => byte === current.key[0])) {
    throw new Error(
      `Key "${current.id}" is one byte repeated, which anybody would try first: put a new one before it (makeKey of @tollgate/core, or "tollgate keys make"), and take it away once "tollgate keys rewrap" has run`,
    )
  }
  if (keys.length === 0) throw new Error('No key given: expected <id>:<64 hex digits>')
  if (new Set(keys.map(({ id }) => id)).size !== keys.length)
    throw new Error('Two keys have the same id')
  return keys
}

/** A new key-encryption key in the form that `parseKeys` reads. */
export function makeKey(id: string): string {
  return `${id}:${randomBytes(32).toString('hex')}`
}

/** The keys of a variable that is not set. */
function unsetKeys(name: string | undefined): KeyProvider & { readonly currentId: string } {
  const missing = `has no keys: ${name ?? 'the text for localKeys'} is not set; makeKey('main') of @tollgate/core makes a key, as does "tollgate keys make main"`
  const refuse = async (): Promise<never> => {
    throw new KeyProviderError(`The vault ${missing}`)
  }
  return {
    ...{ name: name ?? 'the given keys', currentId: '', missing, holds: () => false },
    ...{ currentKeyId: refuse, wrap: refuse, unwrap: refuse, check: refuse },
  }
}

/**
 * Key-encryption keys held in memory, as read from a file or the environment.
 *
 * @param text undefined, as a variable that is not set: `createGateway` refuses to start.
 * @param name the setting or file they come from, for messages.
 * @throws Error for a text that is no key.
 */
export function localKeys(
  text: string | undefined,
  name?: string,
): KeyProvider & { readonly currentId: string } {
  if (text === undefined) return unsetKeys(name)
  const keys = parseKeys(text).map(({ id, key }) => ({ id, key: createSecretKey(key) }))
  const current = keys[0]!
  const where = name === undefined ? '' : ` Add it to ${name}, or name the file that has it.`
  return {
    name: name ?? 'the given keys',
    currentId: current.id,
    holds: (keyId) => keys.some(({ id }) => id === keyId),
    currentKeyId: async () => current.id,
    async wrap(dataKey) {
      return { keyId: current.id, wrapped: encrypt(current.key, dataKey, Buffer.from(current.id)) }
    },
    async unwrap(keyId, wrapped) {
      const found = keys.find(({ id }) => id === keyId)
      if (found === undefined) {
        throw new MissingKeyError(
          keyId,
          `This database was sealed with key "${keyId}", which is not among the given keys (${keys.map(({ id }) => id).join(', ')}).${where}`,
        )
      }
      try {
        return decrypt(found.key, wrapped, Buffer.from(keyId))
      } catch {
        throw new MissingKeyError(
          keyId,
          `The given key "${keyId}" is not the one this database was sealed with.${where}`,
        )
      }
    },
    // The key is in memory, and parsing has checked it.
    async check() {},
  }
}
