/** Proof that the wallet made a token: its signature, and the chain of keys up to a root. */
import { type KeyObject, verify } from 'node:crypto'
import { strictBase64, strictJson, strictMembers, type WalletRefusal } from '@tollgate/plugin-kit'
import { publicKey, rootKeysOf, timeOf, type Version } from './root-keys.ts'

const sender = 'Google'

/** A token as it is on the wire. */
export type Envelope = {
  readonly version: Version
  readonly signature: Buffer
  readonly signedMessage: string
  /** Absent in ECv1 only. */
  readonly intermediate?: { readonly signedKey: string; readonly signatures: readonly Buffer[] }
}

export type Proof = WalletRefusal | undefined

/** Reads a token without trusting anything in it. */
export function envelopeOf(
  token: string,
  allowed: readonly Version[],
): Envelope | 'malformed' | 'version' {
  const read = strictJson(
    token,
    ['protocolVersion', 'signature', 'signedMessage'],
    ['intermediateSigningKey'],
  )
  if (read === undefined) return 'malformed'
  const version = allowed.find((one) => one === read.protocolVersion)
  if (version === undefined) return 'version'
  const signature = strictBase64(read.signature)
  const { signedMessage } = read
  if (signature === undefined || typeof signedMessage !== 'string') return 'malformed'
  if (version === 'ECv1') {
    return read.intermediateSigningKey === undefined
      ? { version, signature, signedMessage }
      : 'malformed'
  }
  const key = strictMembers(read.intermediateSigningKey, ['signedKey', 'signatures'])
  if (typeof key?.signedKey !== 'string' || !Array.isArray(key.signatures)) return 'malformed'
  if (key.signatures.length > mostSignatures) return 'malformed'
  const signatures = key.signatures.map(strictBase64)
  if (signatures.some((one) => one === undefined)) return 'malformed'
  return {
    version,
    signature,
    signedMessage,
    intermediate: { signedKey: key.signedKey, signatures: signatures as Buffer[] },
  }
}

/** Each may be checked with each root key. */
const mostSignatures = 8

/**
 * @param recipients Whom the token may be for: `gateway:<id>` or `merchant:<id>`.
 * @returns the recipient, or why there is none.
 */
export function proven(
  { version, signature, signedMessage, intermediate }: Envelope,
  recipients: readonly string[],
  documents: readonly string[],
  nowMs: number,
): { readonly recipient: string } | { readonly why: WalletRefusal } {
  const roots = rootKeysOf(documents, version, nowMs)
  if (roots.length === 0) return { why: 'no-trusted-keys' }
  const signing =
    intermediate === undefined ? { keys: roots } : signingKey(version, intermediate, roots, nowMs)
  if ('why' in signing) return signing
  // All recipients are tried with all keys: the time tells nothing about which one fits.
  const fitting = recipients.filter((recipient) =>
    isSigned(lengthValue(sender, recipient, version, signedMessage), [signature], signing.keys),
  )
  const [recipient] = fitting
  return recipient === undefined ? { why: 'signature' } : { recipient }
}

function signingKey(
  version: Version,
  { signedKey, signatures }: NonNullable<Envelope['intermediate']>,
  roots: readonly KeyObject[],
  nowMs: number,
): { readonly keys: readonly KeyObject[] } | { readonly why: WalletRefusal } {
  if (!isSigned(lengthValue(sender, version, signedKey), signatures, roots)) return { why: 'chain' }
  const read = strictJson(signedKey, ['keyValue', 'keyExpiration'])
  const key = typeof read?.keyValue === 'string' ? publicKey(read.keyValue) : undefined
  const endMs = timeOf(read?.keyExpiration)
  if (key === undefined || endMs === undefined) return { why: 'malformed' }
  return endMs <= nowMs ? { why: 'chain-expired' } : { keys: [key] }
}

/** Whether one of the signatures is of one of the keys: ECDSA with SHA-256, in DER. */
function isSigned(
  message: Buffer,
  signatures: readonly Buffer[],
  keys: readonly KeyObject[],
): boolean {
  return signatures
    .flatMap((signature) => keys.map((key) => verify('sha256', message, key, signature)))
    .includes(true)
}

/** The signed bytes: each text in UTF-8 after its length in four bytes, little end first. */
export function lengthValue(...texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const value = Buffer.from(text)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(value.length)
      return [length, value]
    }),
  )
}
