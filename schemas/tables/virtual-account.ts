import { AN, echoed, group, person, R } from '../table.ts'

/** Account at an alternative payment method. */
export const virtualAccount = group('virtualAccount', 'Virtual account', [
  ['accountId', AN(100), R, echoed, person, "The shopper's account there, often an e-mail address."],
])
