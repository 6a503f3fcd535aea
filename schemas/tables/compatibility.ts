import { AN, type FieldOptions, flag, group, none, O, person, request, secret } from '../table.ts'
import { id32 } from './formats.ts'

const ignored: FieldOptions = {
  tolerated: true,
  because: 'Deployed clients of this API family send it; refusing it would break them.',
}

/** Names that clients send although no table has them. Accepted and ignored. */
export const compatibility = group('', 'Compatibility', [
  // name                                format   need direction class   meaning
  ['authentication.userId',              AN(255), O,   request, secret, 'Login of an earlier version; the Bearer token decides.', ignored],
  ['authentication.password',            AN(255), O,   request, secret, 'Password of an earlier version; the Bearer token decides.', ignored],
  ['threeDSecure.xid',                   AN(255), O,   request, none,   'Transaction number of 3-D Secure 1.', ignored],
  ['threeDSecure.flow',                  AN(255), O,   request, none,   'Flow that an authentication elsewhere took.', ignored],
  ['shipping.givenName',                 AN(255), O,   request, person, 'Given name of the receiver; shipping.customer.givenName is the documented place.', ignored],
  ['shipping.surname',                   AN(255), O,   request, person, 'Family name of the receiver; shipping.customer.surname is the documented place.', ignored],
  ['recurringType',                      AN(255), O,   request, none,   'Earlier form of the standing instruction.', ignored],
  ['customer.browser.javascriptEnabled', flag,    O,   request, none,   'Whether the browser runs scripts.', ignored],
  ['registrations[n].id',                id32,    O,   request, none,   'Stored instruments that the widget should offer. Checkout creation only.', ignored],
], [], 'compatibility')
