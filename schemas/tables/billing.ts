import { AN, C, country, echoed, group, none, O, person, reference, together, under } from '../table.ts'
import { addressConditions } from './address.ts'
import { phone, phoneBecause, postcode, postcodeBecause } from './formats.ts'

/** Billing address, used by 3-D Secure 2 and address verification. */
export const billing = group('billing', 'Billing address', [
  // name              format                                    need direction class   meaning
  ['street1',          AN(100),                                  C,   echoed, person, 'Street with its number; only its name when houseNumber1 is sent.'],
  ['street2',          AN(100),                                  C,   echoed, person, 'Second line of the street. Ignored when houseNumber1 is sent.'],
  ['houseNumber1',     AN(100),                                  O,   echoed, person, 'House number.'],
  ['houseNumber2',     AN(100),                                  O,   echoed, person, 'Addition to the house number.'],
  ['city',             AN(80),                                   C,   echoed, person, 'Town or city.'],
  ['state',            AN(50),                                C,   echoed, person, 'State, county or region.', { because: 'Shoppers enter names of two words, in any script.' }],
  ['postcode',         postcode,                                 C,   echoed, person, 'Postal code.', { because: postcodeBecause }],
  ['country',          country,                                  C,   echoed, none,   'Country.'],
  ['normalized',       AN(255),                                  O,   echoed, person, 'Normalized address from an address check.'],
  ['validationStatus', AN(255),                                  O,   echoed, none,   'Whether the address was checked and the shopper accepted its normalized form.'],
], addressConditions('billing'))

const contact = group('merchant.billing', 'Contact at the billing location', [
  // name         format      need direction class   meaning
  ['givenName',   AN(255),    O,   echoed, person, 'Given name of the contact.', { because: 'The document gives no length.' }],
  ['surname',     AN(255),    O,   echoed, person, 'Family name of the contact.', { because: 'The document gives no length.' }],
  ['middleName',  AN(255),    O,   echoed, person, 'Middle name of the contact.', { because: 'The document gives no length.' }],
  ['companyName', AN(60),     O,   echoed, person, 'Company at that place.'],
  ['phone',       AN(25),     O,   echoed, person, 'Phone number there.', reference],
  ['workPhone',   AN(25),     O,   echoed, person, 'Second phone number there.', reference],
  ['mobile',      phone,      O,   echoed, person, 'Mobile number of the contact.', { because: phoneBecause, reference: true }],
  ['email',       AN(6, 128), O,   echoed, person, 'E-mail address of the contact.'],
])

/** A billing location of the merchant other than the usual one. */
export const merchantBilling = together('merchant.billing', "Merchant's billing location", [
  under(billing, 'billing', 'merchant.billing', "Merchant's billing address", {
    need: O,
    conditions: addressConditions('merchant.billing'),
  }),
  contact,
])
