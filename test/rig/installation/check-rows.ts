/** Compares the stored rows with each other. */
import type { Evidence, PaymentRow } from './evidence.ts'

const minorOf = (row: PaymentRow) => row.approvedMinor ?? row.minor
const sum = (rows: readonly PaymentRow[]) => rows.reduce((all, row) => all + minorOf(row), 0n)

export function sumsHold({ payments }: Evidence): string[] {
  const approved = payments.filter(({ state }) => state === 'approved')
  const byParent = Map.groupBy(approved, ({ parentId }) => parentId ?? '')
  const voided = new Set(
    approved.filter(({ effect }) => effect === 'void').map(({ referencedId }) => referencedId),
  )
  return approved.flatMap((row) => {
    const on = byParent.get(row.id) ?? []
    const of = (...effects: string[]) => sum(on.filter(({ effect }) => effects.includes(effect)))
    if (row.effect === 'authorisation') {
      const captured = sum(on.filter((one) => one.effect === 'capture' && !voided.has(one.id)))
      const limit = minorOf(row) + of('increase')
      return captured + of('release') <= limit
        ? []
        : [`PA ${row.id} over ${limit}: captured ${captured}, released ${of('release')}`]
    }
    if (row.effect !== 'sale' && row.effect !== 'capture') return []
    const back = of('refund', 'void')
    return back <= minorOf(row)
      ? []
      : [`${row.type} ${row.id} over ${minorOf(row)}: ${back} given back`]
  })
}

export const booksAgree = ({ books }: Evidence): readonly string[] => books

export function nothingReserved({ balances, payments }: Evidence): string[] {
  const open = new Set(payments.filter(isOpen).map(({ parentId }) => parentId))
  return balances
    .filter(({ reserved, paymentId }) => reserved !== 0n && !open.has(paymentId))
    .map(
      ({ paymentId, reserved }) => `${reserved} are reserved on ${paymentId} without an operation`,
    )
}

const isOpen = ({ state }: PaymentRow) =>
  state === 'processing' || state === 'pending' || state === 'unknown'

export function nothingForgotten({ attempts, attention, payments }: Evidence): string[] {
  const listed = new Set(attention.filter(({ open }) => open).map(({ paymentId }) => paymentId))
  const rows = new Map(payments.map((row) => [row.id, row]))
  const isUndecided = (state: string) => state === 'sending' || state === 'unknown'
  return attempts.flatMap(({ key, paymentId, state, enquiries, leased }) => {
    const row = rows.get(paymentId)
    if (row === undefined) return [`attempt ${key} has no payment`]
    if (isUndecided(state) !== (row.state === 'processing' || row.state === 'unknown')) {
      return [`attempt ${key} is ${state}, its payment is ${row.state}`]
    }
    const isAsked = isUndecided(state) && !leased && enquiries > 0
    return isAsked && !listed.has(paymentId)
      ? [`${row.type} ${paymentId} is ${row.state} after ${enquiries} enquiries`]
      : []
  })
}

export function eventsAreComplete({ events, payments }: Evidence): string[] {
  const byResource = Map.groupBy(events, ({ resource }) => resource)
  const rows = new Set(payments.map(({ id }) => id))
  const strays = events
    .filter(({ resource }) => !rows.has(resource))
    .map(({ resource, type }) => `${type} of ${resource}, which does not exist`)
  const wrong = payments.flatMap((row) => {
    const own = byResource.get(row.id) ?? []
    const numbers = own.map(({ seq }) => seq)
    const expected = Array.from({ length: row.seq }, (_, index) => index + 1)
    if (numbers.join() !== expected.join()) {
      return [
        `${row.type} ${row.id} moved ${row.seq} times, with events ${numbers.join() || 'none'}`,
      ]
    }
    const last = own.at(-1)
    if (last === undefined) {
      return row.state === 'processing'
        ? []
        : [`${row.type} ${row.id} is ${row.state} without a move`]
    }
    return last.type === `payment.${row.state}` && last.code === row.code
      ? []
      : [
          `${row.type} ${row.id} is ${row.state} ${row.code}, its last event ${last.type} ${last.code}`,
        ]
  })
  return [...strays, ...wrong]
}
