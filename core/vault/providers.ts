/** Wraps every key provider with a time limit, checked answers and safe errors. */
import { type KeyProvider, KeyProviderError, MissingKeyError, type WrappedKey } from './keys.ts'

export const dataKeyBytes = 32
const defaultLimitMs = 15_000

/** A provider whose calls end in time, whose answers are data keys, and whose errors contain no secret. */
export type BoundedKeys = {
  readonly name: string
  currentKeyId(): Promise<string>
  wrap(dataKey: Buffer): Promise<WrappedKey>
  unwrap(keyId: string, wrapped: Buffer): Promise<Buffer>
  /** The same data key under the current key-encryption key. Proves that the result opens. */
  rewrap(keyId: string, wrapped: Buffer): Promise<WrappedKey>
  check(): Promise<void>
}

export function bounded(provider: KeyProvider, limitMs = defaultLimitMs): BoundedKeys {
  const { name } = provider
  const within = <T>(work: (signal: AbortSignal) => Promise<T>) => inTime(name, limitMs, work)
  const unwrap = async (keyId: string, wrapped: Buffer) => {
    const bytes = await within((signal) => provider.unwrap(keyId, wrapped, signal))
    if (Buffer.isBuffer(bytes) && bytes.length === dataKeyBytes) return bytes
    throw new KeyProviderError(`${name} gave something that is no data key for key "${keyId}".`)
  }
  const wrap = async (dataKey: Buffer) =>
    checked(name, await within((signal) => provider.wrap(dataKey, signal)))
  return {
    name,
    currentKeyId: () => within((signal) => provider.currentKeyId(signal)),
    wrap,
    unwrap,
    async rewrap(keyId, wrapped) {
      const before = await unwrap(keyId, wrapped)
      const after =
        provider.rewrap === undefined
          ? await wrap(before)
          : checked(name, await within((signal) => provider.rewrap!(keyId, wrapped, signal)))
      // The old wrapping is overwritten by the caller: nothing else could open the data key again.
      const proof = await unwrap(after.keyId, after.wrapped)
      const isSame = proof.equals(before)
      before.fill(0)
      proof.fill(0)
      if (isSame) return after
      throw new KeyProviderError(`${name} gave another data key back than it was given.`)
    },
    check: () => within((signal) => provider.check(signal)),
  }
}

function checked(name: string, answer: WrappedKey): WrappedKey {
  const { keyId, wrapped } = answer
  if (typeof keyId === 'string' && keyId !== '' && Buffer.isBuffer(wrapped) && wrapped.length > 0) {
    return answer
  }
  throw new KeyProviderError(`${name} gave no wrapped key.`)
}

async function inTime<T>(
  name: string,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new KeyProviderError(`${name} did not answer within ${limitMs} ms.`))
      limit.abort()
    }, limitMs)
  })
  try {
    return await Promise.race([work(limit.signal), late])
  } catch (error) {
    if (error instanceof MissingKeyError || error instanceof KeyProviderError) throw error
    // The message of a foreign error may quote key material.
    const kind = error instanceof Error ? error.constructor.name : typeof error
    throw new KeyProviderError(`${name} failed (${kind}).`)
  } finally {
    clearTimeout(timer)
  }
}

/** Combines providers for a move between them: the first wraps, and each opens its own keys. */
export function combinedKeys(current: KeyProvider, ...others: readonly KeyProvider[]): KeyProvider {
  const all = [current, ...others]
  const names = all.map(({ name }) => name).join(' and ')
  const rewrap = current.rewrap?.bind(current)
  const unwrap: KeyProvider['unwrap'] = async (keyId, wrapped, signal) => {
    const holder = all.find((one) => one.holds(keyId))
    if (holder !== undefined) return holder.unwrap(keyId, wrapped, signal)
    throw new MissingKeyError(
      keyId,
      `This database was sealed with key "${keyId}", which is in none of ${names}.`,
    )
  }
  return {
    name: names,
    holds: (keyId) => all.some((one) => one.holds(keyId)),
    currentKeyId: (signal) => current.currentKeyId(signal),
    wrap: (dataKey, signal) => current.wrap(dataKey, signal),
    unwrap,
    ...(rewrap !== undefined && {
      async rewrap(keyId: string, wrapped: Buffer, signal: AbortSignal) {
        if (current.holds(keyId)) return rewrap(keyId, wrapped, signal)
        const plain = await unwrap(keyId, wrapped, signal)
        return current.wrap(plain, signal)
      },
    }),
    check: (signal) => current.check(signal),
    async close() {
      for (const one of all) await one.close?.()
    },
  }
}
