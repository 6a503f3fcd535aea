import { AN, echoed, fixedAmount, group, none, O, reference } from '../table.ts'

/** Sellers of one payment. A cart item belongs to the seller with the id in its sellerId. */
export const marketPlace = group('marketPlace', 'Marketplace', [
  ['sellers[n].id',     AN(255),     O, echoed, none, 'Seller.', reference],
  ['sellers[n].amount', fixedAmount, O, echoed, none, "The seller's part of the amount."],
])
