/** Keys of webhook endpoints, which encrypt and sign notifications. */
import {
  createCipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomInt,
} from 'node:crypto'
import { random } from '../ids.ts'

/** Bytes of a new signing secret. */
const secretBytes = 32
const prefix = 'whsec_'

/** 64 hex digits. */
export const newEncryptionKey = (): string => randomBytes(32).toString('hex')

/** `whsec_` and base64. */
export const newSigningSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

/** Prepared once for many notifications: each use of bare bytes costs more than the cipher itself. */
export const encryptionKey = (hex: string): KeyObject => createSecretKey(hex, 'hex')

export const signingKey = (secret: string): KeyObject =>
  createSecretKey(secret.slice(prefix.length), 'base64')

export type Encrypted = {
  /** Upper-case hex, all three. */
  readonly body: string
  readonly iv: string
  readonly tag: string
}

/** AES-256-GCM with a random initialization vector. */
export function encryptBody(key: KeyObject, plain: string, iv: Buffer = random(12)): Encrypted {
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: 16 })
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  const hex = (bytes: Buffer) => bytes.toString('hex').toUpperCase()
  return { body: hex(body), iv: hex(iv), tag: hex(cipher.getAuthTag()) }
}

/** `v1,<base64>` for each key, over exactly these bytes. */
export function signature(
  keys: readonly KeyObject[],
  id: string,
  timestamp: number,
  body: string,
): string {
  const signed = `${id}.${timestamp}.${body}`
  return keys
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    .join(' ')
}

/** Between 0 and 1, for pauses that must not coincide. */
export const chance = (): number => randomInt(0, 1_000_001) / 1_000_000
