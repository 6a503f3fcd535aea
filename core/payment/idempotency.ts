/** A merchant's `Idempotency-Key`: one resource per key and entity, for thirty days. */
import type { Lanes } from '../db/lanes.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { refuse } from '../request/values.ts'
import type { RequestDigests } from '../vault/idempotency-keys.ts'
import { idempotencyByKey, paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

export type Idempotency = {
  /** The entity of the request, before routing. */
  readonly entityId: string
  /**
   * The merchant's own text. The acquirer's key derives from it. It is never stored, since it may
   * hold anything.
   */
  readonly sent: string
  /** Keyed digest, stored instead of the text. */
  readonly key: Buffer
  /** HMAC over method, path and parameters without one-time secrets. */
  readonly fingerprint: Buffer
  /** Key and fingerprint under recently replaced digest keys. */
  readonly earlier: readonly RequestDigests[]
}

/** A shopper uses these values once, so a repeat of the request may carry other values or none. */
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

/** Reads in the single lane, or in a transaction of the embedding program. */
type Reader = { readonly lanes: Pick<Lanes, 'single'> }

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
 * The payment under an older digest key. An insert under the present digest key would not conflict
 * with it.
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

/** The earlier payment of this key, or undefined. @throws GatewayError when the request differs. */
export async function findReplay(
  engine: Reader,
  idempotency: Idempotency | null,
): Promise<Payment | undefined> {
  if (idempotency === null) return undefined
  const id = await resourceOfKey(engine, idempotency)
  if (id === undefined) return undefined
  const [payment] = await engine.lanes.single(paymentById(id, null))
  return payment === undefined ? undefined : toPayment(payment)
}

/** The id of the earlier resource of this key. @throws GatewayError when the request differs. */
export async function resourceOfKey(
  engine: Reader,
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

export async function replayed(engine: Reader, idempotency: Idempotency): Promise<Payment> {
  const found = await findReplay(engine, idempotency)
  if (found !== undefined) return found
  throw keyInUse()
}

/**
 * The request that came first with a key is not committed yet. Nothing is wrong with the key, so it is not the
 * refusal of a key that another request used.
 */
export const keyInUse = (): GatewayError =>
  new GatewayError('800.600.100', {
    status: 429,
    description:
      'This request conflicts with an earlier one with the same Idempotency-Key, which is still being written. Send it again with the same key.',
    retryAfterSeconds: 1,
  })

/**
 * The key of an engine's own step derives from its payment, so the step happens once. The attempt's
 * key derives from it and is unique for good, so no idempotency row is needed.
 */
export function idempotencyForStep(paymentId: string, step: string): Idempotency {
  return unstored(paymentId, `engine ${paymentId} ${step}`)
}

/** For the engine's own operations: feeds the attempt's key, without an idempotency row. */
export function unstored(entityId: string, key: string): Idempotency {
  return { entityId, sent: key, key: noDigest, fingerprint: noDigest, earlier: [] }
}

const noDigest = Buffer.alloc(0)
