import { AN, amount, currency, echoed, flag, group, none, O, oneOf } from '../table.ts'

/** Other payments for the cart: gift cards and promotions. */
export const cartPayments = group('cart.payments[n]', 'Cart payments', [
  // name      format                                      need direction class meaning
  ['name',     AN(255),                                    O,   echoed, none, 'Name of the payment.'],
  ['type',     oneOf('GIFTCARD', 'PROMOTION'),             O,   echoed, none, 'Gift card or promotion.'],
  ['amount',   amount,                                     O,   echoed, none, 'Amount of the payment.'],
  ['currency', currency,                                   O,   echoed, none, 'Currency of that amount.'],
  ['status',   oneOf('pending', 'authorized', 'captured'), O,   echoed, none, 'Status of the payment.'],
  ['brand',    AN(255),                                    O,   echoed, none, 'Brand of the payment.'],
  ['primary',  flag,                                       O,   echoed, none, 'Whether it is the main payment.'],
], [], 'cart.payments')
