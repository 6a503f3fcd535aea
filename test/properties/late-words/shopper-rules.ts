/** The rules for checkouts: a shopper pays once, and learns the truth. */
import { stands } from './books.ts'
import type { Rest, Row } from './rest.ts'
import type { Rule } from './rules.ts'

const isCharge = ({ effect }: Row) => effect === 'sale' || effect === 'authorisation'

const isHeld = (rest: Rest, row: Row): boolean => {
  const entry = rest.entryOf(row)
  return entry !== undefined && stands(entry) && !isGivenBack(rest, row)
}

const isGivenBack = (rest: Rest, { key }: Row): boolean =>
  rest.entries.some((entry) => entry.original === key && entry.kind === 'reverse' && stands(entry))

export const shopperRules: readonly Rule[] = [
  {
    name: '8 a checkout is paid once',
    broken: (rest) => {
      for (const { id } of rest.checkouts) {
        const rows = rest.rows.filter((row) => row.checkout === id && isCharge(row))
        const approved = rows.filter(({ state, isKept }) => state === 'approved' && !isKept)
        if (approved.length > 1) return `${approved.length} payments of ${id} are approved`
        // Money that cannot be taken back is on the operators' list.
        const held = rows.filter(
          (row) =>
            isHeld(rest, row) && !row.isKept && !rest.isListed(row) && !rest.isDecidedUntold(row),
        )
        if (held.length > 1) return `${held.length} payments of ${id} hold money`
      }
      return undefined
    },
  },
  {
    name: '8 a shopper is told paid only where a payment is approved',
    broken: (rest) => {
      for (const { checkout, nonce, state } of rest.merchant.shopper.told) {
        if (state !== 'paid') continue
        const rows = rest.rows.filter((row) => row.checkout === checkout && isCharge(row))
        const isTrue = rows.some(
          (row) =>
            row.state === 'approved' ||
            rest.isListed(row) ||
            ['failed', 'returned'].includes(rest.entryOf(row)?.state ?? '') ||
            rest.entryOf(row)?.hasFailed === true,
        )
        if (!isTrue) return `press ${nonce} was told paid, and nothing of ${checkout} is approved`
      }
      return undefined
    },
  },
  {
    name: '8 a press that was told declined is not approved',
    broken: (rest) => {
      for (const { checkout: id, nonce, state } of rest.merchant.shopper.told) {
        const checkout = rest.checkouts.find((one) => one.id === id)!
        const payment = checkout.payments[checkout.nonces.lastIndexOf(nonce)]
        const row = rest.rows.find((one) => one.id === payment)
        if (state !== 'declined' || row?.state !== 'approved' || row.isKept) continue
        return `press ${nonce} was told declined, and ${row.type} ${row.id} is approved`
      }
      return undefined
    },
  },
  {
    name: '8 a checkout at rest is not busy, unless an operator has to look',
    broken: (rest) => {
      for (const { id, state } of rest.checkouts) {
        const rows = rest.rows.filter((row) => row.checkout === id)
        if (state === 'busy' && !rows.some(rest.isListed)) return `checkout ${id} is busy`
      }
      return undefined
    },
  },
]
