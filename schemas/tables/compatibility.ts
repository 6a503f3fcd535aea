import { AN, type FieldOptions, flag, group, none, O, person, request, secret } from '../table.ts'

const ignored: FieldOptions = {
  tolerated: true,
  because: 'Deployed clients of this API family send this field; a refusal would break them.',
}

/** Undocumented names that clients send. Accepted and ignored. */
export const compatibility = group('', 'Compatibility', [
  // name                                format   need direction class   meaning
  ['authentication.userId',              AN(255), O,   request, secret, 'Login of an earlier version; ignored beside the Bearer token.', ignored],
  ['authentication.password',            AN(255), O,   request, secret, 'Password of an earlier version; ignored beside the Bearer token.', ignored],
  ['threeDSecure.xid',                   AN(255), O,   request, none,   'Transaction number of 3-D Secure 1.', ignored],
  ['threeDSecure.flow',                  AN(255), O,   request, none,   'Flow of an external authentication.', ignored],
  ['shipping.givenName',                 AN(255), O,   request, person, 'Given name of the recipient; documented as shipping.customer.givenName.', ignored],
  ['shipping.surname',                   AN(255), O,   request, person, 'Family name of the recipient; documented as shipping.customer.surname.', ignored],
  ['recurringType',                      AN(255), O,   request, none,   'Earlier form of the standing instruction.', ignored],
  ['customer.browser.javascriptEnabled', flag,    O,   request, none,   'Whether the browser runs scripts.', ignored],
], [], 'compatibility')
