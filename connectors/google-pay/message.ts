/** Decryption of a signed message: a shared secret on P-256, an HMAC over the whole, AES in counter mode. */
import {
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'
import { type Sensitive, strictBase64, strictJson } from '@tollgate/plugin-kit'
import type { Version } from './root-keys.ts'

const pointBytes = 65
const tagBytes = 32

type Sealed = { readonly point: Buffer; readonly message: Buffer; readonly tag: Buffer }

/** The parts of an encrypted message; undefined for another structure. */
export function sealedIn(signedMessage: string): Sealed | undefined {
  const read = strictJson(signedMessage, ['encryptedMessage', 'ephemeralPublicKey', 'tag'])
  const point = strictBase64(read?.ephemeralPublicKey)
  const message = strictBase64(read?.encryptedMessage)
  const tag = strictBase64(read?.tag)
  if (point === undefined || message === undefined || tag === undefined) return undefined
  return { point, message, tag }
}

/**
 * The plain text under the first key that fits; undefined when none does, whatever the reason.
 *
 * @param info Of the key derivation; another one for tokens of the wallet's predecessor.
 */
export function unsealed(
  { point, message, tag }: Sealed,
  version: Exclude<Version, 'ECv2SigningOnly'>,
  keys: readonly Sensitive[],
  info = 'Google',
): string | undefined {
  const ephemeral = publicPoint(point)
  if (ephemeral === undefined || tag.length !== tagBytes) return undefined
  const half = version === 'ECv1' ? 16 : 32
  let plain: string | undefined
  for (const pem of keys) {
    const key = privateKey(pem)
    if (key === undefined) continue
    const secret = diffieHellman({ privateKey: key, publicKey: ephemeral })
    const material = Buffer.concat([point, secret])
    const both = Buffer.from(hkdfSync('sha256', material, Buffer.alloc(0), info, 2 * half))
    const expected = createHmac('sha256', both.subarray(half)).update(message).digest()
    if (!timingSafeEqual(expected, tag)) continue
    const algorithm = version === 'ECv1' ? 'aes-128-ctr' : 'aes-256-ctr'
    const cipher = createDecipheriv(algorithm, both.subarray(0, half), Buffer.alloc(16))
    plain = Buffer.concat([cipher.update(message), cipher.final()]).toString('utf8')
  }
  return plain
}

/** Reading a point checks that it is on the curve. */
function publicPoint(point: Buffer): KeyObject | undefined {
  if (point.length !== pointBytes || point[0] !== 4) return undefined
  const [x, y] = [point.subarray(1, 33), point.subarray(33)]
  try {
    return createPublicKey({
      format: 'jwk',
      key: { kty: 'EC', crv: 'P-256', x: x.toString('base64url'), y: y.toString('base64url') },
    })
  } catch {
    return undefined
  }
}

/** A key of another kind is none: the check of the account tells it. */
export function privateKey(pem: Sensitive): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem.reveal())
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}
