/** Proofs of messages and of logins, as acquirers use them. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Sensitive } from './sensitive.ts'

export type HmacForm = {
  /** `sha256` by default. Use `sha1` and `md5` only where the acquirer knows nothing better. */
  readonly hash?: 'sha256' | 'sha384' | 'sha512' | 'sha1' | 'md5'
  /** Form of the signature. `hex` (default) is lower-case when written, and any case when read. */
  readonly encoding?: 'hex' | 'base64' | 'base64url'
}

/**
 * The HMAC of a message.
 *
 * @param secret its bytes, or a text in UTF-8. Decode a secret that the acquirer gives as hex or base64.
 * @throws Error for an empty secret, which would prove nothing.
 */
export function hmac(
  message: Buffer | string,
  secret: Buffer | string,
  { hash = 'sha256', encoding = 'hex' }: HmacForm = {},
): string {
  if (secret.length === 0) throw new Error('the secret of an HMAC must not be empty')
  return createHmac(hash, secret).update(message).digest(encoding)
}

/**
 * Whether `given` is the HMAC of a message, compared in constant time. Sign the received bytes: JSON or
 * XML that was read and written again is another text.
 *
 * @param given the signature as received; undefined, an empty or a malformed one is no proof.
 */
export function isHmac(
  given: string | undefined,
  message: Buffer | string,
  secret: Buffer | string,
  form: HmacForm = {},
): boolean {
  const right = hmac(message, secret, form)
  if (given === undefined) return false
  return isSameText((form.encoding ?? 'hex') === 'hex' ? given.toLowerCase() : given, right)
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
