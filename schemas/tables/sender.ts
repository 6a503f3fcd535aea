import { AN, date, echoed, type Format, group, match, none, O, oneOf, pan, person, request } from '../table.ts'

const name = match('[A-Za-z0-9\\s]{1,50}', 'Anna Maria', 1, 50)
const countryAlpha3: Format = { kind: 'country-alpha3' }
const accountKind = oneOf('OTHER', 'RTN_AND_BANK_ACCOUNT', 'IBAN', 'IBAN_AND_BIC', 'CARD_ACCOUNT')
const funds = oneOf('01', '02', '03', '04', '05', '06', '07', '08', '09')

/** The sender of a push payment. */
export const sender = group('sender', 'Sender', [
  // name               format         need direction class   meaning
  ['name',              AN(100),       O,   echoed,  person, 'Full name.'],
  ['givenName',         name,          O,   echoed,  person, 'Given name.'],
  ['middleName',        name,          O,   echoed,  person, 'Middle name.'],
  ['surname',           name,          O,   echoed,  person, 'Family name.'],
  ['birthDate',         date,          O,   echoed,  person, 'Day of birth.'],
  ['accountNumber',     AN(32),        O,   request, pan,    'Account of the sender.'],
  ['street',            AN(100),       O,   echoed,  person, 'Street.'],
  ['city',              AN(50),        O,   echoed,  person, 'Town or city.'],
  ['state',             AN(50),        O,   echoed,  person, 'State or region.'],
  ['country',           countryAlpha3, O,   echoed,  none,   'Country, three letters.'],
  ['postcode',          AN(30),        O,   echoed,  person, 'Postal code.'],
  ['accountNumberType', accountKind,   O,   echoed,  none,   'Kind of number in accountNumber.'],
  ['sourceOfFunds',     funds,         O,   echoed,  none,   '01 credit, 02 debit, 03 prepaid, 04 cash, 05 other debit access, 06 other credit, 07 deposit, 08 mobile money, 09 other.'],
])
