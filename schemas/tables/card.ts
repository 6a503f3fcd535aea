import { A, C, echoed, group, match, N, none, O, oneOf, pan, person, R, request, sad } from '../table.ts'

/** Card account. Its fields put the merchant in PCI-DSS scope; registration ids do not. */
export const card = group('card', 'Card account', [
  // name          format                          need direction  class    meaning
  ['holder',       A(3, 128),                      O,   echoed,    person,  'Name as printed on the card.'],
  ['number',       N(8, 32),                       R,   request,   pan,     'Primary account number, digits only.'],
  ['expiryMonth',  match('0[1-9]|1[0-2]', '12'),   R,   echoed,    none,    'Expiry month, two digits.'],
  ['expiryYear',   match('(19|20)[0-9]{2}', '2034'), R, echoed,    none,    'Expiry year, four digits.'],
  ['cvv',          N(3, 4),                        C,   request,   sad,     'Security code. Used once, never stored.'],
  ['numberType',   oneOf('PAN', 'DPAN'),           O,   request,   none,    'Whether the number is a card number or a device number.'],
])
