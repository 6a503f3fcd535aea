import { C, echoed, group, match, N, none, O, oneOf, pan, R, request, sad } from '../table.ts'
import { month, year } from './formats.ts'

const likeCard = "Read like a card's expiry, because the document gives only the lengths."

/** Token that represents a card at the acquirer. */
export const tokenAccount = group('tokenAccount', 'Token account', [
  // name         format                                             need direction class meaning
  ['number',      match('[0-9]{12,19}', '4895370012003478', 12, 19), R,   request, pan,  'Token in the form of a card number.'],
  ['type',        oneOf('EXTERNAL', 'NETWORK'),                      R,   echoed,  none, 'Issuer of the token: a card network or another party.'],
  ['expiryMonth', month,                                             O,   echoed,  none, 'Expiry month of the token, two digits.', { because: likeCard }],
  ['expiryYear',  year,                                              O,   echoed,  none, 'Expiry year of the token, four digits.', { because: likeCard }],
  ['cryptogram',  match('[A-Za-z0-9+/=]{28,32}', 'AgAAAAAABk4DWZ4C28yUQAAAAAA=', 28, 32), C,   request, sad,  'Base64 proof for the present use of the token. Used once.'],
  ['dtvc',        N(3, 4),                                           C,   request, sad,  'Dynamic security code of the token. Used once.'],
])
