import { AN, C, group, match, none, R, response } from '../table.ts'

const checkoutId = match('[a-zA-Z0-9.-]{32,48}', '8AC7A4CA5B0E4D7C9F21D3A86E4B7710.node-1', 32, 48)

/** Answer about a checkout. Its id is valid for 30 minutes. */
export const checkoutResponse = group('', 'Checkout answer', [
  ['id',        checkoutId, R, response, none, 'Id of the checkout, for the widget.'],
  ['integrity', AN(255),    C, response, none, 'Hash of the widget script of this checkout, if it was requested.'],
], [], 'checkout response')
