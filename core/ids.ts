import { createHash, randomBytes, randomFillSync } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import { systemClock } from './clock.ts'

const pool = Buffer.allocUnsafe(4096)
let poolAt = pool.length

/** Fresh random bytes, good until the next call. */
export function random(bytes: number): Buffer {
  if (poolAt + bytes > pool.length) {
    randomFillSync(pool)
    poolAt = 0
  }
  poolAt += bytes
  return pool.subarray(poolAt - bytes, poolAt)
}

let lastMs = 0
let lastCount = 0
/** Added to the even clock of this process it gives the latest time that an id may have. */
let ceilingMs = Number.POSITIVE_INFINITY

/**
 * Sets the database's time. The month in an id selects its partition, and a machine with a wrong
 * clock would use months without partitions. From now on, ids stay near this time.
 */
export function keepIdsNear(databaseMs: number): void {
  ceilingMs = databaseMs + limits.idsAheadMs - systemClock.elapsedMs()
}

/**
 * A UUIDv7 as 32 lower-case hex characters: time of the wall clock in milliseconds, 12 bits that
 * begin at random and count within the millisecond, so that the ids of one process are in the order of
 * their creation, then 62 random bits. A `uuid` in Postgres, and the id of every resource in the API.
 */
export function newId(
  nowMs: number = Math.min(Date.now(), Math.floor(ceilingMs + systemClock.elapsedMs())),
): string {
  const bytes = random(10)
  // The first of a millisecond begins in the lower half: 2,048 can follow it.
  lastCount = nowMs === lastMs ? (lastCount + 1) & 0xfff : ((bytes[0]! & 0x07) << 8) | bytes[1]!
  lastMs = nowMs
  const b = (bytes[2]! & 0x3f) | 0x80 // RFC 9562 variant
  return (
    nowMs.toString(16).padStart(12, '0') +
    (0x7000 | lastCount).toString(16) + // version 7
    (b * 256 + bytes[3]!).toString(16) +
    bytes.toString('hex', 4, 10)
  )
}

/** An id that does not contain its time, for entities and tokens: 32 lower-case hex characters. */
export function newOpaqueId(): string {
  return randomBytes(16).toString('hex')
}

/** The id of a checkout: 128 random bits that nobody can guess, and the name of the node. */
export function newCheckoutId(node: string): string {
  return `${randomBytes(16).toString('hex').toUpperCase()}.${node}`
}

/** A new access token: 256 random bits, base64url. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Random bytes of their own, for salts and for secrets that are shown once. */
export function newSalt(bytes: number): Buffer {
  return randomBytes(bytes)
}

/** Milliseconds since 1970 inside a UUIDv7. */
export function idTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, 12), 16)
}

/** An id below every other id. */
export const lowestId = '0'.repeat(32)

/** The lowest id that can be made at a moment. */
export const lowestIdAt = (ms: number): string => timePart(ms) + '0'.repeat(20)

/** The highest one. */
export const highestIdAt = (ms: number): string => timePart(ms) + 'f'.repeat(20)

const timePart = (ms: number) =>
  Math.min(Math.max(0, Math.floor(ms)), 0xffff_ffff_ffff)
    .toString(16)
    .padStart(12, '0')

export const isId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text)

export const isCheckoutId = (text: string): boolean =>
  /^[0-9A-F]{32}\.[A-Za-z0-9-]{1,15}$/.test(text)

/** The highest number of a pod. */
export const highestPod = 49
/** Numbers behind the short ids of pod 0: the first half of all there are. */
const numbersOfFirstPod = 500_000_000_000n
/** Numbers of each further pod, in the second half. */
const numbersOfPod = 10_000_000_000n

/**
 * The number behind the short id that a pod gives out as its `count`th, from 1 on. Two pods have no number
 * in common. After its last number, a pod begins again with its first.
 */
export function shortNoOf(pod: number, count: bigint): bigint {
  if (pod === 0) return ((count - 1n) % numbersOfFirstPod) + 1n
  return numbersOfFirstPod + BigInt(pod - 1) * numbersOfPod + ((count - 1n) % numbersOfPod) + 1n
}

const half = 1_000_000
/** Round tables of a small Feistel network: a permutation of 0..10^12-1 that hides the count. */
const rounds = [1, 2, 3, 4].map((round) => {
  const digest = createHash('sha256').update(`tollgate short id ${round}`).digest()
  return { multiply: digest.readUInt32BE(0) | 1, add: digest.readUInt32BE(4) }
})

function mix(value: number, { multiply, add }: { multiply: number; add: number }): number {
  let x = (Math.imul(value, multiply) + add) >>> 0
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d) >>> 0
  return ((x ^ (x >>> 12)) >>> 0) % half
}

/** `NNNN.NNNN.NNNN`, unique because the number is: a permutation of the twelve-digit numbers. */
export function shortId(no: bigint | number): string {
  const value = Number(no)
  let left = Math.floor(value / half) % half
  let right = value % half
  for (const round of rounds) {
    const next = (left + mix(right, round)) % half
    left = right
    right = next
  }
  const digits = String(left).padStart(6, '0') + String(right).padStart(6, '0')
  return `${digits.slice(0, 4)}.${digits.slice(4, 8)}.${digits.slice(8)}`
}

/** The number behind a short id, or undefined when the text is none. */
export function shortNo(text: string): number | undefined {
  if (!/^[0-9]{4}\.[0-9]{4}\.[0-9]{4}$/.test(text)) return undefined
  const digits = text.replaceAll('.', '')
  let left = Number(digits.slice(0, 6))
  let right = Number(digits.slice(6))
  for (const round of [...rounds].reverse()) {
    const previous = (right - mix(left, round) + half) % half
    right = left
    left = previous
  }
  return left * half + right
}
