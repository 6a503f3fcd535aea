/** Proofs of messages and of logins, as acquirers use them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Sensitive } from './sensitive.ts'

export type HmacForm = {
  /** `sha256` by default. Use `sha1` and `md5` only where the acquirer knows nothing better. */
  readonly hash?: 'sha256' | 'sha384' | 'sha512' | 'sha1' | 'md5'
  /** Form of the signature. `hex` (default) is lower-case when written, and any case when read. */
  readonly encoding?: 'hex' | 'base64' | 'base64url'
}

/** What is signed: bytes or text in UTF-8, also the sensitive body of `sign`, or parts of it one behind the other. */
export type Signed = Part | readonly Part[]
type Part = Buffer | string | Sensitive<Buffer> | Sensitive

const partsOf = (message: Signed): readonly (Buffer | string)[] =>
  [message]
    .flat()
    .map((part) => (Sensitive.is(part) ? (part.reveal() as Buffer | string) : (part as string)))

/** The hash of a message, which proves nothing by itself: the value of a `Digest` header, say. */
export function digest(
  message: Signed,
  { hash = 'sha256', encoding = 'hex' }: HmacForm = {},
): string {
  const made = createHash(hash)
  for (const part of partsOf(message)) made.update(part)
  return made.digest(encoding)
}

/**
 * The HMAC of a message.
 *
 * @param secret its bytes, or a text in UTF-8. Decode a secret that the acquirer gives as hex or base64.
 * @throws Error for an empty secret, which would prove nothing.
 */
export function hmac(
  message: Signed,
  secret: Buffer | string,
  { hash = 'sha256', encoding = 'hex' }: HmacForm = {},
): string {
  if (secret.length === 0) throw new Error('the secret of an HMAC must not be empty')
  const made = createHmac(hash, secret)
  for (const part of partsOf(message)) made.update(part)
  return made.digest(encoding)
}

/**
 * Whether `given` is the HMAC of a message, compared in constant time. Sign the received bytes: JSON or
 * XML that was read and written again is another text.
 *
 * @param given the signature as received; undefined, an empty or a malformed one is no proof.
 */
export function isHmac(
  given: string | undefined,
  message: Signed,
  secret: Buffer | string,
  form: HmacForm = {},
): boolean {
  const right = hmac(message, secret, form)
  if (given === undefined) return false
  return isSameText((form.encoding ?? 'hex') === 'hex' ? given.toLowerCase() : given, right)
}

/** One signature of several in a message. */
export type GivenSignature = {
  readonly value: string | undefined
  /** Id of its key, where the acquirer names it. Without one, every secret is tried. */
  readonly keyId?: string
}

/**
 * Whether one of several signatures is right, as acquirers send them while a key changes, and one for each key.
 *
 * @param secrets by the id of their key; any names where the acquirer has none. One that is undefined, such as the setting
 * of an old secret that is left out, counts for nothing.
 * @throws Error when no secret is left, or one is empty.
 */
export function isAnyHmac(
  given: readonly GivenSignature[],
  message: Signed,
  secrets: Readonly<Record<string, Buffer | string | undefined>>,
  form: HmacForm = {},
): boolean {
  const known = Object.entries(secrets).filter(([, secret]) => secret !== undefined)
  if (known.length === 0) throw new Error('there is no secret to compare signatures with')
  const right = known.map(([keyId, secret]) => ({ keyId, value: hmac(message, secret!, form) }))
  const isHex = (form.encoding ?? 'hex') === 'hex'
  return given.some(({ value = '', keyId }) =>
    right
      .filter((one) => keyId === undefined || keyId === one.keyId)
      .some((one) => isSameText(isHex ? value.toLowerCase() : value, one.value)),
  )
}

/** Whether two texts are equal. The time tells only whether their lengths are. */
export function isSameText(one: string, other: string): boolean {
  const [ones, others] = [Buffer.from(one), Buffer.from(other)]
  return ones.length === others.length && timingSafeEqual(ones, others)
}

/**
 * The value of an `Authorization` header for HTTP Basic, in UTF-8.
 *
 * @throws Error for a user with a colon, which would end there, or for a control character.
 */
export function basicAuthorization(user: string, password: string): Sensitive {
  if (user.includes(':')) throw new Error('the user of HTTP Basic must not contain a colon')
  if (/\p{Cc}/u.test(user + password)) {
    throw new Error('the user and the password of HTTP Basic must not contain control characters')
  }
  return new Sensitive(`Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`)
}
