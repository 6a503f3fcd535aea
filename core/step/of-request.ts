/** The payment that a request made, by the number in its response. */
import { find } from '../checkout/find.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { highestIdAt, idTimeMs, lowestIdAt } from '../ids.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { paymentsOfRequest } from '../transcript/store.ts'

/** A payment gets its id after its request was read: nearly always at once, after a slow upload later. */
const withinMs = [1_000, 10_000, 120_000]
/** A wall clock may be set back meanwhile. */
const beforeMs = 2_000

/** @param ndc an id: the number in the response's `ndc` and `X-Request-Id`. */
export async function paymentOfRequest(engine: Engine, ndc: string): Promise<Payment | undefined> {
  // Steps still in this process's memory count as well.
  await engine.steps.flush()
  const atMs = idTimeMs(ndc)
  let fromMs = atMs - beforeMs
  for (const ms of withinMs) {
    const range = [lowestIdAt(fromMs), highestIdAt(atMs + ms)] as const
    const [made] = await engine.lanes.read(paymentsOfRequest(ndc, ...range))
    if (made !== undefined) {
      const [row] = await engine.lanes.read(paymentById(made.payment_id, null))
      return row && toPayment(row)
    }
    fromMs = atMs + ms
  }
  return undefined
}

/** The payment that has the slot of a checkout. Answers about a checkout have its id as their `ndc`. */
export async function paymentOfCheckout(engine: Engine, id: string): Promise<Payment | undefined> {
  const checkout = await find(engine, id).catch((error: unknown) => {
    if (error instanceof GatewayError && error.status === 404) return undefined
    throw error
  })
  const paymentId = checkout?.paymentId ?? null
  if (paymentId === null) return undefined
  const [row] = await engine.lanes.read(paymentById(paymentId, null))
  return row && toPayment(row)
}
