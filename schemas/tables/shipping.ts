import { AN, C, country, date, echoed, fixedAmount, group, none, O, oneOf, person, reference, under } from '../table.ts'
import { addressConditions } from './address.ts'
import { phone, phoneBecause } from './formats.ts'

const methods = oneOf(
  'CARRIER_DESIGNATED_BY_CUSTOMER', 'ELECTRONIC_DELIVERY', 'EXPEDITED', 'GROUND', 'INTERNATIONAL',
  'LOWEST_COST', 'MILITARY', 'NEXT_DAY_OVERNIGHT', 'OTHER', 'POINT_PICKUP', 'PUDO',
  'SAME_DAY_SERVICE', 'STORE_PICKUP', 'THREE_DAY_SERVICE', 'TWO_DAY_SERVICE',
)

/** Delivery address and method of the goods. */
export const shipping = group('shipping', 'Shipping address', [
  // name                  format                                                         need direction class   meaning
  ['street1',              AN(100),                                                       C,   echoed, person, 'Street with its number; only its name when houseNumber1 is sent.'],
  ['street2',              AN(100),                                                       C,   echoed, person, 'Second line of the street. Ignored when houseNumber1 is sent.'],
  ['houseNumber1',         AN(100),                                                       O,   echoed, person, 'House number.'],
  ['houseNumber2',         AN(100),                                                       O,   echoed, person, 'Addition to the house number.'],
  ['city',                 AN(80),                                                        C,   echoed, person, 'Town or city.', { because: 'As billing.city: letters alone would refuse New York and São Paulo.' }],
  ['state',                AN(50),                                                        C,   echoed, person, 'State, county or region.'],
  ['postcode',             AN(16),                                                        C,   echoed, person, 'Postal code.'],
  ['country',              country,                                                       C,   echoed, none,   'Country.'],
  ['method',               methods,                                                       C,   echoed, none,   'Delivery method of the goods.'],
  ['cost',                 fixedAmount,                                                   C,   echoed, none,   'Price of the delivery, included in the amount.'],
  ['comment',              AN(160),                                                       C,   echoed, person, 'Delivery instructions.'],
  ['expectedDate',         date,                                                          O,   echoed, none,   'Expected date of the delivery.'],
  ['logisticsProvider',    AN(255),                                                       O,   echoed, none,   'Carrier.'],
  ['trackingNumber',       AN(255),                                                       O,   echoed, none,   "The carrier's tracking number.", reference],
  ['returnTrackingNumber', AN(255),                                                       O,   echoed, none,   "The carrier's tracking number of a return.", reference],
  ['normalized',           AN(255),                                                       O,   echoed, person, 'Normalized address from an address check.'],
  ['validationStatus',     AN(255),                                                       O,   echoed, none,   'Whether the address was checked and confirmed.'],
  ['warehouse',            AN(100),                                                       O,   echoed, none,   'Warehouse of the goods.'],
  ['preference',           oneOf('GET_FROM_FILE', 'NO_SHIPPING', 'SET_PROVIDED_ADDRESS'), O,   echoed, none,   'Delivery address for a payment method to use.'],
  ['middleName',           AN(255),                                                       O,   echoed, person, 'Middle name of the recipient.', { because: 'The document gives no length.' }],
  ['companyName',          AN(60),                                                        O,   echoed, person, 'Company at that address.'],
  ['phone',                phone,                                                         O,   echoed, person, 'Phone number of the recipient.', { because: phoneBecause, reference: true }],
  ['mobile',               phone,                                                         O,   echoed, person, 'Mobile number of the recipient.', { because: phoneBecause, reference: true }],
  ['workPhone',            AN(25),                                                        O,   echoed, person, 'Work phone number of the recipient.', reference],
  ['email',                AN(6, 128),                                                    O,   echoed, person, 'E-mail address of the recipient.'],
  ['type',                 oneOf('RETURN', 'SHIPMENT'),                                   O,   echoed, none,   'Delivery to the shopper, or a return.'],
], addressConditions('shipping'))

/** Origin of the goods, on the merchant's side. */
export const merchantShipping = under(shipping, 'shipping', 'merchant.shipping', "Merchant's shipping origin", {
  need: O,
  conditions: addressConditions('merchant.shipping'),
})
