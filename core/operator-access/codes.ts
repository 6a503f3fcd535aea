/**
 * Codes of authenticators (RFC 6238: HMAC-SHA-1, six digits, thirty seconds, which is what every
 * authenticator knows) and the recovery codes beside them.
 */
import { createHmac, hash as digestOf, timingSafeEqual } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import { newSalt } from '../ids.ts'

const digits = 6
const secretBytes = 20
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret of an authenticator, in base32. */
export const newCodeSecret = (): string => base32(newSalt(secretBytes))

/** The URI in an authenticator's QR code. */
export function otpauthUri(secret: string, name: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(name)}`
  const period = limits.codeStepMs / 1000
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${period}`
}

export const stepAt = (nowMs: number): number => Math.floor(nowMs / limits.codeStepMs)

/** The code of one step (RFC 4226). */
export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const at = mac[mac.length - 1]! & 0x0f
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 10 ** digits).padStart(digits, '0')
}

/** The step whose code this is, of now and those about it; undefined when it is none of theirs. */
export function stepOf(secret: string, code: string, nowMs: number): number | undefined {
  const typed = code.replaceAll(/[ -]/g, '')
  const now = stepAt(nowMs)
  const drift = limits.codeDriftSteps
  let found: number | undefined
  for (let step = now - drift; step <= now + drift; step += 1) {
    if (isEqual(typed, codeAt(secret, step))) found = step
  }
  return found
}

/** Eighty random bits each, so that a plain digest of them is enough. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: limits.recoveryCodes }, newInvitation)

/** The second person's part of an invitation, written and stored as a recovery code. */
export const newInvitation = (): string => (base32(newSalt(10)).match(/.{4}/g) ?? []).join('-')

export const recoveryHash = (code: string): Buffer =>
  digestOf('sha256', code.toUpperCase().replaceAll(/[^A-Z2-7]/g, ''), 'buffer')

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text]
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
