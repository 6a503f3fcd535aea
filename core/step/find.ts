/** Finds a resource by any number that people have: of inspections, and of operators' decisions. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { idTimeMs, isCheckoutId, isId, shortNo } from '../ids.ts'
import { exactDecimal, fitsWire, formatAmount } from '../money.ts'
import { captureToCome } from '../payment/capture-to-come.ts'
import { paymentByAttempt, paymentById, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { registrationById, toRegistration } from '../registration/store.ts'
import type { Registration } from '../registration/types.ts'
import { scheduleById, toSchedule } from '../schedule/store.ts'
import type { Schedule } from '../schedule/types.ts'
import { paymentOfCheckout, paymentOfRequest } from './of-request.ts'
import {
  type DeliveryRow,
  deliveryById,
  type ExecutionRecord,
  executionById,
  paymentsByReference,
} from './store-read.ts'

export type Kind = 'payment' | 'registration' | 'schedule' | 'execution' | 'delivery'

export type Found =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | { readonly kind: 'registration'; readonly registration: Registration }
  | { readonly kind: 'schedule'; readonly schedule: Schedule }
  | { readonly kind: 'execution'; readonly execution: ExecutionRecord }
  | { readonly kind: 'delivery'; readonly delivery: DeliveryRow }

type Finder = (
  engine: Engine,
  id: string,
  channels: readonly string[] | null,
) => Promise<Found | undefined>

export const finders: Readonly<Record<Kind, Finder>> = {
  async payment(engine, id, channels) {
    const [row] = await engine.lanes.read(paymentById(id, channels))
    if (row !== undefined) return { kind: 'payment', payment: toPayment(row) }
    // A capture that does not exist yet has the steps of its authorisation.
    const found = await captureToCome(engine, id, channels)
    return found && { kind: 'payment', payment: found.authorisation }
  },
  async registration({ lanes }, id, channels) {
    const [row] = await lanes.read(registrationById(id, channels))
    return row && { kind: 'registration', registration: toRegistration(row) }
  },
  async schedule({ lanes }, id, channels) {
    const [row] = await lanes.read(scheduleById(id, channels))
    return row && { kind: 'schedule', schedule: toSchedule(row) }
  },
  async execution({ lanes }, id, channels) {
    const [row] = await lanes.read(executionById(id, channels))
    return row && { kind: 'execution', execution: row }
  },
  async delivery({ lanes }, id, channels) {
    // A caller for some entities reads the delivery log of those entities' endpoints only.
    const [row] = channels === null ? await lanes.read(deliveryById(id)) : []
    return row && { kind: 'delivery', delivery: row }
  },
}

/** Payments that share a short id or a merchantTransactionId. */
export type Candidates = {
  readonly candidates: readonly {
    readonly id: string
    readonly at: Date
    readonly text: string
  }[]
}

/** How many days of payments a short id or a merchantTransactionId is searched among. */
export const searchedDays = 35

/** Maximum number of payments in the response to one number. */
const mostCandidates = 20

/** An id with or without hyphens, in either case. */
export const plainId = (reference: string): string => reference.replaceAll('-', '').toLowerCase()

/** What the number names for itself: an id, the key of an attempt, the `ndc` of a response. */
export async function findNamed(engine: Engine, reference: string): Promise<Found | undefined> {
  const plain = plainId(reference)
  if (isId(plain)) {
    for (const kind of ['payment', 'registration', 'schedule', 'execution', 'delivery'] as const) {
      const found = await finders[kind](engine, plain, null)
      // A registration without a payment has a verification, a payment with the same id.
      const isVerification = found?.kind === 'payment' && found.payment.effect === 'verification'
      if (found !== undefined && !isVerification) return found
    }
  }
  const [row] = await engine.lanes.read(paymentByAttempt(reference))
  const payment = row === undefined ? await madeBy(engine, reference, plain) : toPayment(row)
  return payment && { kind: 'payment', payment }
}

/**
 * The payments of the last `days` with this short id or merchantTransactionId.
 *
 * @throws GatewayError 404 without any.
 */
export async function findReferenced(
  engine: Engine,
  reference: string,
  days: number,
): Promise<Found | Candidates> {
  const wanted = { shortNo: shortNo(reference) ?? null, merchantTransactionId: reference }
  const search = paymentsByReference(wanted, days, mostCandidates)
  const rows = await engine.lanes.read(search, limits.slowReadMs)
  const [only] = rows
  if (only === undefined) {
    throw new GatewayError('700.400.580', {
      status: 404,
      description: `nothing has the number ${reference}, among ids of all time and other numbers of the last ${days} days`,
    })
  }
  if (rows.length === 1) {
    const found = await finders.payment(engine, only.id, null)
    if (found !== undefined) return found
  }
  return {
    candidates: rows.map((one) => ({
      id: one.id,
      at: new Date(idTimeMs(one.id)),
      text: `${one.payment_type} ${amountText(one.amount_minor, one.currency)} ${one.currency} ${one.state} ${one.result_code}`,
    })),
  }
}

/** For people, with the third decimal that the API does not have. */
export const amountText = (minor: bigint, currency: string) =>
  fitsWire(minor, currency) ? formatAmount(minor, currency) : exactDecimal(minor, currency)

/** The payment behind the `ndc` of a response. */
async function madeBy(engine: Engine, ndc: string, plain: string): Promise<Payment | undefined> {
  if (isCheckoutId(ndc)) return paymentOfCheckout(engine, ndc)
  return isId(plain) ? paymentOfRequest(engine, plain) : undefined
}
