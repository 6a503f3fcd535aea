/** A merchant's Idempotency-Key: one resource per key and entity, for thirty days. */
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { refuse } from '../request/values.ts'
import type { RequestDigests } from '../vault/idempotency-keys.ts'
import { idempotencyByKey, paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

export type Idempotency = {
  /** The entity as the request named it, before any choice of channel. */
  readonly entityId: string
  /** As the merchant wrote it. Feeds the acquirer's key and is stored nowhere: it may hold anything. */
  readonly sent: string
  /** Keyed digest that is stored in its place. */
  readonly key: Buffer
  /** HMAC over method, path and parameters without one-time secrets. */
  readonly fingerprint: Buffer
  /** The same two under digest keys that were replaced lately. */
  readonly earlier: readonly RequestDigests[]
}

/** Used once by a shopper, so a repeat of the same request may carry others or none. */
const oneTime = new Set([
  'card.cvv',
  'tokenAccount.cryptogram',
  'tokenAccount.dtvc',
  'giftCard.pin',
  'applePay.paymentToken',
  'googlePay.paymentToken',
  'samsungPay.paymentToken',
  'threeDSecure.verificationId',
])

/**
 * @throws GatewayError 400 when the key is not 1 to 255 visible ASCII characters.
 */
export function idempotencyOf(
  engine: Engine,
  key: string | undefined,
  entityId: string,
  path: string,
  names: readonly (readonly [string, string])[],
): Idempotency | null {
  if (key === undefined) return null
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw refuse('200.300.404', 'Idempotency-Key', 'must be 1 to 255 visible ASCII characters')
  }
  const kept = names
    .filter(([name]) => !oneTime.has(name))
    .map(([name, value]) => `${name}=${value}`)
  const canonical = [`POST ${path}`, ...kept.sort()].join('\n')
  const [now, ...earlier] = engine.vault.requestDigests(entityId, key, canonical)
  return { entityId, sent: key, ...now, earlier }
}

/**
 * What this key made before its digest key was replaced. Writing the row under the new one would not meet it.
 *
 * @throws GatewayError when the request differs.
 */
export async function findEarlier(
  engine: Engine,
  idempotency: Idempotency | null,
): Promise<Payment | undefined> {
  if (idempotency === null || idempotency.earlier.length === 0) return undefined
  return findReplay(engine, idempotency)
}

/** The payment that this key made earlier, or undefined. @throws GatewayError when the request differs. */
export async function findReplay(
  engine: Engine,
  idempotency: Idempotency | null,
): Promise<Payment | undefined> {
  if (idempotency === null) return undefined
  const id = await resourceOfKey(engine, idempotency)
  if (id === undefined) return undefined
  const [payment] = await engine.lanes.single(paymentById(id, null))
  return payment === undefined ? undefined : toPayment(payment)
}

/** Id of what this key made earlier. @throws GatewayError when the request differs. */
export async function resourceOfKey(
  engine: Engine,
  idempotency: Idempotency,
): Promise<string | undefined> {
  const { entityId, key, fingerprint, earlier } = idempotency
  const keys = [{ key, fingerprint }, ...earlier]
  const [row] = await engine.lanes.single(
    idempotencyByKey(
      entityId,
      keys.map((digests) => digests.key),
    ),
  )
  if (row === undefined) return undefined
  if (!keys.some((one) => one.key.equals(row.key) && one.fingerprint.equals(row.fingerprint))) {
    throw new GatewayError('200.300.405', {
      description:
        'This Idempotency-Key was used for another request. Use a new key for a new request.',
      parameterErrors: [{ name: 'Idempotency-Key', message: 'was used for another request' }],
    })
  }
  return row.payment_id
}

export async function replayed(engine: Engine, idempotency: Idempotency): Promise<Payment> {
  const found = await findReplay(engine, idempotency)
  if (found !== undefined) return found
  throw new GatewayError('200.300.405', {
    description: 'The request with this Idempotency-Key is being written. Send it again.',
    retryAfterSeconds: 1,
  })
}

/**
 * A step that the engine takes by itself is keyed by the payment it belongs to: it happens once. The
 * key makes the attempt's, which is unique for good; no row of its own is kept for it.
 */
export function idempotencyForStep(paymentId: string, step: string): Idempotency {
  return unstored(paymentId, `engine ${paymentId} ${step}`)
}

/** Of what the engine does by itself: makes the attempt's key, and has no row of its own. */
export function unstored(entityId: string, key: string): Idempotency {
  return { entityId, sent: key, key: noDigest, fingerprint: noDigest, earlier: [] }
}

const noDigest = Buffer.alloc(0)
