/** A merchant's Idempotency-Key: one resource per key and entity, for thirty days. */
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { refuse } from '../request/values.ts'
import { idempotencyByKey, paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

export type Idempotency = {
  /** The entity as the request named it, before any choice of channel. */
  readonly entityId: string
  readonly key: string
  /** HMAC over method, path and parameters without one-time secrets. */
  readonly fingerprint: Buffer
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
  return { entityId, key, fingerprint: engine.vault.requestFingerprint(canonical) }
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
  const [row] = await engine.lanes.single(idempotencyByKey(idempotency.entityId, idempotency.key))
  if (row === undefined) return undefined
  if (!row.fingerprint.equals(idempotency.fingerprint)) {
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
export function idempotencyForStep(engine: Engine, paymentId: string, step: string): Idempotency {
  const key = `engine ${paymentId} ${step}`
  return { entityId: paymentId, key, fingerprint: engine.vault.requestFingerprint(key) }
}
