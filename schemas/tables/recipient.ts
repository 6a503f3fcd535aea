import { AN, date, echoed, type Format, group, none, O, oneOf, pan, person, request } from '../table.ts'
import { phone, phoneBecause } from './formats.ts'

const countryAlpha3: Format = { kind: 'country-alpha3' }
const accountKind = oneOf(
  'OTHER', 'RTN_AND_BANK_ACCOUNT', 'IBAN', 'PHONE_NUMBER', 'BAN_AND_BIC', 'WALLET_ID',
  'SOCIAL_NETWORK_ID',
)

/** The recipient of a push payment. */
export const recipient = group('recipient', 'Recipient', [
  // name               format         need direction class   meaning
  ['givenName',         AN(48),        O,   echoed,  person, 'Given name.'],
  ['middleName',        AN(48),        O,   echoed,  person, 'Middle name.'],
  ['surname',           AN(48),        O,   echoed,  person, 'Family name.'],
  ['birthDate',         date,          O,   echoed,  person, 'Day of birth.'],
  ['phone',             phone,         O,   echoed,  person, 'Phone number.', { because: phoneBecause, reference: true }],
  ['accountNumber',     AN(32),        O,   request, pan,    'Account of the recipient.'],
  ['street',            AN(100),       O,   echoed,  person, 'Street.'],
  ['city',              AN(50),        O,   echoed,  person, 'Town or city.'],
  ['state',             AN(50),        O,   echoed,  person, 'State or region.'],
  ['country',           countryAlpha3, O,   echoed,  none,   'Country, three letters.'],
  ['postcode',          AN(30),        O,   echoed,  person, 'Postal code.'],
  ['accountNumberType', accountKind,   O,   echoed,  none,   'Kind of number in accountNumber.'],
])
